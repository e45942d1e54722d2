#!/usr/bin/env python3
"""What tests against `millstream dev` wait for: its start, a reset, and the memory of many organizations.

    loadtest/dev_server.py PATH_TO_MILLSTREAM [--resets 300] [--realms 100]

Prints the time from exec to the ready file, the percentiles of `POST /dev/reset` (one message is sent before each), the time
of `POST /dev/realms`, and resident memory with so many sample organizations.
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


def start(binary, folder):
    ready = folder + "/ready.json"
    command = [binary, "dev", "--listen", "127.0.0.1:0", "--data", folder + "/data", "--ready-file", ready]
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(ready):
        assert process.poll() is None, "the server stopped"
        time.sleep(0.001)
    with open(ready, encoding="utf-8") as file:
        return process, json.load(file), time.monotonic() - begun


class Client:
    def __init__(self, ready):
        self.connection = http.client.HTTPConnection("127.0.0.1", ready["port"], timeout=120)
        user = next(user for user in ready["users"] if user["email"] == "iago@zulip.com")
        self.headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Authorization": "Basic " + b64encode(f"{user['email']}:{user['api_key']}".encode()).decode(),
        }

    def post(self, path, params=None):
        self.connection.request("POST", path, urllib.parse.urlencode(params or {}), self.headers)
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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="millstream-dev-") as folder:
        process, ready, secs = start(os.path.abspath(options.binary), folder)
        try:
            print(f"start: {secs * 1000:.0f} ms to the ready file, {resident_mb(process.pid):.0f} MB resident")
            client = Client(ready)
            resets = []
            for _ in range(options.resets):
                client.post("/api/v1/messages", {"type": "channel", "to": "Verona", "topic": "reset", "content": "gone"})
                resets.append(timed(lambda: client.post("/dev/reset")))
            resets.sort()
            print(f"reset: p50 {statistics.median(resets):.1f} ms, p99 {resets[len(resets) * 99 // 100]:.1f} ms, "
                  f"at most {resets[-1]:.1f} ms; {resident_mb(process.pid):.0f} MB resident")
            realms = [timed(lambda: client.post("/dev/realms")) for _ in range(options.realms)]
            print(f"{options.realms} more organizations: {statistics.median(realms):.1f} ms each, "
                  f"{resident_mb(process.pid):.0f} MB resident, at most {resident_mb(process.pid, 'VmHWM'):.0f} MB")
        finally:
            process.terminate()
            process.wait()


main()
