"""Bytes of the journal for a message of 200 characters, before and after compaction, and the CPU that compaction takes.

    python3 loadtest/archive.py PATH_TO_MILLSTREAM [MESSAGES]

Starts `millstream dev` twice on a folder of its own, with segments of 1 MiB: first without compaction, to send messages from
many connections at once and then the same number one after the other; then with compaction, until nothing is left to compact.
"""

import base64
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

SENDER = "iago@zulip.com"
SEGMENT_BYTES = 1 << 20
WORDS = """the a and for release build server client message is was tomorrow deploy review test branch merge please look at why
failed works again coffee meeting minutes draft number five seven question answer thanks maybe later today staging production
latency memory disk journal index search token user channel topic design color green red schedule invoice contract""".split()


def text():
    words = []
    while sum(map(len, words)) + len(words) < 200:
        words.append(random.choice(WORDS) if random.random() < 0.9 else f"{random.getrandbits(32):x}")
    return " ".join(words)[:200]


class Client:
    def __init__(self, netloc):
        self.connection = http.client.HTTPConnection(netloc, timeout=120)
        self.headers = {"Content-Type": "application/x-www-form-urlencoded"}
        key = self.post("dev_fetch_api_key", {"username": SENDER})["api_key"]
        self.headers["Authorization"] = "Basic " + base64.b64encode(f"{SENDER}:{key}".encode()).decode()

    def post(self, path, params):
        self.connection.request("POST", "/api/v1/" + path, urllib.parse.urlencode(params), self.headers)
        answer = self.connection.getresponse()
        body = answer.read().decode()
        assert answer.status == 200, body
        return json.loads(body)

    def send(self, count):
        for number in range(count):
            topic = f"topic {number % 50}"
            self.post("messages", {"type": "channel", "to": "Verona", "topic": topic, "content": text()})


class Server:
    def __init__(self, binary, folder, compact_bytes_per_sec):
        config = folder + "/millstream.toml"
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"[storage]\nsegment_bytes = {SEGMENT_BYTES}\ncompact_bytes_per_sec = {compact_bytes_per_sec}\n")
        self.journal = folder + "/data/journal/shard-000"
        command = [binary, "dev", "--listen", "127.0.0.1:0", "--data", folder + "/data", "--config", config]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = self.process.stdout
        self.netloc = next(found.group(1) for line in lines if (found := re.search(r"http://([0-9.]+:[0-9]+)", line)))
        threading.Thread(target=lines.read, daemon=True).start()

    def cpu_secs(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def parts(self):
        """Bytes of segments and of archives by number."""
        segments, archives = {}, {}
        for name in os.listdir(self.journal):
            kind = {".seg": segments, ".arc": archives}.get(name[10:])
            if kind is not None:
                kind[int(name[:10])] = os.path.getsize(f"{self.journal}/{name}")
        return segments, archives

    def stop(self):
        self.process.terminate()
        self.process.wait()


def fill(server, count, threads):
    """Sends messages. Returns the numbers of the segments that have only these."""
    first = max(server.parts()[0])
    senders = [threading.Thread(target=Client(server.netloc).send, args=(count // threads,)) for _ in range(threads)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    # The last two: the active one and the one in reserve.
    return [number for number in sorted(server.parts()[0]) if number > first][:-2]


def main():
    binary = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    folder = tempfile.mkdtemp(prefix="millstream-archive-")
    try:
        server = Server(binary, folder, 0)
        kinds = {}
        for name, threads, messages in [("batched", 16, 8 * count), ("one at a time", 1, count)]:
            frames = metric(server, "millstream_journal_frames_total")
            written = metric(server, "millstream_journal_bytes_total")
            numbers = fill(server, messages, threads)
            if not numbers:
                sys.exit(f"{messages} messages ({name}) fill no segment of {SEGMENT_BYTES >> 20} MiB to compact: give more MESSAGES.")
            frames = metric(server, "millstream_journal_frames_total") - frames
            written = metric(server, "millstream_journal_bytes_total") - written
            # The frames in whole segments of this kind.
            kinds[name] = (numbers, frames * min(1, len(numbers) * SEGMENT_BYTES / written))
        server.stop()
        server = Server(binary, folder, 16 << 20)
        started, idle = time.monotonic(), server.cpu_secs()
        while len(server.parts()[1]) < max(kinds["one at a time"][0]) - 1 and time.monotonic() - started < 600:
            time.sleep(0.5)
        spent = server.cpu_secs() - idle
        segments, archives = server.parts()
        for name, (numbers, frames) in kinds.items():
            done = [number for number in numbers if number in archives]
            before, after = len(done) * SEGMENT_BYTES, sum(archives[number] for number in done)
            per_frame = frames * len(done) / max(1, len(numbers))
            print(f"{name}: {before / per_frame:.0f} bytes a message before, {after / per_frame:.0f} after ({before / after:.1f} x)")
        megabytes = sum(segments.get(number, SEGMENT_BYTES) for number in archives) / 1e6
        print(f"{megabytes:.0f} MB compacted, {spent / megabytes * 1000:.1f} ms of CPU for a MB (the idle server's included)")
    finally:
        server.stop()
        shutil.rmtree(folder)


def metric(server, name):
    """The value of a counter."""
    connection = http.client.HTTPConnection(server.netloc, timeout=60)
    connection.request("GET", "/metrics")
    found = re.search(rf"^{name} ([0-9.e+]+)$", connection.getresponse().read().decode(), re.MULTILINE)
    return float(found.group(1)) if found else 0.0


if __name__ == "__main__":
    main()
