#!/usr/bin/env python3
"""What tests against `millstream dev` wait for: its start, a reset, and the memory of many organizations.

    loadtest/dev_server.py PATH_TO_MILLSTREAM [--resets 300] [--realms 100] [--large]

Prints the time from exec to the ready file, the percentiles of `POST /dev/reset` (one message is sent before each), the time
of `POST /dev/realms`, resident memory with so many sample organizations, after a message in each, and when the index has these
messages, and the time from SIGTERM to the end. With `--large` it first starts a server with a seed of 10,000 people, 10 channels
and 50,000 messages.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import tempfile
import time
import urllib.parse
from base64 import b64encode


MESSAGE = {"type": "channel", "to": "Verona", "topic": "measured", "content": "Hello"}
# Until the index of words has what was sent.
INDEX_SECS = 45


def start(binary, folder, *arguments):
    ready = folder + "/ready.json"
    command = [binary, "dev", "--listen", "127.0.0.1:0", "--data", folder + "/data", "--ready-file", ready, *arguments]
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(ready):
        assert process.poll() is None, "the server stopped"
        time.sleep(0.001)
    with open(ready, encoding="utf-8") as file:
        return process, json.load(file), time.monotonic() - begun


def large_seed():
    people = [f"person{number}@acme.example" for number in range(10_000)]
    users = [{"email": email, "full_name": email.split("@")[0]} for email in people]
    users[0]["role"] = "owner"
    topics = [
        {
            "channel": f"channel {number}",
            "name": "topic",
            "writers": people[number * 50 : number * 50 + 50],
            "messages": [f"Message {message} of *channel {number}*" for message in range(5_000)],
        }
        for number in range(10)
    ]
    return {
        "name": "Large",
        "email_domain": "acme.example",
        "creator": people[0],
        "users": users,
        "channels": [{"name": topic["channel"], "subscribers": "everyone"} for topic in topics],
        "topics": topics,
    }


def start_large(binary, folder):
    with open(folder + "/seed.json", "w", encoding="utf-8") as file:
        json.dump(large_seed(), file)
    process, _, secs = start(binary, folder, "--seed", file.name)
    print(f"10,000 people and 50,000 messages: {secs:.1f} s to the ready file, at most {resident_mb(process.pid, 'VmHWM'):.0f} MB")
    process.terminate()
    process.wait()


def login(users):
    user = next(user for user in users if user["email"] == "iago@zulip.com")
    return {"Authorization": "Basic " + b64encode(f"{user['email']}:{user['api_key']}".encode()).decode()}


class Client:
    def __init__(self, ready):
        self.connection = http.client.HTTPConnection("127.0.0.1", ready["port"], timeout=120)
        self.headers = {"Content-Type": "application/x-www-form-urlencoded", **login(ready["users"])}

    def post(self, path, params=None, headers=None):
        headers = {**self.headers, **(headers or {})}
        self.connection.request("POST", path, urllib.parse.urlencode(params or {}), headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, text
        return json.loads(text)


def resident_mb(pid, name="VmRSS"):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1000


def timed(action):
    begun = time.monotonic()
    action()
    return (time.monotonic() - begun) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--resets", type=int, default=300)
    parser.add_argument("--realms", type=int, default=100)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    if options.large:
        with tempfile.TemporaryDirectory(prefix="millstream-dev-") as folder:
            start_large(os.path.abspath(options.binary), folder)
    with tempfile.TemporaryDirectory(prefix="millstream-dev-") as folder:
        process, ready, secs = start(os.path.abspath(options.binary), folder)
        try:
            print(f"start: {secs * 1000:.0f} ms to the ready file, {resident_mb(process.pid):.0f} MB resident")
            client = Client(ready)
            resets = []
            for _ in range(options.resets):
                client.post("/api/v1/messages", MESSAGE)
                resets.append(timed(lambda: client.post("/dev/reset")))
            resets.sort()
            print(f"reset: p50 {statistics.median(resets):.1f} ms, p99 {resets[len(resets) * 99 // 100]:.1f} ms, "
                  f"at most {resets[-1]:.1f} ms; {resident_mb(process.pid):.0f} MB resident")
            made = []
            realms = [timed(lambda: made.append(client.post("/dev/realms"))) for _ in range(options.realms)]
            print(f"{options.realms} more organizations: {statistics.median(realms):.1f} ms each, "
                  f"{resident_mb(process.pid):.0f} MB resident, at most {resident_mb(process.pid, 'VmHWM'):.0f} MB")
            for realm in made:
                client.post("/api/v1/messages", MESSAGE, {"Host": realm["host"], **login(realm["users"])})
            sent = resident_mb(process.pid)
            time.sleep(INDEX_SECS)
            print(f"after a message in each: {sent:.0f} MB resident, {INDEX_SECS} s later {resident_mb(process.pid):.0f} MB")
        finally:
            begun = time.monotonic()
            process.terminate()
            process.wait()
            print(f"stop: {time.monotonic() - begun:.2f} s")


main()
