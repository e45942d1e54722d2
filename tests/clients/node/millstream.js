"use strict";
// A Millstream development server for tests of Zulip clients and bots, with node:test or any other test runner.
//
//     const millstream = require("./millstream");
//     let server;
//     before(async () => { server = await millstream.start(); });
//     after(() => server.stop());
//     test("…", async () => { const realm = await server.newRealm(); … });
//
// The binary is the option `binary`, the environment variable MILLSTREAM, or `millstream` in the PATH. If MILLSTREAM_URL is
// set, that running development server is used instead. Needs Node 18 or newer and no packages.

const { spawn } = require("node:child_process");
const http = require("node:http");

/** Letters of standard error that the error of a server that did not start has. */
const SAID_MAX = 10_000;

/**
 * An answer that is no success: `status`, and `answer`, the error of the API. An answer in another form, such as a page of a
 * proxy, is an `answer` with its text as `msg` and without `code`.
 */
class MillstreamError extends Error {
    constructor(answer, status) {
        super(`${status}: ${answer.code}: ${answer.msg}`);
        this.answer = answer;
        this.status = status;
    }
}

function parsed(text) {
    try {
        const answer = JSON.parse(text);
        if (answer instanceof Object) return answer;
    } catch {
        // Not JSON.
    }
    return { msg: text };
}

/** An account of an organization, with its API key. */
class User {
    constructor(realm, { email, api_key, user_id, full_name }) {
        Object.assign(this, { realm, email, apiKey: api_key, userId: user_id, fullName: full_name });
    }

    /** Calls an endpoint below /api/v1. Values that are not texts are sent as JSON. */
    call(method, path, parameters = {}) {
        return this.realm.call(method, `/api/v1${path}`, parameters, this);
    }

    /** Sends a message to a channel and returns its id. */
    async send(channel, topic, content) {
        return (await this.call("POST", "/messages", { type: "channel", to: channel, topic, content })).id;
    }

    /** Sends a direct message to people, or their addresses, and returns its id. */
    async sendDirect(people, content) {
        const to = people.map((person) => (person instanceof User ? person.email : person));
        return (await this.call("POST", "/messages", { type: "direct", to, content })).id;
    }

    /** The newest messages of a narrow, the oldest first, in Markdown. */
    async messages(narrow = [], limit = 100) {
        const window = { anchor: "newest", num_before: limit, num_after: 0, apply_markdown: false };
        return (await this.call("GET", "/messages", { narrow, ...window })).messages;
    }

    /**
     * The text of a zuliprc file, for libraries that read one. Its `site` is the URL of the organization, whose name such as
     * test-1.localhost must resolve. That of `server.root`, the organization at the server's own address, is that address if
     * `start` started the server.
     */
    zuliprc() {
        return `[api]\nemail=${this.email}\nkey=${this.apiKey}\nsite=${this.realm.url}\n`;
    }
}

/** An organization, and the tools of the development server for it. */
class Realm {
    constructor(server, url, users) {
        this.server = server;
        this.url = url;
        this.host = new URL(url).host;
        this.users = new Map(users.map((user) => [user.email, new User(this, user)]));
    }

    /** An account by its address, or by the part before the @ where that is clear. */
    user(name) {
        const isNamed = (email) => email.split("@")[0].toLowerCase() === name.toLowerCase();
        const found = [...this.users.keys()].filter((email) => email === name || isNamed(email));
        if (found.length !== 1) throw new Error(`${found.length} accounts are named ${name}`);
        return this.users.get(found[0]);
    }

    call(method, path, parameters, login) {
        return this.server.call(method, path, parameters, login, this.host);
    }

    /** Brings the content of the beginning back. Event queues end; ids and keys stay. */
    reset() {
        return this.call("POST", "/dev/reset");
    }

    /** Lets calls fail (docs/dev-server.md#faults). Returns the id of the fault. */
    async fault(path, kind, more = {}) {
        return (await this.call("POST", "/dev/faults", { path, kind, ...more })).id;
    }

    /** Removes all faults. */
    async clearFaults() {
        await this.call("DELETE", "/dev/faults");
    }

    /** Ends all event queues, or the one with `queue_id`, and returns their number. */
    async expireQueues(which = {}) {
        return (await this.call("POST", "/dev/queues/expire", which)).expired;
    }

    /** The calls that the server has answered. */
    async requests(after = 0) {
        return (await this.call("GET", "/dev/requests", { after })).requests;
    }

    /** The mails that the server has sent for this organization, the newest first. */
    async mails() {
        return (await this.call("GET", "/emails.json")).emails;
    }

    /** The newest mail to an address, as soon as there is one: mails are sent in the background. */
    async waitForMail(to, secs = 10) {
        for (const end = Date.now() + secs * 1000; ; ) {
            const found = (await this.mails()).find((mail) => mail.to === to);
            if (found) return found;
            if (Date.now() > end) throw new Error(`no mail to ${to} within ${secs} s`);
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
    }
}

/** A running development server. */
class Server {
    constructor(url, users, process) {
        const { hostname, port } = new URL(url);
        // Brackets are part of URLs with an IPv6 address, but not of the address.
        Object.assign(this, { url, process, hostname: hostname.replace(/^\[|\]$/g, ""), port });
        this.root = new Realm(this, url, users);
    }

