"""What the client scripts have in common: users of the sample organization, waiting, and counted checks.

Each script gets the URL of a fresh `millstream dev` as its first argument, prints what failed and then
`N passed, N failed`. Exit status 0 only if nothing failed. Only the standard library is used here, so that the
package under test decides which other packages are installed.
"""

import base64
import json
import os
import sys
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

PATIENCE_SECS = int(os.environ.get("PATIENCE_SECS", "60"))


class User:
    """A user of the sample organization, or a bot, as an independent witness beside the client under test."""

    def __init__(self, url, email, key=None):
        self.url, self.email, self.key = url, email, key
        if key is None:
            self.key = self.call("POST", "/dev_fetch_api_key", username=email)["api_key"]

    def call(self, method, path, **params):
        """The answer of an endpoint; an error answer is returned like any other."""
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
        encoded = urllib.parse.urlencode(texts)
        url, body = f"{self.url}/api/v1{path}", None
        if method == "GET":
            url += "?" + encoded
        else:
            body = encoded.encode()
        request = urllib.request.Request(url, data=body, method=method)
        if self.key:
            pair = base64.b64encode(f"{self.email}:{self.key}".encode()).decode()
            request.add_header("Authorization", f"Basic {pair}")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def ok(self, method, path, **params):
        """The answer, which must be a success."""
        answer = self.call(method, path, **params)
        assert answer["result"] == "success", (method, path, answer)
        return answer

    def send(self, channel, topic, content):
        """The id of a new message in a channel."""
        return self.ok("POST", "/messages", type="channel", to=channel, topic=topic, content=content)["id"]

    def send_direct(self, emails, content):
        """The id of a new direct message."""
        return self.ok("POST", "/messages", type="direct", to=emails, content=content)["id"]

    def messages(self, *terms):
        """The newest messages of a narrow of `(operator, operand)` pairs, as Markdown source."""
        narrow = [{"operator": operator, "operand": operand} for operator, operand in terms]
        request = {"anchor": "newest", "num_before": 50, "num_after": 0, "apply_markdown": False}
        return self.ok("GET", "/messages", narrow=narrow, **request)["messages"]

    def wait_for_message(self, accept, *terms):
        """The newest message of a narrow that is accepted, when there is one."""

        def newest():
            return next((found for found in reversed(self.messages(*terms)) if accept(found)), None)

        return wait_for(newest, "a message that is accepted", lambda: self.messages(*terms)[-3:])

    def make_bot(self, name):
        """A new bot of this user."""
        made = self.ok("POST", "/bots", full_name=name, short_name=name)
        bots = self.ok("GET", "/bots")["bots"]
        email = next(bot["username"] for bot in bots if bot["api_key"] == made["api_key"])
        return User(self.url, email, made["api_key"])

    def zuliprc(self, path):
        """Writes a zuliprc of this user, and returns its path."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"[api]\nemail={self.email}\nkey={self.key}\nsite={self.url}\n")
        return str(path)


def event_queues(url):
    """The number of event queues of the server, by which a script knows that its client has registered."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=PATIENCE_SECS) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("millstream_queues{"))


def wait_for(probe, what, context=lambda: ""):
    """The first answer of the probe that is true."""
    deadline = time.monotonic() + PATIENCE_SECS
    while True:
        answer = probe()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"there is not {what}: {context()}"
        time.sleep(0.1)


def run(checks):
    """Runs all methods of an object whose names begin with `test_`, in the order in which they are written."""
    names = [name for name in type(checks).__dict__ if name.startswith("test_")]
    passed = failed = 0
    for name in names:
        try:
            getattr(checks, name)()
            passed += 1
        except Exception:
            failed += 1
            print(f"--- {name}")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
