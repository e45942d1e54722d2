"""Fixtures for tests of Zulip clients and bots against a Millstream development server.

Copy this file beside your tests and add `pytest_plugins = ["pytest_millstream"]` to your `conftest.py`. Only pytest and
the standard library are needed.

`millstream` is the server, started once for the test run; `realm` is an organization of the test's own, with the content
of the sample or of the file that `--millstream-seed` names. `--millstream-args="--rate-limits"` are more arguments of
`millstream dev`. The binary is `--millstream-binary`, the environment variable
MILLSTREAM, or `millstream` in the PATH (in a conftest.py below pytest's root, options need the form
`--millstream-binary=PATH`). If MILLSTREAM_URL is set, that running development server is used instead, such as
a service container. docs/dev-server.md has everything that the server offers.
"""

import base64
import http.client
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import urllib.parse

import pytest

START_SECS_MAX = 30


class MillstreamError(Exception):
    """An answer that is no success: `status`, and `answer`, the error of the API.

    An answer in another form, such as a page of a proxy, is an `answer` with its text as `msg` and without `code`.
    """

    def __init__(self, answer, status):
        super().__init__(f"{status}: {answer.get('code')}: {answer.get('msg')}")
        self.answer, self.status = answer, status


def _parsed(text):
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    return answer if isinstance(answer, dict) else {"msg": text}


class User:
    """An account of an organization, with its API key."""

    def __init__(self, realm, email, api_key, user_id, full_name=None):
        self.realm, self.email, self.api_key = realm, email, api_key
        self.user_id, self.full_name = user_id, full_name

    def call(self, method, path, **parameters):
        """Calls an endpoint below /api/v1 and returns its answer. Values that are not texts are sent as JSON."""
        return self.realm.call(method, "/api/v1" + path, parameters, (self.email, self.api_key))

    def send(self, channel, topic, content):
        """Sends a message to a channel and returns its id."""
        return self.call("POST", "/messages", type="channel", to=channel, topic=topic, content=content)["id"]

    def send_direct(self, people, content):
        """Sends a direct message to people, or their addresses, and returns its id."""
        to = [person.email if isinstance(person, User) else person for person in people]
        return self.call("POST", "/messages", type="direct", to=to, content=content)["id"]

    def messages(self, narrow=(), limit=100):
        """The newest messages of a narrow, the oldest first, in Markdown."""
        window = {"anchor": "newest", "num_before": limit, "num_after": 0, "apply_markdown": False}
        return self.call("GET", "/messages", narrow=list(narrow), **window)["messages"]

    def zuliprc(self):
        """The text of a zuliprc file, for libraries that read one.

        Its `site` is the URL of the organization, whose name such as test-1.localhost must resolve. That of
        `millstream.root`, the organization at the server's own address, is that address if this plugin started the server.
        """
        return f"[api]\nemail={self.email}\nkey={self.api_key}\nsite={self.realm.url}\n"

    def client(self, **options):
        """A client of the `zulip` package, if it is installed; `options` are those of `zulip.Client`.

        It connects to the server's address and sends the organization's name in the header `Host`, so the name need not
        resolve.
        """
        import zulip

        host = self.realm.host

        class Client(zulip.Client):
            """A client that sends the name of an organization."""

            def ensure_session(self):
                """Begins the session that all calls use."""
                super().ensure_session()
                self.session.headers["Host"] = host

        return Client(email=self.email, api_key=self.api_key, site=self.realm.server.url, **options)


class Realm:
    """An organization, and the tools of the development server for it."""

    def __init__(self, server, url, users):
        self.server, self.url = server, url
        self.host = urllib.parse.urlsplit(url).netloc
        self.users = {
            user["email"]: User(self, user["email"], user["api_key"], user["user_id"], user.get("full_name"))
            for user in users
        }

    def user(self, name):
        """An account by its address, or by the part before the @ where that is clear."""
        if name in self.users:
            return self.users[name]
        found = [user for email, user in self.users.items() if email.split("@")[0].lower() == name.lower()]
        if len(found) != 1:
            raise KeyError(f"{len(found)} accounts are named {name}: {', '.join(self.users)}")
        return found[0]

    def call(self, method, path, parameters=None, login=None):
        """Calls the server for this organization."""
        return self.server.call(method, path, parameters, login, self.host)

    def reset(self):
        """Brings the content of the beginning back. Event queues end; ids and keys stay."""
        self.call("POST", "/dev/reset")

    def fault(self, path, kind, **more):
        """Lets calls fail; see docs/dev-server.md#faults. Returns the id of the fault."""
        return self.call("POST", "/dev/faults", {"path": path, "kind": kind, **more})["id"]

    def clear_faults(self):
        """Removes all faults."""
        self.call("DELETE", "/dev/faults")

    def expire_queues(self, **which):
        """Ends all event queues, or the one with `queue_id`, and returns their number."""
        return self.call("POST", "/dev/queues/expire", which)["expired"]

    def requests(self, after=0):
        """The calls that the server has answered."""
        return self.call("GET", "/dev/requests", {"after": after})["requests"]

    def mails(self):
        """The mails that the server has sent for this organization, the newest first."""
        return self.call("GET", "/emails.json")["emails"]

    def wait_for_mail(self, to, secs=10):
        """The newest mail to an address, as soon as there is one: mails are sent in the background."""
        end = time.monotonic() + secs
        while True:
            found = [mail for mail in self.mails() if mail["to"] == to]
            if found:
                return found[0]
            if time.monotonic() > end:
                raise TimeoutError(f"no mail to {to} within {secs} s")
            time.sleep(0.01)


