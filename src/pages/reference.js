// Makes the call of a page of the reference, on a development server: with the key of the chosen account.

"use strict";

const form = document.getElementById("try");

// A word for the shell.
function quoted(word) {
    return /^[\w=:/.@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

async function apiKey(email) {
    const body = new URLSearchParams({username: email});
    const answer = await fetch("/api/v1/dev_fetch_api_key", {method: "POST", body});
    return (await answer.json()).api_key;
}

// The method, path, parameters and file that the form has.
function asked() {
    const found = {method: form.dataset.method, path: form.dataset.path, pairs: [], file: null, isBody: false};
    for (const input of form.querySelectorAll("[data-in]")) {
        const kind = input.dataset.in;
        if (kind === "path") {
            found.path = found.path.replace(`{${input.dataset.name}}`, encodeURIComponent(input.value));
        } else if (kind === "form" && input.value !== "") {
            found.pairs.push([input.dataset.name, input.value]);
        } else if (input.files && input.files.length > 0) {
            found.file = input.files[0];
            found.isBody = kind === "body";
        }
    }
    return found;
}

function command(call, email, key) {
    const inQuery = ["GET", "HEAD"].includes(call.method);
    const words = ["curl", "-X", call.method, "-u", `${email}:${key}`];
    if (inQuery && call.pairs.length > 0) {
        words.push("--get");
    }
    const flag = call.file && !call.isBody ? "-F" : "--data-urlencode";
    for (const [name, value] of call.pairs) {
        words.push(flag, `${name}=${value}`);
    }
    if (call.file) {
        words.push(call.isBody ? "--data-binary" : "-F", call.isBody ? `@${call.file.name}` : `file=@${call.file.name}`);
    }
    words.push(location.origin + call.path);
    return words.map(quoted).join(" ");
}

async function send(call, email, key) {
    const headers = {Authorization: `Basic ${btoa(`${email}:${key}`)}`};
    const parameters = new URLSearchParams(call.pairs);
    if (["GET", "HEAD"].includes(call.method)) {
        const query = call.pairs.length > 0 ? `?${parameters}` : "";
        return fetch(call.path + query, {method: call.method, headers});
    }
    let body = parameters;
    if (call.file && call.isBody) {
        body = call.file;
        headers["Tus-Resumable"] = "1.0.0";
        headers["Upload-Length"] = String(call.file.size);
    } else if (call.file) {
        body = new FormData();
        for (const [name, value] of call.pairs) {
            body.append(name, value);
        }
        body.append("file", call.file);
    }
    return fetch(call.path, {method: call.method, headers, body});
}

function shown(text) {
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}

async function makeCall(event) {
    event.preventDefault();
    const email = document.getElementById("try-account").value;
    const [request, result] = ["tried-request", "tried-answer"].map((id) => document.getElementById(id));
    document.getElementById("tried").hidden = false;
    result.textContent = "Waiting for the answer …";
    try {
        const key = await apiKey(email);
        const call = asked();
        request.textContent = command(call, email, key);
        const answer = await send(call, email, key);
        result.textContent = `${answer.status}\n${shown(await answer.text())}`;
    } catch (error) {
        result.textContent = `The call failed: ${error.message}`;
    }
}

form.addEventListener("submit", makeCall);
