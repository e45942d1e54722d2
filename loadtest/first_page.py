"""CPU time of the server for the first page of the web app, in an organization of 1,000 people.

    python3 loadtest/first_page.py PATH_TO_MILLSTREAM [PEOPLE] [PAGES] [PATH_TO_ARCHIVE]

Starts `millstream dev` on a folder of its own, installs the web app from the archive (without one, a release with one
empty script), seeds it with people and channels, logs one of them in as a browser does, and loads `/` again and again: each time
with a new event queue and the whole state.
"""

import base64
import http.client
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse

OWNER = "desdemona@zulip.com"
CHANNELS = 20


class Client:
    """One connection to the server, with the cookies of a browser."""

    def __init__(self, netloc):
        self.connection = http.client.HTTPConnection(netloc, timeout=120)
        self.cookies, self.key = {}, None

    def ask(self, method, path, params=None):
        headers = {}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if self.key:
            headers["Authorization"] = "Basic " + base64.b64encode(f"{OWNER}:{self.key}".encode()).decode()
        body = None
        if params is not None:
            body = urllib.parse.urlencode(params)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer.status, text

    def post(self, path, params):
        status, text = self.ask("POST", path, params)
        assert status == 200, text
        return json.loads(text)


def cpu_secs(pid):
    """User and system time of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seed(folder, people):
    """A seed file: people, and channels that one of each twenty has, the first that all have."""
    emails = [f"person{number}@zulip.com" for number in range(people)]
    users = [{"email": OWNER, "full_name": "Desdemona", "role": "owner"}]
    users += [{"email": email, "full_name": f"Person Number {number}"} for number, email in enumerate(emails)]
    channels = [{"name": "channel 0", "subscribers": "everyone"}]
    channels += [{"name": f"channel {number}", "subscribers": emails[number::CHANNELS]} for number in range(1, CHANNELS)]
    path = folder + "/seed.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "Acme", "email_domain": "zulip.com", "creator": OWNER, "users": users, "channels": channels}, file)
    return path


def start(binary, folder, *options):
    """The server and its ready line."""
    command = [binary, "dev", "--listen", "127.0.0.1:0", "--output", "json", "--data", folder + "/data", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ready = json.loads(process.stdout.readline())
    threading.Thread(target=process.stdout.read, daemon=True).start()
    return process, ready


def log_in(netloc, email):
    """A browser in which the person has logged in."""
    browser = Client(netloc)
    browser.ask("GET", "/devlogin/")
    token = browser.cookies["csrftoken"]
    status, text = browser.ask("POST", "/devlogin/", {"csrfmiddlewaretoken": token, "direct_email": email})
    assert status == 302, text
    return browser


def empty_release(folder):
    """A release archive with the least that can be installed."""
    manifest = {"status": "done", "chunks": {"app": ["app.0123456789abcdef0123.js"]}}
    files = {
        "version.py": 'ZULIP_VERSION = "11.0"\nAPI_FEATURE_LEVEL = 421\n',
        "webpack-stats-production.json": json.dumps(manifest),
        "prod-static/serve/webpack-bundles/app.0123456789abcdef0123.js": "",
    }
    path = folder + "/zulip-server-11.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo("zulip-server-11.0/" + name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def measure(browser, pid, pages):
    for _ in range(5):
        browser.ask("GET", "/")
    before, times, size = cpu_secs(pid), [], 0
    for _ in range(pages):
        started = time.monotonic()
        status, text = browser.ask("GET", "/")
        times.append(time.monotonic() - started)
        assert status == 200 and "data-params=" in text, text[:500]
        size = len(text)
    spent = (cpu_secs(pid) - before) / pages
    print(f"{spent * 1000:.1f} ms of server CPU a page, p50 {sorted(times)[pages // 2] * 1000:.1f} ms, {size // 1000} kB")


def main():
    binary = sys.argv[1]
    people = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    pages = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    folder = tempfile.mkdtemp(prefix="millstream-first-page-")
    archive = sys.argv[4] if len(sys.argv) > 4 else empty_release(folder)
    process, ready = start(binary, folder, "--seed", seed(folder, people))
    try:
        subprocess.run([binary, "web-app", "install", archive, "--data", folder + "/data"], check=True)
        process.send_signal(signal.SIGHUP)
        netloc = ready["url"].removeprefix("http://")
        measure(log_in(netloc, "person0@zulip.com"), process.pid, pages)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
