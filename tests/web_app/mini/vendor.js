// The library of the miniature app: calls with the token of the page.
"use strict";

window.mini = {calls: {}, violations: [], texts: [], ready: false};

document.addEventListener("securitypolicyviolation", (event) => {
    mini.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});

mini.call = async (method, path, fields = {}) => {
    const body = new URLSearchParams(fields);
    const address = method === "GET" ? `${path}?${body}` : path;
    const headers = {"X-CSRFToken": mini.token};
    const answer = await fetch(address, {method, headers, body: method === "GET" ? undefined : body});
    return {status: answer.status, body: await answer.json()};
};
