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

// In links, the percent signs of encoded characters are written as dots.
function decoded(operand) {
    try {
        return decodeURIComponent(operand.replace(/\./g, "%"));
    } catch {
        return operand;
    }
}

// The words after the ids in "1-general" or "8,9-King-Hamlet".
function words(operand) {
    return operand.replace(/^[\d,]+-?/, "").replace(/-/g, " ");
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
        const name = words(found.channel);
        const channel = name ? `#${name}` : "a channel";
        if (found.topic === undefined) {
            return channel;
        }
        return `${channel} › ${found.topic || "general chat"}`;
    }
    if (found.people) {
        const names = words(found.people);
        const isNamed = names && !["dm", "pm", "group"].includes(names);
        return isNamed ? `direct messages with ${names}` : "a direct conversation";
    }
    return "messages";
}

function terminal(found) {
    if (found.channel) {
        const name = words(found.channel);
        return name && `Press q, type “${name}”, and press Enter${found.topic ? `; then t, and choose “${found.topic}”` : ""}.`;
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
    const found = conversation(location.hash);
    document.getElementById("conversation-name").textContent = title(found);
    document.getElementById("open-app").href = `zulip://${location.host}/${location.hash}`;
    document.getElementById("in-terminal").textContent = terminal(found);
    document.title = title(found);
}

addEventListener("hashchange", show);
show();
