#!/usr/bin/env python3
"""How fast a restored folder starts, with the checkpoint of the backup and without it.

Imports a made-up organization (see import.py), makes a backup, restores it twice, and starts a server on each folder:

    loadtest/restore.py [--binary target/release/millstream] [--messages 300000] [--people 10] [--folder DIR]

Prints seconds and CPU time from exec to the first response, and until the oldest message of a channel can be read.
"""

import argparse
import base64
import http.client
import importlib
import os
import re
import shutil
import subprocess
import tempfile
import time

made = importlib.import_module("import")


def run(command):
    started = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def cpu_secs(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(netloc, path, key):
    connection = http.client.HTTPConnection(netloc, timeout=600)
    token = base64.b64encode(f"u11@load.example:{key}".encode()).decode()
    connection.request("GET", path, headers={"Authorization": "Basic " + token})
    answer = connection.getresponse()
    body = answer.read().decode()
    return answer.status, body


def serve(options, data, environment):
    command = [options.binary, "serve", "--data", data, "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **environment}
    )
    netloc = next(found.group(1) for line in process.stdout if (found := re.search(r"http://([0-9.]+:[0-9]+)", line)))
    return process, netloc


def write_checkpoint(options, data):
    """An import is few changes, after which no checkpoint is due yet."""
    process, _ = serve(options, data, {"MILLSTREAM_STORAGE_CHECKPOINT_FRAMES": "1"})
    process.terminate()
    process.wait()


def measure(what, options, data, key):
    started = time.monotonic()
    process, netloc = serve(options, data, {})
    status, body = ask(netloc, "/api/v1/users/me", key)
    assert status == 200, body
    first, cpu = time.monotonic() - started, cpu_secs(process)
    refused = 0
    while (answer := ask(netloc, "/api/v1/messages?anchor=oldest&num_before=0&num_after=5", key))[0] != 200:
        assert answer[0] == 503, answer
        refused += 1
        time.sleep(0.2)
    print(
        f"{what}: first response after {first:.2f} s (CPU {cpu:.2f} s), oldest messages after "
        f"{time.monotonic() - started:.1f} s (CPU {cpu_secs(process):.1f} s), {refused} requests answered with 503 before",
        flush=True,
    )
    process.terminate()
    process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--binary", default="target/release/millstream")
    parser.add_argument("--messages", type=int, default=300_000)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--length", type=int, default=200)
    parser.add_argument("--folder", help="where the files are made (default: a temporary folder)")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="millstream-restore-", dir=options.folder)
    try:
        source, data, backups = f"{work}/export", f"{work}/data", f"{work}/backups"
        os.mkdir(source)
        made.make(source, options)
        run([options.binary, "import", "zulip", source, "--data", data])
        listed = subprocess.run(
            [options.binary, "user", "api-key", "--email", "u11@load.example", "--data", data],
            check=True, capture_output=True, text=True,
        )
        write_checkpoint(options, data)
        key = re.search(r"\b\w{32}\b", listed.stdout).group(0)
        print(f"{options.messages:,} messages; load {os.getloadavg()[0]:.1f}")
        print(f"backup: {run([options.binary, 'backup', '--data', data, '--to', backups]):.1f} s")
        for what in ["with checkpoint", "without"]:
            restored = f"{work}/restored"
            took = run([options.binary, "restore", "--from", backups, "--data", restored])
            if what == "without":
                shutil.rmtree(f"{restored}/checkpoints")
            else:
                assert os.path.exists(f"{restored}/checkpoints"), "the backup has no checkpoint"
            print(f"restore: {took:.1f} s")
            measure(what, options, restored, key)
            shutil.rmtree(restored)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
