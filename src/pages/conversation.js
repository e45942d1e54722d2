// Names the conversation of a link such as /#narrow/channel/1-general/topic/lunch, and offers to open it in an app.
// Where a person logs in first, the link is kept, so that it is opened after that. The part after the # is not sent to the server,
// so only the browser knows it.

"use strict";

const NAMED = {
    channel: "channel",
    stream: "channel",
    topic: "topic",
    subject: "topic",
    dm: "people",
    "pm-with": "people",
    near: "message",
    with: "message",
    id: "message",
};

// Other people of a conversation whose names are shown.
const PEOPLE_MAX = 10;

// In links, the percent signs of encoded characters are written as dots.
function decoded(operand) {
    try {
        return decodeURIComponent(operand.replace(/\./g, "%"));
    } catch {
        return operand;
    }
}

// What follows the ids in "1-general" or "8,9-King-Hamlet".
function withoutIds(operand) {
    return operand.replace(/^[\d,]+-?/, "");
}

// What the server answers to a person who is logged in.
async function answerOf(section, path) {
    if (section.dataset.userId === undefined) {
        return undefined;
    }
    try {
        const answer = await fetch(path);
        return answer.ok ? await answer.json() : undefined;
    } catch {
        return undefined;
    }
}

// The name of a channel, if the person may see it. In a link, hyphens may stand for spaces.
async function channelName(section, channel) {
    const id = /^\d+/.exec(channel ?? "");
    return id ? (await answerOf(section, `/json/streams/${id[0]}`))?.stream.name : undefined;
}

// The names of the other people of a direct conversation, if the person may see them all.
async function peopleNames(section, people) {
    const ids = new Set(/^[\d,]*/.exec(people ?? "")[0].split(",").filter((id) => id !== ""));
    const others = [...ids].filter((id) => id !== section.dataset.userId);
    const asked = others.length > 0 ? others : [...ids];
    if (asked.length === 0 || asked.length > PEOPLE_MAX) {
        return undefined;
    }
    const answer = await answerOf(section, `/json/users?user_ids=${encodeURIComponent(`[${asked}]`)}`);
    const names = (answer?.members ?? []).map((member) => member.full_name);
    return names.length === asked.length ? names.join(", ") : undefined;
}

function conversation(hash) {
    const found = {};
    const pieces = hash.replace(/^#narrow\/?/, "").split("/");
    for (let at = 0; at + 1 < pieces.length; at += 2) {
        const kind = NAMED[pieces[at].replace(/^-/, "")];
        if (kind) {
            found[kind] = decoded(pieces[at + 1]);
        }
    }
    return found;
}

function title(found) {
    if (found.channel) {
        const name = found.name ?? withoutIds(found.channel);
        const channel = name ? `#${name}` : "a channel";
        if (found.topic === undefined) {
            return channel;
        }
        return `${channel} › ${found.topic || "general chat"}`;
    }
    if (found.people) {
        if (found.names !== undefined) {
            return `direct messages with ${found.names}`;
        }
        const names = withoutIds(found.people).replaceAll("-", " ");
        const isNamed = names && !["dm", "pm", "group"].includes(names);
        return isNamed ? `direct messages with ${names}` : "a direct conversation";
    }
    return "messages";
}

function terminal(found) {
    if (found.channel) {
        const typed = found.name === undefined ? "the name of the channel" : `“${found.name}”`;
        return `Press q, type ${typed}, and press Enter${found.topic ? `; then t, and choose “${found.topic}”` : ""}.`;
    }
    return found.people ? "Press P for direct messages." : "";
}

// Adds the link to the page to go to after the login, and to the links that lead to the login.
function keep() {
    for (const field of document.querySelectorAll('input[name="next"]')) {
        field.value = field.value.split("#")[0] + location.hash;
    }
    for (const link of document.querySelectorAll("a.to-login")) {
        link.hash = location.hash;
    }
}

function describe(found) {
    document.getElementById("conversation-name").textContent = title(found);
    document.getElementById("in-terminal").textContent = terminal(found);
    document.title = title(found);
}

function show() {
    const section = document.getElementById("conversation");
    const isLink = location.hash.startsWith("#narrow");
    if (isLink) {
        keep();
    }
    if (!section) {
        return;
    }
    section.hidden = !isLink;
    if (!isLink) {
        return;
    }
    const {hash} = location;
    const found = conversation(hash);
    document.getElementById("open-app").href = `zulip://${location.host}/${hash}`;
    describe(found);
    const asked = [channelName(section, found.channel), peopleNames(section, found.people)];
    Promise.all(asked).then(([name, names]) => {
        if (location.hash === hash) {
            describe({...found, name, names});
        }
    });
}

addEventListener("hashchange", show);
show();
