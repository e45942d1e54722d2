// Makes the call of a page of the reference, on a development server: with the key of the chosen account.

"use strict";

const form = document.getElementById("try");
const PART_TYPE = "application/offset+octet-stream";
// The headers of an answer that later calls need, or that say what it is.
const SHOWN_HEADERS = ["Content-Type", "Location", "Upload-Offset", "Upload-Length", "Upload-Expires", "Retry-After"];

// A word for the shell.
function quoted(word) {
    return /^[\w=:/.@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

async function apiKey(email) {
    const body = new URLSearchParams({username: email});
    const answer = await fetch("/api/v1/dev_fetch_api_key", {method: "POST", body});
    return (await answer.json()).api_key;
}

function readsOnly(call) {
    return ["GET", "HEAD"].includes(call.method);
}

// Names and values of headers that are written one on each line.
function headerLines(text) {
    return text.split("\n").filter((line) => line.trim() !== "").map((line) => {
        const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
        if (name === undefined) {
            throw new Error(`“${line}” is not a header, which has a name, a colon and a value`);
        }
        return [name, value];
    });
}

// The headers that the person filled in, and those of the kind of call.
function addHeaders(call, email, key) {
    const {isInParts, isWebhook} = form.dataset;
    if (isWebhook !== undefined) {
        const isTyped = Object.keys(call.headers).some((name) => name.toLowerCase() === "content-type");
        Object.assign(call.headers, isTyped ? {} : {"Content-Type": "application/json"});
    } else {
        call.headers.Authorization = `Basic ${btoa(`${email}:${key}`)}`;
    }
    if (isInParts === undefined) {
        return;
    }
    call.headers["Tus-Resumable"] = "1.0.0";
    if (call.method === "POST" && !call.headers["Upload-Length"]) {
        call.headers["Upload-Length"] = String(call.file ? call.file.size : 0);
    }
    if (call.file || call.method === "PATCH") {
        call.headers["Content-Type"] = PART_TYPE;
    }
}

// A value of the path, encoded. Only the rest of a path may have several parts; browsers take "." and ".." for other paths,
// also if they are encoded.
function encodedPart(name, value, hasParts) {
    const parts = hasParts ? value.split("/") : [value];
    if (parts.some((part) => part === "." || part === "..")) {
        throw new Error(`${name} cannot be or contain "." or ".." as a part of the path`);
    }
    return parts.map(encodeURIComponent).join("/");
}

// The method, path, parameters, headers, and file or document that the form has.
function asked(email, key) {
    const {method, path, isWebhook} = form.dataset;
    const call = {method, path, pairs: [], query: [], headers: {}, file: null, isBody: false, document: null};
    for (const input of form.querySelectorAll("[data-in]")) {
        const {in: kind, name} = input.dataset;
        if (kind === "path") {
            call.path = call.path.replace(`{${name}}`, encodedPart(name, input.value, input.dataset.parts !== undefined));
        } else if (kind === "form" && input.value !== "") {
            (isWebhook === undefined && !readsOnly(call) ? call.pairs : call.query).push([name, input.value]);
        } else if (kind === "header" && input.value !== "") {
            call.headers[name] = input.value;
        } else if (kind === "headers") {
            Object.assign(call.headers, Object.fromEntries(headerLines(input.value)));
        } else if (kind === "document") {
            call.document = input.value;
        } else if (input.files && input.files.length > 0) {
            call.file = input.files[0];
            call.isBody = kind === "body";
        }
    }
    if (isWebhook !== undefined && !call.query.some(([name]) => name === "api_key")) {
        call.query.unshift(["api_key", key]);
    }
    addHeaders(call, email, key);
    return call;
}

// The address with the parameters of the query.
function address(call) {
    return call.path + (call.query.length > 0 ? `?${new URLSearchParams(call.query)}` : "");
}

function command(call, email, key) {
    const words = ["curl", ...(call.method === "HEAD" ? ["--head"] : ["-X", call.method])];
    if (call.headers.Authorization) {
        words.push("-u", `${email}:${key}`);
    }
    if (form.dataset.isInParts !== undefined && call.method !== "HEAD") {
        words.push("-i");
    }
    for (const [name, value] of Object.entries(call.headers)) {
        if (name !== "Authorization") {
            words.push("-H", `${name}: ${value}`);
        }
    }
    const flag = call.file && !call.isBody ? "-F" : "--data-urlencode";
    for (const [name, value] of call.pairs) {
        words.push(flag, `${name}=${value}`);
    }
    if (call.document !== null) {
        words.push("--data", call.document);
    } else if (call.file) {
        words.push(call.isBody ? "--data-binary" : "-F", call.isBody ? `@${call.file.name}` : `file=@${call.file.name}`);
    }
    words.push(location.origin + address(call));
    return words.map(quoted).join(" ");
}

function body(call) {
    if (readsOnly(call)) {
        return undefined;
    }
    if (call.document !== null) {
        return call.document;
    }
    if (form.dataset.isInParts !== undefined) {
        return call.file ?? undefined;
    }
    if (call.file && call.isBody) {
        return call.file;
    }
    if (!call.file) {
        return new URLSearchParams(call.pairs);
    }
    const parts = new FormData();
    for (const [name, value] of call.pairs) {
        parts.append(name, value);
    }
    parts.append("file", call.file);
    return parts;
}

function pretty(text) {
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}

// Status, headers, and the body if it is text.
async function shown(answer) {
    const lines = [String(answer.status)];
    if (answer.redirected) {
        lines.push(`after a redirect to ${answer.url}`);
    }
    for (const name of SHOWN_HEADERS) {
        if (answer.headers.has(name)) {
            lines.push(`${name}: ${answer.headers.get(name)}`);
        }
    }
    const type = answer.headers.get("Content-Type") ?? "";
    if (type === "" || /^text\/|json|xml/.test(type)) {
        lines.push("", pretty(await answer.text()));
    } else {
        lines.push("", `${(await answer.blob()).size} bytes`);
    }
    return lines.join("\n");
}

async function makeCall(event) {
    event.preventDefault();
    const email = document.getElementById("try-account").value;
    const [request, result] = ["tried-request", "tried-answer"].map((id) => document.getElementById(id));
    document.getElementById("tried").hidden = false;
    request.textContent = "";
    result.textContent = "Waiting for the answer …";
    try {
        const key = await apiKey(email);
        const call = asked(email, key);
        request.textContent = command(call, email, key);
        const answer = await fetch(address(call), {method: call.method, headers: call.headers, body: body(call)});
        result.textContent = await shown(answer);
    } catch (error) {
        result.textContent = `The call failed: ${error.message}`;
    }
}

form.addEventListener("submit", makeCall);
