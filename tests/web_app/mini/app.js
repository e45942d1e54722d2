// A miniature of the web app: reads the page, shows what it knows, sends, and receives events.
"use strict";

const params = JSON.parse(document.querySelector("#page-params").dataset.params);
let state = params.state_data;
mini.params = params;
mini.token = document.querySelector("#logout_form input[name=csrfmiddlewaretoken]").value;

function show(id, text) {
    const line = document.createElement("p");
    line.textContent = text;
    document.querySelector(id).append(line);
    return line;
}

function receive(event) {
    if (event.type === "message") {
        mini.texts.push(event.message.content);
        show("#message-lists-container", event.message.content).className = "message";
        document.title = `(${mini.texts.length}) ${state.realm_name}`;
    }
}

async function poll() {
    let last = state.last_event_id;
    for (;;) {
        try {
            const fields = {queue_id: state.queue_id, last_event_id: last};
            const answer = await mini.call("GET", "/json/events", fields);
            mini.polled = answer.status;
            if (answer.status === 401) {
                location.href = params.login_page;
                return;
            }
            for (const event of answer.body.events) {
                last = Math.max(last, event.id);
                receive(event);
            }
        } catch {
            // The server restarts.
            await new Promise((resolve) => setTimeout(resolve, 200));
        }
    }
}

function start() {
    const me = state.realm_users.find((user) => user.user_id === state.user_id);
    show("#left-sidebar-container", me.full_name);
    show("#header-container", state.realm_name);
    document.querySelector("#app-loading").remove();
    const field = document.createElement("input");
    field.id = "compose-text";
    document.querySelector("#compose-container").append(field);
    field.addEventListener("keydown", async (event) => {
        if (event.key === "Enter") {
            const fields = {type: "stream", to: "Verona", topic: "mini", content: field.value};
            mini.sent = await mini.call("POST", "/json/messages", {...fields, queue_id: state.queue_id, local_id: "1.01"});
        }
    });
    mini.ready = true;
    void poll();
}

// A visitor without an account: the state is asked for, and no events come.
async function visit() {
    const answer = await mini.call("POST", "/json/register", {apply_markdown: true});
    state = answer.body;
    mini.state = state;
    show("#header-container", state.realm_name);
    state.subscriptions.forEach((channel) => show("#left-sidebar-container", channel.name));
    const narrow = JSON.stringify([{operator: "channels", operand: "web-public"}]);
    const fields = {anchor: "newest", num_before: 10, num_after: 0, narrow};
    const found = await mini.call("GET", "/json/messages", fields);
    found.body.messages.forEach((message) => show("#message-lists-container", message.content));
    document.querySelector("#app-loading").remove();
    mini.ready = true;
}

if (params.is_spectator) {
    void visit();
} else {
    start();
}
