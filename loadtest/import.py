#!/usr/bin/env python3
"""Rate and memory of `import zulip` and `export`.

Writes an export of a made-up organization, imports it into a new data folder and exports it again, each as a process of its own:

    loadtest/import.py [--binary target/release/millstream] [--messages 500000] [--people 50] [--length 200] [--folder DIR]

Prints messages and bytes a second, CPU time and the largest resident memory of each step, and the bytes of the data folder.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import tempfile
import time

WORDS = (
    "tea kettle harbour river window engine paper garden signal bridge copper letter morning planet silver "
    "market thunder velvet puzzle anchor lantern meadow rocket ticket violet walnut yellow zebra cloud "
    "forest guitar hammer island jacket kitchen ladder magnet needle orange pencil quartz ribbon salmon"
).split()
FILE_MESSAGES = 1000


def text(rng, length):
    """Words of about so many characters, with some Markdown."""
    words = []
    while sum(map(len, words)) + len(words) < length:
        words.append(rng.choice(WORDS))
    kind = rng.randrange(10)
    if kind == 0:
        words[0] = f"**{words[0]}**"
    elif kind == 1:
        words[-1] = "https://example.com/" + words[-1]
    elif kind == 2:
        words[len(words) // 2] = ":octopus:"
    return " ".join(words)


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def make(folder, options):
    """An organization of people who are all in ten channels; every message has a row for each of them."""
    rng = random.Random(7)
    people, channels = range(11, 11 + options.people), range(1, 11)
    users = [
        {"id": user, "realm": 2, "delivery_email": f"u{user}@load.example", "email": f"u{user}@load.example",
         "full_name": f"User {user}", "role": 100 if user == 11 else 400, "is_active": True, "is_bot": False,
         "date_joined": 1.6e9, "avatar_source": "G"}
        for user in people
    ]
    streams = [
        {"id": channel, "name": f"channel {channel}", "realm": 2, "date_created": 1.6e9, "recipient": channel,
         "invite_only": False, "history_public_to_subscribers": True, "description": ""}
        for channel in channels
    ]
    recipients = [{"id": channel, "type": 2, "type_id": channel} for channel in channels]
    recipients += [{"id": 100 + user, "type": 1, "type_id": user} for user in people]
    subscriptions = [
        {"user_profile": user, "recipient": channel, "active": True, "color": "#76ce90"}
        for channel in channels for user in people
    ]
    reactions = [
        {"id": number, "user_profile": rng.choice(people), "message": number * 20, "emoji_name": "octopus",
         "emoji_code": "1f419", "reaction_type": "unicode_emoji"}
        for number in range(1, options.messages // 20)
    ]
    write(f"{folder}/realm.json", {
        "zerver_realm": [{"id": 2, "name": "Load", "string_id": "load", "date_created": 1.6e9}],
        "zerver_userprofile": users, "zerver_stream": streams, "zerver_recipient": recipients,
        "zerver_subscription": subscriptions, "zerver_client": [{"id": 1, "name": "load"}],
        "zerver_reaction": reactions,
    })
    write(f"{folder}/attachment.json", {"zerver_attachment": []})
    for number, first in enumerate(range(1, options.messages + 1, FILE_MESSAGES), 1):
        ids = range(first, min(first + FILE_MESSAGES, options.messages + 1))
        messages, rows = [], []
        for message in ids:
            content = text(rng, options.length)
            messages.append({
                "id": message, "sender": rng.choice(people), "recipient": rng.choice(channels), "realm": 2,
                "subject": f"topic {rng.randrange(40)}", "content": content, "rendered_content": f"<p>{content}</p>",
                "date_sent": 1.6e9 + message, "sending_client": 1,
            })
            rows += [{"user_profile": user, "message": message, "flags_mask": 1} for user in people]
        write(f"{folder}/messages-{number:06}.json", {"zerver_message": messages, "zerver_usermessage": rows})


def size(folder):
    return sum(
        os.stat(os.path.join(at, name)).st_blocks * 512 for at, _, names in os.walk(folder) for name in names
    )


def run(what, command, messages, source_bytes):
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    if status:
        raise SystemExit(f"{what} failed with status {status}")
    cpu = usage.ru_utime + usage.ru_stime
    print(
        f"{what}: {seconds:.1f} s, {messages / seconds:,.0f} messages/s, {source_bytes / seconds / 1e6:.0f} MB/s, "
        f"CPU {cpu:.1f} s ({cpu / messages * 1e6:.0f} us a message), at most {usage.ru_maxrss / 1024:.0f} MB resident",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--binary", default="target/release/millstream")
    parser.add_argument("--messages", type=int, default=500_000)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--length", type=int, default=200)
    parser.add_argument("--folder", help="where the files are made (default: a temporary folder)")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="millstream-import-", dir=options.folder)
    try:
        source, data, archive = f"{work}/export", f"{work}/data", f"{work}/again.tar.gz"
        os.mkdir(source)
        make(source, options)
        bytes_in = size(source)
        print(f"{options.messages:,} messages, {options.people} people, {bytes_in / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}")
        run("import", [options.binary, "import", "zulip", source, "--data", data], options.messages, bytes_in)
        stored = size(data)
        print(f"data folder: {stored / 1e6:.0f} MB, {stored / options.messages:.0f} bytes a message")
        run("export", [options.binary, "export", "--to", archive, "--data", data], options.messages, bytes_in)
        print(f"archive: {os.path.getsize(archive) / 1e6:.0f} MB")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
