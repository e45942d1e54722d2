"use strict";
// What a project that tests a client or bot writes with the helper: node --test

const assert = require("node:assert");
const { after, before, test } = require("node:test");
const millstream = require("./millstream");

let server;
before(async () => {
    server = await millstream.start();
});
after(() => server.stop());

test("a message is received", async () => {
    const realm = await server.newRealm();
    const sent = await realm.user("hamlet").send("Verona", "lunch", "Who is **hungry**?");
    const narrow = [["channel", "Verona"], ["topic", "lunch"]];
    const received = await realm.user("iago").messages(narrow);
    assert.deepStrictEqual(received.map((message) => message.id), [sent]);
});

test("a direct message is received", async () => {
    const realm = await server.newRealm();
    const [hamlet, iago] = [realm.user("hamlet"), realm.user("iago")];
    const sent = await hamlet.sendDirect([iago], "To be?");
    const received = await iago.messages([["dm", "hamlet@zulip.com"]]);
    assert.strictEqual(received[received.length - 1].id, sent);
});

test("reset brings the content of the beginning back", async () => {
    const realm = await server.newRealm();
    const hamlet = realm.user("hamlet");
    const before = (await hamlet.messages([["channel", "Verona"]], 1000)).length;
    await hamlet.send("Verona", "lunch", "Me!");
    await realm.reset();
    assert.strictEqual((await hamlet.messages([["channel", "Verona"]], 1000)).length, before);
});

test("faults and ended queues", async () => {
    const realm = await server.newRealm();
    const hamlet = realm.user("hamlet");
    await realm.fault("*/users/me", "rate_limit", { retry_after: 3 });
    await assert.rejects(hamlet.call("GET", "/users/me"), { status: 429 });
    await hamlet.call("GET", "/users/me");
    await realm.fault("*/users/me", "error");
    await realm.clearFaults();
    await hamlet.call("GET", "/users/me");
    const { queue_id } = await hamlet.call("POST", "/register", { event_types: ["message"] });
    assert.strictEqual(await realm.expireQueues(), 1);
    const poll = hamlet.call("GET", "/events", { queue_id, last_event_id: -1 });
    await assert.rejects(poll, (error) => error.answer.code === "BAD_EVENT_QUEUE_ID");
    assert.strictEqual((await realm.requests())[0].path, "/api/v1/users/me");
});

test("a server that does not start, and options that there are not", async () => {
    await assert.rejects(millstream.start({ args: "--rate-limits" }), /args must be a list of texts/);
    await assert.rejects(millstream.start({ argz: [] }), /start has no option argz/);
    if (process.env.MILLSTREAM_URL) return;
    await assert.rejects(millstream.start({ seed: "nope.toml" }), /did not start \(exit code 1\): .*nope\.toml/s);
});

test("mails of an organization", async () => {
    const [realm, other] = [await server.newRealm(), await server.newRealm()];
    await realm.user("iago").call("POST", "/invites", { invitee_emails: "new@zulip.com", stream_ids: [] });
    assert.match((await realm.waitForMail("new@zulip.com")).text, /\/join\//);
    assert.deepStrictEqual(await other.mails(), []);
    await realm.reset();
    assert.deepStrictEqual(await realm.mails(), []);
});

test("a page of a proxy", async () => {
    const realm = await server.newRealm();
    await realm.fault("*/users/me", "error", { status: 502 });
    const isPage = (error) => error.status === 502 && error.answer.msg.startsWith("<html>");
    await assert.rejects(realm.user("hamlet").call("GET", "/users/me"), isPage);
});

test("an organization of its own content, and the clock", async () => {
    const seed = {
        name: "Acme",
        email_domain: "acme.example",
        creator: "olga@acme.example",
        users: [{ email: "olga@acme.example", full_name: "Olga", role: "owner" }],
        channels: [{ name: "plans", subscribers: "everyone" }],
    };
    const acme = await server.newRealm(JSON.stringify(seed));
    assert.strictEqual(await acme.user("olga").send("plans", "launch", "Soon"), 1);
    const { time } = await server.call("GET", "/dev/clock");
    assert.ok((await server.advanceClock(3600)) >= time + 3600);
    assert.ok((await server.setClock(1600000000)) < time);
    assert.ok((await server.restoreClock()) >= time);
});
