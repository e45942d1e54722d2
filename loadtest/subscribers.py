#!/usr/bin/env python3
"""CPU time of a durable send to channels of 10 up to 100,000 subscribers.

    python3 loadtest/subscribers.py TARGET_FOLDER [--people 100000] [--rounds 6] [--messages 3000]

TARGET_FOLDER has the program `millstream`. Imports an organization with a channel for each power of ten up to all of its people, so that no passwords have to be hashed, and
sends from ten connections to one channel after the other, round by round. The server does what it does for any message: all recipients get
it as unread, and mails and notifications are decided for those who need them. Nobody polls: deliveries are `fanout` and `hot_channel`.
Prints the CPU time of a send to each channel: the smallest of all rounds, because other work on the machine only adds to it, with the
median in brackets; and the largest of these times over the smallest.
"""

import argparse
import http.client
import importlib
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse

import first_page
import folder

CONNECTIONS = 10
FIRST = 11


def sizes(people):
    """10, 100 and so on, and all people."""
    found = [10 ** power for power in range(1, 10) if 10 ** power < people]
    return [*found, people]


def make(place, people):
    """An export of an organization in which the first people of each channel's size are subscribed to it."""
    maker = importlib.import_module("import")
    os.mkdir(place)
    maker.make(place, argparse.Namespace(messages=1, people=people, length=200))
    path = place + "/realm.json"
    with open(path, encoding="utf-8") as file:
        realm = json.load(file)
    channels = sizes(people)
    realm["zerver_stream"] = realm["zerver_stream"][:len(channels)]
    for stream, size in zip(realm["zerver_stream"], channels):
        stream["name"] = f"load of {size}"
    realm["zerver_subscription"] = [
        {"user_profile": FIRST + user, "recipient": number, "active": True, "color": "#76ce90"}
        for number, size in enumerate(channels, 1) for user in range(size)
    ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(realm, file)


def send(server, headers, channel, numbers):
    connection = http.client.HTTPConnection(server.netloc, timeout=120)
    headers = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
    for number in numbers:
        body = urllib.parse.urlencode({"type": "channel", "to": channel, "topic": f"topic {number % 20}", "content": "tea kettle " * 18})
        connection.request("POST", "/api/v1/messages", body, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text


def cost(server, headers, channel, messages):
    """Microseconds of CPU for each of this many sends, with what follows them."""
    before = first_page.cpu_secs(server.process.pid)
    threads = [threading.Thread(target=send, args=(server, headers, channel, range(start, messages, CONNECTIONS)))
               for start in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(1)
    return (first_page.cpu_secs(server.process.pid) - before) / messages * 1e6


def measure(options):
    server = folder.Server(options, ["[limits]", "enabled = false"])
    try:
        headers = server.key()
        channels = sizes(options.people)
        for size in channels:
            cost(server, headers, f"load of {size}", options.messages)
        costs = {size: [] for size in channels}
        for number in range(options.rounds):
            # Each second round in the other order: a cost that grows or falls with time is that of all.
            for size in channels if number % 2 == 0 else reversed(channels):
                costs[size].append(cost(server, headers, f"load of {size}", options.messages))
        least = {size: min(values) for size, values in costs.items()}
        for size, values in costs.items():
            print(f"{size:>7} subscribers: {least[size]:6.1f} us of CPU a send ({statistics.median(values):.1f})")
        print(f"largest over smallest: {max(least.values()) / min(least.values()):.2f}; {server.resident_mb():.0f} MB resident")
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--messages", type=int, default=3000)
    options = parser.parse_args()
    options.folder, options.by = tempfile.mkdtemp(prefix="millstream-subscribers-"), "import"
    try:
        source = options.folder + "/export"
        make(source, options.people)
        begun = time.monotonic()
        command = [options.target + "/millstream", "import", "zulip", source, "--data", options.folder + "/data"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"{options.people} people imported in {time.monotonic() - begun:.1f} s; load {os.getloadavg()[0]:.1f}", flush=True)
        shutil.rmtree(source)
        measure(options)
    finally:
        shutil.rmtree(options.folder)


if __name__ == "__main__":
    main()