class Millstream:
    """A running development server."""

    def __init__(self, url, realm_users):
        self.url = url
        parts = urllib.parse.urlsplit(url)
        self.address = (parts.hostname, parts.port or 80)
        self.root = Realm(self, url, realm_users)

    def call(self, method, path, parameters=None, login=None, host=None):
        """Calls the server. The connection goes to its address, whatever the host is."""
        texts = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in (parameters or {}).items()
        }
        headers, body = {"Host": host or self.root.host}, urllib.parse.urlencode(texts)
        if method == "GET":
            path, body = f"{path}?{body}" if body else path, None
        else:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if login:
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(login).encode()).decode()
        connection = http.client.HTTPConnection(*self.address, timeout=90)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            answer = _parsed(response.read().decode(errors="replace"))
        finally:
            connection.close()
        if answer.get("result") != "success":
            raise MillstreamError(answer, response.status)
        return answer

    def new_realm(self, seed=None):
        """Creates an organization; `seed` is the text of a seed file."""
        made = self.call("POST", "/dev/realms", {"seed": seed} if seed else {})
        return Realm(self, made["url"], made["users"])

    def advance_clock(self, secs):
        """Lets time pass at once, for all organizations."""
        return self.call("POST", "/dev/clock", {"advance_secs": secs})["time"]

    def set_clock(self, time):
        """Sets the date, in seconds since 1970, for all organizations. No time passes."""
        return self.call("POST", "/dev/clock", {"time": time})["time"]

    def restore_clock(self):
        """Shows the real date again."""
        return self.call("POST", "/dev/clock", {"real": True})["time"]


def pytest_addoption(parser):
    """The options of this plugin."""
    group = parser.getgroup("millstream")
    group.addoption("--millstream-binary", help="the millstream binary (default: MILLSTREAM, or in the PATH)")
    group.addoption("--millstream-seed", help="seed file of the organizations (default: the sample)")
    group.addoption("--millstream-args", help="more arguments of `millstream dev`, such as --rate-limits")


def _binary(config):
    named = config.getoption("--millstream-binary") or os.environ.get("MILLSTREAM")
    binary = shutil.which(named or "millstream")
    if binary is None:
        problem = f"{named} is not a program" if named else "millstream is not in the PATH"
        raise pytest.UsageError(f"{problem}; name the binary with --millstream-binary=PATH or MILLSTREAM")
    return binary


def _check_url(url):
    try:
        parts = urllib.parse.urlsplit(url)
        is_right = parts.scheme == "http" and parts.hostname and parts.port != 0
    except ValueError:
        is_right = False
    if not is_right:
        raise pytest.UsageError(f"MILLSTREAM_URL must be a URL such as http://127.0.0.1:9991, not {url}")


def _wait_until_ready(process, ready, log):
    end = time.monotonic() + START_SECS_MAX
    while not os.path.exists(ready):
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            log.seek(0)
            pytest.exit(f"millstream did not start: {log.read().decode(errors='replace')}", returncode=3)
        time.sleep(0.005)
    with open(ready, encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture(scope="session")
def millstream(request):
    """The development server of this test run."""
    url = os.environ.get("MILLSTREAM_URL")
    if url:
        _check_url(url)
        server = Millstream(url.rstrip("/"), [])
        try:
            server.root = server.new_realm()
        except MillstreamError as error:
            raise pytest.UsageError(
                f"what answers at {url} (MILLSTREAM_URL) is no development server, which `millstream dev` starts: {error}"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise pytest.UsageError(f"no development server answers at {url} (MILLSTREAM_URL): {error}") from error
        yield server
        return
    with tempfile.TemporaryDirectory(prefix="millstream-pytest-") as folder, tempfile.TemporaryFile() as log:
        ready = os.path.join(folder, "ready.json")
        command = [_binary(request.config), "dev", "--listen", "127.0.0.1:0", "--ready-file", ready]
        seed = request.config.getoption("--millstream-seed")
        command += ["--seed", seed] if seed else []
        command += shlex.split(request.config.getoption("--millstream-args") or "")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        try:
            facts = _wait_until_ready(process, ready, log)
            yield Millstream(facts["url"], facts["users"])
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def realm(millstream):
    """An organization of this test's own."""
    return millstream.new_realm()
