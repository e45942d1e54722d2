// Names what a link such as /#narrow/channel/1-general/topic/lunch or /#settings leads to, and offers to open conversations in an app.
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

// What the page is called without a link.
const OWN_TITLE = document.title;

// The words for messages that a search is for: where a term holds, and where it is negated.
const IS = {
    starred: ["that are starred", "that are not starred"],
    mentioned: ["that mention you", "that do not mention you"],
    dm: ["that are direct", "that are not direct"],
    private: ["that are direct", "that are not direct"],
    unread: ["that are unread", "that are read"],
    alerted: ["with alert words", "without alert words"],
    resolved: ["in resolved topics", "in unresolved topics"],
    followed: ["in followed topics", "in topics that are not followed"],
    muted: ["in muted topics", "in topics that are not muted"],
};
const HAS = {
    link: "links",
    image: "images",
    attachment: "files",
    reaction: "reactions",
};

// Views of the web app, by the first part of their links.
const VIEWS = {
    settings: "your settings",
    organization: "the settings of the organization",
    inbox: "the inbox",
    recent: "recent conversations",
    recent_topics: "recent conversations",
    feed: "all messages",
    all_messages: "all messages",
    drafts: "your drafts",
    scheduled: "your scheduled messages",
    reminders: "your reminders",
    channels: "the channels",
    streams: "the channels",
    groups: "the user groups",
    invite: "invitations",
    user: "the profile of a user",
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

// What a table has for a word of a link, which may be the name of any property.
function own(table, word) {
    return Object.hasOwn(table, word) ? table[word] : undefined;
}

// The words for one term of a search; none for one that is unknown.
function termWords(operator, operand) {
    const isNegated = operator.startsWith("-");
    const thing = own(HAS, operand.replace(/s$/, ""));
    const choose = (holds, negated) => (isNegated ? negated : holds);
    switch (operator.replace(/^-/, "")) {
        case "is":
            return choose(...(own(IS, operand) ?? []));
        case "has":
            return thing && choose("with ", "without ") + thing;
        case "search":
            return `${choose("with", "without")} “${operand}”`;
        case "channels":
        case "streams":
            return choose("in public channels", "in channels that are not public");
        case "sender":
        case "from":
            return choose("by", "not by") + (withoutIds(operand) ? ` ${withoutIds(operand).replaceAll("-", " ")}` : " one person");
        case "dm-including":
        case "pm-including":
            return "in direct conversations with one person";
        default:
            return undefined;
    }
}

function conversation(hash) {
    const found = {terms: []};
    const pieces = hash.replace(/^#narrow\/?/, "").split("/");
    for (let at = 0; at + 1 < pieces.length; at += 2) {
        const operand = decoded(pieces[at + 1]);
        const kind = pieces[at].startsWith("-") ? undefined : own(NAMED, pieces[at]);
        if (kind) {
            found[kind] = operand;
        } else {
            found.terms.push(...[termWords(pieces[at], operand)].filter(Boolean));
        }
    }
    return found;
}

// What a link to a view of the web app has: #channels/3/general and #user/10 are about one of these.
function view(hash) {
    const [name, id] = hash.slice(1).split("/");
    if (own(VIEWS, name) === undefined) {
        return undefined;
    }
    const isId = /^\d+$/.test(id ?? "");
    const isOfChannel = isId && (name === "channels" || name === "streams");
    const isOfUser = isId && name === "user";
    return {view: name, channel: isOfChannel ? id : undefined, people: isOfUser ? id : undefined};
}

function title(found) {
    if (found.view !== undefined) {
        return viewTitle(found);
    }
    const terms = found.terms.join(" and ");
    const place = placeTitle(found);
    if (place === undefined) {
        const isOfOne = found.message !== undefined && /^\d+$/.test(found.message);
        const messages = isOfOne && !terms ? `message ${found.message}` : "messages";
        return terms ? `${messages} ${terms}` : messages;
    }
    return terms ? `messages ${terms} in ${place}` : place;
}

function viewTitle(found) {
    if (found.channel) {
        return found.name === undefined ? "the settings of a channel" : `the settings of #${found.name}`;
    }
    return found.people && found.names ? `the profile of ${found.names}` : VIEWS[found.view];
}

// The conversation, if the link is to one.
function placeTitle(found) {
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
    return undefined;
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
    document.getElementById("conversation-apps").hidden = found.view !== undefined;
    document.getElementById("conversation-view").hidden = found.view === undefined;
    document.getElementById("in-terminal").textContent = found.view === undefined ? terminal(found) : "";
    document.title = title(found);
}

function show() {
    const section = document.getElementById("conversation");
    const {hash} = location;
    const found = hash.startsWith("#narrow") ? conversation(hash) : view(hash);
    const isLink = found !== undefined;
    if (isLink) {
        keep();
    }
    if (!section) {
        return;
    }
    section.hidden = !isLink;
    if (!isLink) {
        document.title = OWN_TITLE;
        return;
    }
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
