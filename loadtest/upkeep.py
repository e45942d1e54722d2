#!/usr/bin/env python3
"""Times of durable sends while the server writes checkpoints, compacts its journal, or is backed up.

    loadtest/upkeep.py TARGET_FOLDER [--messages 1000000] [--rate 200] [--secs 40]

TARGET_FOLDER has the program `millstream`. Imports messages of 200 characters into a folder of its own, then sends at a steady rate from
two clients: beside nothing, beside checkpoints (one after each 2,000 sends), beside the compaction of all sealed segments, and
beside full backups, one after the other. What happened meanwhile is counted, so that a phase in which nothing did is seen.
"""

import argparse
import http.client
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse

import folder

NEVER = "checkpoint_frames = 150000"
COUNTERS = ["millstream_checkpoints_total", "millstream_journal_compacted_bytes_total"]
PHASES = [
    ("nothing", [NEVER, "compact_bytes_per_sec = 0"]),
    ("checkpoints", ["checkpoint_frames = 2000", "compact_bytes_per_sec = 0"]),
    ("backups", [NEVER, "compact_bytes_per_sec = 0"]),
    ("compaction", [NEVER]),
]


def metric(server, name):
    text = server.call("GET", "/metrics")
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE))


def send(server, options, headers, number, millis):
    """Sends from one client, each when it is due, and notes the times from then, so that a stall counts for all that it delays."""
    connection = http.client.HTTPConnection(server.netloc, timeout=120)
    headers = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
    begun, interval = time.monotonic(), 2 / options.rate
    for count in range(int(options.secs * options.rate / 2)):
        due = begun + (count + number / 2) * interval
        time.sleep(max(0, due - time.monotonic()))
        body = urllib.parse.urlencode({"type": "channel", "to": "channel 1", "topic": f"topic {count % 50}", "content": "x" * 200})
        connection.request("POST", "/api/v1/messages", body, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        millis.append((time.monotonic() - due) * 1000)


def back_up(options, server, is_over, count):
    while not is_over.is_set():
        place = f"{options.folder}/backups-{len(count)}"
        command = [options.target + "/millstream", "backup", "--to", place, "--data", options.folder + "/data"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        count.append(1)


def measure(options, name, settings):
    server = folder.Server(options, [*settings, "[limits]", "enabled = false"])
    headers = server.key()
    time.sleep(3)
    millis, backups, is_over = [], [], threading.Event()
    before = {name: metric(server, name) for name in COUNTERS}
    threads = [threading.Thread(target=send, args=(server, options, headers, number, millis)) for number in range(2)]
    other = threading.Thread(target=back_up, args=(options, server, is_over, backups))
    for thread in [*threads, *([other] if name == "backups" else [])]:
        thread.start()
    for thread in threads:
        thread.join()
    is_over.set()
    checkpoints, compacted = (metric(server, name) - before[name] for name in COUNTERS)
    if name == "backups":
        other.join()
    server.stop()
    millis.sort()
    p50, p99 = millis[len(millis) // 2], millis[len(millis) * 99 // 100]
    print(f"beside {name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, slowest {millis[-1]:.1f} ms; {checkpoints:.0f} checkpoints, "
          f"{compacted / 1e6:.0f} MB compacted, {len(backups)} backups", flush=True)
    return p99


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--secs", type=int, default=40)
    parser.add_argument("--folder", help="where the data goes (a temporary folder)")
    options = parser.parse_args()
    options.target, options.by = os.path.abspath(options.target), "import"
    options.folder = tempfile.mkdtemp(prefix="millstream-upkeep-", dir=options.folder)
    try:
        folder.fill_by_import(options)
        print(f"{options.messages:,} messages; load {os.getloadavg()[0]:.1f}", flush=True)
        quiet = [measure(options, *PHASES[0])]
        others = {name: measure(options, name, settings) for name, settings in PHASES[1:]}
        quiet.append(measure(options, *PHASES[0]))
        for name, p99 in others.items():
            print(f"p99 beside {name}: {p99 / (sum(quiet) / 2):.1f} x that beside nothing (mean of the first and the last phase)")
    finally:
        shutil.rmtree(options.folder)


main()
