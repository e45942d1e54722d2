#!/usr/bin/env python3
"""What a history costs: bytes on disk for a message, bytes written for a lone send, and time and memory of a start.

    sudo loadtest/folder.py TARGET_FOLDER [--messages 1000000] [--by sends] [--lone 120] [--rounds 5]

TARGET_FOLDER has the programs `millstream` and `loadtest`. Fills a folder of its own with messages of 200 characters, by sending
them to 1,000 topics of one channel, or by an import, which is faster. It waits until all sealed segments are compacted, and measures
each part of the folder. Then it starts the server: after a clean stop, after `kill -9`, and, as root, with an empty page cache. A start
lasts from exec to the first response; resident memory is that of ten seconds later. Last come lone sends, one a
second: what the kernel says the process wrote for each.
"""

import argparse
import http.client
import importlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
from base64 import b64encode

SENDERS = {"sends": "iago@zulip.com", "import": "u11@load.example"}
CHANNELS = {"sends": "load archive", "import": "channel 1"}


class Server:
    def __init__(self, options, settings=()):
        config = options.folder + "/millstream.toml"
        with open(config, "w", encoding="utf-8") as file:
            file.write("\n".join(["[storage]", *settings]))
        kind = {"sends": "dev", "import": "serve"}[options.by]
        command = [options.target + "/millstream", kind, "--listen", "127.0.0.1:0", "--data", options.folder + "/data"]
        self.sender = SENDERS[options.by]
        self.key_command = [options.target + "/millstream", "user", "api-key", "--email", self.sender, *command[-2:],
                            "--output", "json"]
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [*command, "--config", config], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = self.process.stdout
        self.netloc = next(found.group(1) for line in lines if (found := re.search(r"http://([0-9.]+:[0-9]+)", line)))
        self.call("GET", "/api/v1/server_settings")
        self.start_secs = time.monotonic() - begun
        threading.Thread(target=lines.read, daemon=True).start()

    def call(self, method, path, params=None, headers=None):
        connection = http.client.HTTPConnection(self.netloc, timeout=120)
        body = urllib.parse.urlencode(params) if params else None
        headers = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, text
        return text

    def key(self):
        answer = json.loads(subprocess.run(self.key_command, check=True, capture_output=True).stdout)
        return {"Authorization": "Basic " + b64encode(f"{self.sender}:{answer['api_key']}".encode()).decode()}

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1000

    def written(self):
        with open(f"/proc/{self.process.pid}/io", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("write_bytes"))

    def stop(self, kind=signal.SIGTERM):
        self.process.send_signal(kind)
        self.process.wait()


def disk_bytes(folder):
    """Allocated bytes of each part of a data folder."""
    parts = {}
    for path, _, names in os.walk(folder):
        part = os.path.relpath(path, folder).split(os.sep)[0]
        for name in names:
            size = os.lstat(os.path.join(path, name)).st_blocks * 512
            kind = "journal, sealed and active segments" if name.endswith(".seg") else part
            parts[kind] = parts.get(kind, 0) + size
    return parts


def fill_by_import(options):
    maker = importlib.import_module("import")
    source = options.folder + "/export"
    os.mkdir(source)
    maker.make(source, argparse.Namespace(messages=options.messages, people=2, length=200))
    command = [options.target + "/millstream", "import", "zulip", source, "--data", options.folder + "/data"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shutil.rmtree(source)


def fill_by_sends(options):
    scenario = {
        "name": "folder", "about": "Fills a folder.", "users": 100,
        "channels": [{"name": "load archive", "subscribers": 100}],
        "fill": {"channel": "load archive", "messages": options.messages, "chars": [200, 200], "topics": 1000, "senders": 256},
        "phases": [{"name": "none", "secs": 1, "step": {"do": "get", "clients": 1, "path": "/users/me"}}], "expect": {},
    }
    path = options.folder + "/folder.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    server = Server(options)
    subprocess.run([options.target + "/loadtest", "run", path, "--url", f"http://{server.netloc}",
                    "--out", options.folder + "/out"], check=True, stdout=subprocess.DEVNULL)
    server.stop()


def wait_for_archives(options, server):
    """Until only the active segment and those in reserve are left, and no segment beside its archive."""
    shard = options.folder + "/data/journal/shard-000"
    while True:
        names = os.listdir(shard)
        archives = {name[:10] for name in names if name.endswith(".arc")}
        segments = {name[:10] for name in names if name.endswith(".seg")}
        if not segments & archives and len(segments) <= 3:
            return
        assert server.process.poll() is None
        time.sleep(1)


def measure_disk(options):
    server = Server(options, ["compact_bytes_per_sec = 67108864"])
    begun = time.monotonic()
    wait_for_archives(options, server)
    print(f"compacted after {time.monotonic() - begun:.0f} s", flush=True)
    server.stop()
    parts = disk_bytes(options.folder + "/data")
    for part, size in sorted(parts.items(), key=lambda part: -part[1]):
        print(f"  {size / 1e6:8.1f} MB  {size / options.messages:6.1f} bytes a message  {part}")
    print(f"  {sum(parts.values()) / options.messages:.0f} bytes a message in all", flush=True)


def measure_lone_sends(options):
    server = Server(options)
    headers = server.key()
    time.sleep(15)
    before = server.written()
    for number in range(options.lone):
        params = {"type": "channel", "to": CHANNELS[options.by], "topic": f"topic {number % 7}", "content": "x" * 200}
        server.call("POST", "/api/v1/messages", params, headers)
        time.sleep(1)
    time.sleep(15)
    written = (server.written() - before) / options.lone
    print(f"lone sends, one a second: {written:.0f} bytes written for each", flush=True)
    server.stop()


def measure_starts(options):
    for name, kind, is_cold in [("clean", signal.SIGTERM, False), ("after kill -9", signal.SIGKILL, False),
                                ("clean, cold cache", signal.SIGTERM, True)]:
        if is_cold and os.geteuid() != 0:
            continue
        secs, memory = [], []
        for _ in range(options.rounds):
            server = Server(options)
            headers = server.key()
            for number in range(50):
                params = {"type": "channel", "to": CHANNELS[options.by], "topic": "tail", "content": f"message {number}"}
                server.call("POST", "/api/v1/messages", params, headers)
            server.stop(kind)
            if is_cold:
                os.sync()
                with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
                    file.write("3")
            server = Server(options)
            secs.append(server.start_secs)
            time.sleep(10)
            memory.append(server.resident_mb())
            server.stop(kind)
        print(f"start {name}: {statistics.median(secs) * 1000:.0f} ms (at most {max(secs) * 1000:.0f}), "
              f"{statistics.median(memory):.0f} MB resident", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--by", choices=["sends", "import"], default="sends")
    parser.add_argument("--lone", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the data goes (a temporary folder)")
    options = parser.parse_args()
    options.target = os.path.abspath(options.target)
    options.folder = tempfile.mkdtemp(prefix="millstream-folder-", dir=options.folder)
    try:
        begun = time.monotonic()
        {"sends": fill_by_sends, "import": fill_by_import}[options.by](options)
        print(f"{options.messages:,} messages by {options.by} in {time.monotonic() - begun:.0f} s", flush=True)
        measure_disk(options)
        measure_starts(options)
        measure_lone_sends(options)
    finally:
        shutil.rmtree(options.folder)


if __name__ == "__main__":
    main()
