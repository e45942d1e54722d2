// The unmodified `zulip-js` package from npm: every resource of the library.
//
//     node check.js URL        (where `zulip-js` can be found, as with NODE_PATH)
//
// Prints what failed and then `N passed, N failed`.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const zulip = require("zulip-js");

const url = process.argv[2];

async function keyOf(email) {
  const body = new URLSearchParams({ username: email });
  const answer = await (await fetch(`${url}/api/v1/dev_fetch_api_key`, { method: "POST", body })).json();
  assert.equal(answer.result, "success");
  return answer.api_key;
}

async function clientOf(email) {
  return zulip({ realm: url, username: email, apiKey: await keyOf(email) });
}

function ok(answer) {
  assert.equal(answer.result, "success", JSON.stringify(answer));
  return answer;
}

/** The ignored parameters of an answer: the library repeats the parameters of paths in the query. */
function ignored(answer) {
  return answer.ignored_parameters_unsupported ?? [];
}

let hamlet;
let iago;

async function send(content, more = {}) {
  return ok(await iago.messages.send({ type: "stream", to: "Verona", subject: "js", content, ...more })).id;
}

const checks = {
  async "a zuliprc is read, and a password is exchanged for a key"() {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "zulip-js-")), "zuliprc");
    fs.writeFileSync(file, `[api]\nemail=iago@zulip.com\nkey=${await keyOf("iago@zulip.com")}\nsite=${url}\n`);
    const fromFile = await zulip({ zuliprc: file });
    fs.rmSync(path.dirname(file), { recursive: true });
    assert.equal(ok(await fromFile.users.me.getProfile()).full_name, "Iago");
    const withPassword = await zulip({ realm: url, username: "iago@zulip.com", password: "iago@zulip.com" });
    assert.equal(ok(await withPassword.users.me.getProfile()).full_name, "Iago");
    const wrong = await zulip({ realm: url, username: "iago@zulip.com", password: "wrong" });
    assert.equal((await wrong.users.me.getProfile()).result, "error");
  },

  async "server settings, users, emoji, filters and alert words"() {
    assert.equal(ok(await iago.server.settings()).realm_name, "Zulip Dev");
    const names = ok(await iago.users.retrieve()).members.map((member) => member.full_name);
    assert(names.includes("King Hamlet"));
    const withFields = ok(await iago.users.retrieve({ include_custom_profile_fields: true })).members;
    const values = withFields.find((member) => member.full_name === "King Hamlet").profile_data;
    assert.equal(Object.keys(values).length, 8);
    assert.equal(ok(await iago.emojis.retrieve()).emoji["1"].name, "green_tick");
    assert.deepEqual(ok(await iago.users.me.alertWords.retrieve()).alert_words, []);
    // Both are long gone from the API; the reference answers the same.
    assert.equal((await iago.filters.retrieve()).result, "error");
    assert.equal((await iago.users.me.pointer.retrieve()).result, "error");
  },

  async "accounts are created by those who may"() {
    const owner = await clientOf("desdemona@zulip.com");
    const account = { email: "js@zulip.com", password: "a good password", full_name: "J. S.", short_name: "js" };
    ok(await owner.users.create(account));
    const refused = await hamlet.users.create({ ...account, email: "js2@zulip.com" });
    assert.equal(refused.result, "error");
    const made = await zulip({ realm: url, username: "js@zulip.com", password: "a good password" });
    assert.equal(ok(await made.users.me.getProfile()).full_name, "J. S.");
  },

  async "channels, topics and subscriptions"() {
    const added = ok(await iago.users.me.subscriptions.add({ subscriptions: JSON.stringify([{ name: "js club" }]) }));
    assert.deepEqual(Object.values(added.subscribed), [["js club"]]);
    const names = ok(await iago.streams.retrieve()).streams.map((stream) => stream.name);
    assert(names.includes("js club") && names.includes("town square"));
    const { stream_id } = ok(await iago.streams.getStreamId("js club"));
    await send("hello", { to: "js club", subject: "first" });
    assert.equal(ok(await iago.streams.topics.retrieve({ stream_id })).topics.at(0).name, "first");
    const subscribed = ok(await iago.streams.subscriptions.retrieve()).subscriptions;
    assert(subscribed.some((subscription) => subscription.stream_id === stream_id));
    const removed = ok(
      await iago.users.me.subscriptions.remove({ subscriptions: JSON.stringify(["js club"]) }),
    );
    assert.deepEqual(removed.removed, ["js club"]);
    const archived = ok(await iago.streams.deleteById({ stream_id }));
    assert.deepEqual(ignored(archived), ["stream_id"]);
    const left = ok(await iago.streams.retrieve()).streams.map((stream) => stream.name);
    assert(!left.includes("js club"));
  },

  async "messages are sent, fetched, rendered, edited and deleted"() {
    const id = await send("hello *world*");
    const narrow = [{ operator: "channel", operand: "Verona" }, { operator: "topic", operand: "js" }];
    const found = ok(await hamlet.messages.retrieve({ anchor: "newest", num_before: 3, num_after: 0, narrow }));
    const newest = found.messages.at(-1);
    assert.equal(newest.id, id);
    assert.equal(newest.content, "<p>hello <em>world</em></p>");
    assert.equal(ok(await iago.messages.render("**bold**")).rendered, "<p><strong>bold</strong></p>");
    ok(await iago.messages.update({ message_id: id, content: "hello *everyone*" }));
    const one = ok(await hamlet.messages.getById({ message_id: id }));
    assert.equal(one.raw_content, "hello *everyone*");
    const history = ok(await hamlet.messages.getHistoryById({ message_id: id })).message_history;
    assert.deepEqual(history.map((step) => step.content), ["hello *world*", "hello *everyone*"]);
    ok(await iago.messages.deleteById({ message_id: id }));
    assert.equal((await hamlet.messages.getById({ message_id: id })).code, "BAD_REQUEST");
  },

  async "direct messages, with a list of ids as text"() {
    const { user_id } = ok(await hamlet.users.me.getProfile());
    const id = await send("psst", { type: "private", to: JSON.stringify([user_id]), subject: undefined });
    assert.equal(ok(await hamlet.messages.getById({ message_id: id })).message.display_recipient.length, 2);
    ok(await iago.typing.send({ op: "start", to: [user_id, 11] }));
  },

  async "reactions and flags"() {
    const message_id = await send("react to this");
    ok(await hamlet.reactions.add({ message_id, emoji_name: "tada" }));
    ok(await hamlet.reactions.add({ message_id, emoji_name: "green_tick" }));
    const both = ok(await iago.messages.getById({ message_id })).message.reactions;
    assert.deepEqual(both.map((reaction) => reaction.reaction_type), ["unicode_emoji", "realm_emoji"]);
    ok(await hamlet.reactions.remove({ message_id, emoji_name: "tada" }));
    const custom = { message_id, emoji_name: "green_tick", reaction_type: "realm_emoji" };
    const removed = ok(await hamlet.messages.deleteReactionById(custom));
    assert.deepEqual(ignored(removed), ["message_id"]);
    assert.deepEqual(ok(await iago.messages.getById({ message_id })).message.reactions, []);
    ok(await hamlet.messages.flags.add({ messages: [message_id], flag: "starred" }));
    assert(ok(await hamlet.messages.getById({ message_id })).message.flags.includes("starred"));
    ok(await hamlet.messages.flags.remove({ messages: [message_id], flag: "starred" }));
    assert(!ok(await hamlet.messages.getById({ message_id })).message.flags.includes("starred"));
  },

  async "a queue is registered without parameters, polled and ended"() {
    // An empty form with several parts.
    const all = ok(await hamlet.queues.register({}));
    assert(all.realm_users.length > 9 && all.queue_id);
    ok(await hamlet.queues.deregister({ queue_id: all.queue_id }));
    const { queue_id, last_event_id } = ok(await hamlet.queues.register({ event_types: ["message"] }));
    const id = await send("an event");
    const { events } = ok(await hamlet.events.retrieve({ queue_id, last_event_id }));
    assert.deepEqual(events.map((event) => event.message.id), [id]);
    const nothing = ok(
      await hamlet.events.retrieve({ queue_id, last_event_id: events[0].id, dont_block: true }),
    );
    assert.deepEqual(nothing.events, []);
    ok(await hamlet.queues.deregister({ queue_id }));
    const ended = await hamlet.events.retrieve({ queue_id, last_event_id });
    assert.equal(ended.code, "BAD_EVENT_QUEUE_ID");
  },

  async "callOnEachEvent receives every message in order"() {
    const received = [];
    const listening = hamlet.callOnEachEvent(
      (event) => {
        received.push(event.message.content);
      },
      ["message"],
    );
    listening.catch(() => {});
    // The library does not say when it has registered: the first message is repeated until it is received.
    while (received.length === 0) {
      await send("ready");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const sent = [];
    for (let number = 0; number < 20; number += 1) {
      sent.push(`number ${number}`);
      await send(sent.at(-1));
    }
    while (received.filter((content) => content !== "ready").length < sent.length) await new Promise((resolve) => setTimeout(resolve, 20));
    // The library registers without apply_markdown, so it gets the source.
    assert.deepEqual(received.filter((content) => content !== "ready"), sent);
  },

  async "errors are answers with their code"() {
    const missing = await iago.messages.send({ type: "stream", to: "Nowhere", subject: "x", content: "x" });
    assert.equal(missing.code, "STREAM_DOES_NOT_EXIST");
    const stranger = await zulip({ realm: url, username: "iago@zulip.com", apiKey: "x".repeat(32) });
    assert.equal((await stranger.users.me.getProfile()).result, "error");
  },
};

async function main() {
  [hamlet, iago] = [await clientOf("hamlet@zulip.com"), await clientOf("iago@zulip.com")];
  let passed = 0;
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    const late = new Promise((_, reject) =>
      setTimeout(() => reject(new Error("it takes more than a minute")), 60_000).unref(),
    );
    try {
      await Promise.race([check(), late]);
      passed += 1;
    } catch (error) {
      failed += 1;
      console.log(`--- ${name}\n${error.stack}`);
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  // A listening client would keep the process alive.
  process.exit(failed || !passed ? 1 : 0);
}

main();