    /** Calls the server. The connection goes to its address, whatever the host is. */
    call(method, path, parameters = {}, login = undefined, host = this.root.host) {
        const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
        const pairs = Object.entries(parameters).map(([name, value]) => [name, text(value)]);
        const encoded = new URLSearchParams(pairs).toString();
        const headers = { Host: host };
        if (login) headers.Authorization = `Basic ${Buffer.from(`${login.email}:${login.apiKey}`).toString("base64")}`;
        if (method !== "GET") headers["Content-Type"] = "application/x-www-form-urlencoded";
        const target = method === "GET" && encoded ? `${path}?${encoded}` : path;
        const options = { host: this.hostname, port: this.port, method, path: target, headers, agent: false };
        return new Promise((resolve, reject) => {
            const request = http.request(options, (response) => {
                const parts = [];
                response.on("error", reject);
                response.on("data", (part) => parts.push(part));
                response.on("end", () => {
                    const answer = parsed(Buffer.concat(parts).toString());
                    if (answer.result === "success") resolve(answer);
                    else reject(new MillstreamError(answer, response.statusCode));
                });
            });
            request.on("error", reject);
            request.end(method === "GET" ? undefined : encoded);
        });
    }

    /** Creates an organization; `seed` is the text of a seed file. */
    async newRealm(seed = undefined) {
        const made = await this.call("POST", "/dev/realms", seed ? { seed } : {});
        return new Realm(this, made.url, made.users);
    }

    /** Lets time pass at once, for all organizations. */
    async advanceClock(secs) {
        return (await this.call("POST", "/dev/clock", { advance_secs: secs })).time;
    }

    /** Sets the date, in seconds since 1970, for all organizations. No time passes. */
    async setClock(time) {
        return (await this.call("POST", "/dev/clock", { time })).time;
    }

    /** Shows the real date again. */
    async restoreClock() {
        return (await this.call("POST", "/dev/clock", { real: true })).time;
    }

    /** Stops the server. Its data is deleted. */
    stop() {
        const { process: child } = this;
        if (!child || child.exitCode !== null) return Promise.resolve();
        return new Promise((resolve) => {
            child.once("exit", resolve);
            child.kill("SIGTERM");
        });
    }
}

function checkUrl(url) {
    let protocol;
    try {
        ({ protocol } = new URL(url));
    } catch {
        // No URL.
    }
    if (protocol !== "http:") throw new Error(`MILLSTREAM_URL must be a URL such as http://127.0.0.1:9991, not ${url}`);
}

/** The organization that a running server begins with. */
async function rootOf(server) {
    try {
        return await server.newRealm();
    } catch (error) {
        const place = `${server.url} (MILLSTREAM_URL)`;
        if (error instanceof MillstreamError) {
            const text = `what answers at ${place} is no development server, which \`millstream dev\` starts: ${error.message}`;
            throw new Error(text, { cause: error });
        }
        throw new Error(`no development server answers at ${place}: ${error.message || error.code}`, { cause: error });
    }
}

function checkOptions({ args = [], binary: _binary, seed: _seed, ...unknown }) {
    const names = Object.keys(unknown);
    if (names.length > 0) throw new Error(`start has no option ${names.join(", ")}; it has binary, seed and args`);
    const isList = Array.isArray(args) && args.every((arg) => typeof arg === "string");
    if (!isList) throw new Error('args must be a list of texts, such as ["--rate-limits"]');
}

/** Starts a server; `seed` is the path of a seed file, `args` are more arguments of `millstream dev`, such as --rate-limits. */
async function start(options = {}) {
    checkOptions(options);
    const { binary = process.env.MILLSTREAM || "millstream", seed, args = [] } = options;
    const running = process.env.MILLSTREAM_URL;
    if (running) {
        checkUrl(running);
        const server = new Server(running.replace(/\/$/, ""), [], undefined);
        server.root = await rootOf(server);
        return server;
    }
    const more = [...(seed ? ["--seed", seed] : []), ...args];
    const child = spawn(binary, ["dev", "--listen", "127.0.0.1:0", "--output", "json", ...more], {
        stdio: ["ignore", "pipe", "pipe"],
    });
    process.once("exit", () => child.kill("SIGKILL"));
    const facts = await new Promise((resolve, reject) => {
        let [text, said] = ["", ""];
        child.stderr.on("data", (part) => {
            said = (said + part).slice(-SAID_MAX);
            process.stderr.write(part);
        });
        child.once("error", (error) =>
            reject(
                error.code === "ENOENT"
                    ? new Error(`${binary} was not found: put millstream in the PATH, or set MILLSTREAM or the option binary`)
                    : error,
            ),
        );
        // Once all that it said has been read.
        child.once("close", (code) => reject(new Error(`millstream did not start (exit code ${code}): ${said.trim()}`)));
        child.stdout.on("data", (part) => {
            text += part;
            if (text.includes("\n")) resolve(JSON.parse(text.slice(0, text.indexOf("\n"))));
        });
    });
    return new Server(facts.url, facts.users, child);
}

module.exports = { start, Server, Realm, User, MillstreamError };
