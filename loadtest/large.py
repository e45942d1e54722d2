#!/usr/bin/env python3
"""CPU time of the server for what is large: registrations, mentions of everyone, changes that all may see, narrows by sender.

    python3 loadtest/large.py PATH_TO_MILLSTREAM [--people 9000] [--channels 1000] [--messages 1000000] [--rounds 100]

Starts `millstream dev` with an organization of so many people and channels, and measures, each alone:

- `POST /register` with the whole state, with `include_subscribers` of `false`, `partial` and `true`, when nothing changes in between;
- a message with `@**all**` to a channel that all have, against one without;
- a change of one subscription to that channel, and a new account;
- `GET /messages` with a narrow by sender around random anchors, in a channel that 256 people have filled.
"""

import argparse
import http.client
import itertools
import json
import os
import random
import sys
import tempfile
import threading
import time
import urllib.parse
from base64 import b64encode

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import first_page  # noqa: E402

SENDERS = 256
WORDS = "the mill stream turns wheel stone grain water flour morning evening sluice gate oak iron belt".split()


class Client:
    def __init__(self, ready, user):
        self.connection = http.client.HTTPConnection("127.0.0.1", ready["port"], timeout=600)
        self.headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Authorization": "Basic " + b64encode(f"{user['email']}:{user['api_key']}".encode()).decode(),
        }

    def ask(self, method, path, params=None):
        text = urllib.parse.urlencode(params or {})
        if method == "GET":
            path, text = f"{path}?{text}", None
        self.connection.request(method, "/api/v1" + path, text, self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body[:500]
        return body


def seed(folder, people, channels):
    """The first channel is everyone's; each other one has twenty people."""
    emails = [f"person{number}@zulip.com" for number in range(people)]
    users = [{"email": first_page.OWNER, "full_name": "Desdemona", "role": "owner"}]
    users += [{"email": email, "full_name": f"Person Number {number}"} for number, email in enumerate(emails)]
    rooms = [{"name": "channel 0", "subscribers": "everyone"}]
    for number in range(1, channels):
        start = number * 20 % max(people - 20, 1)
        rooms.append({"name": f"channel {number}", "subscribers": [first_page.OWNER, *emails[start:start + 20]]})
    path = folder + "/seed.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "Acme", "email_domain": "zulip.com", "creator": first_page.OWNER, "users": users, "channels": rooms}, file)
    return path


def cost(pid, rounds, action):
    """Milliseconds of CPU for each round, and the median time."""
    action()
    before, times = first_page.cpu_secs(pid), []
    for _ in range(rounds):
        begun = time.monotonic()
        action()
        times.append(time.monotonic() - begun)
    spent = (first_page.cpu_secs(pid) - before) / rounds
    return f"{spent * 1000:.2f} ms of CPU, p50 {sorted(times)[rounds // 2] * 1000:.2f} ms"


def registers(client, pid, rounds):
    for subscribers in ("false", "partial", "true"):
        sizes = []

        def register():
            body = client.ask("POST", "/register", {"include_subscribers": subscribers, "client_gravatar": "true",
                                                    "slim_presence": "true", "apply_markdown": "true"})
            sizes.append(len(body))
            queue = json.loads(body)["queue_id"] if len(sizes) % 10 == 0 else body.split(b'"queue_id":"', 1)[1].split(b'"', 1)[0].decode()
            client.ask("DELETE", "/events", {"queue_id": queue})

        print(f"register, include_subscribers={subscribers}: {cost(pid, rounds, register)}, {sizes[-1] // 1000} kB")


def mentions(client, pid, rounds):
    for content in ("good morning", "good morning @**all**"):
        def send():
            client.ask("POST", "/messages", {"type": "channel", "to": "channel 0", "topic": "morning", "content": content})
            # What follows a message is not waited for.
            time.sleep(0.02)
        print(f"a message to everyone, {content!r}: {cost(pid, rounds, send)} (20 ms of it waited)")


def changes(client, pid, rounds):
    """Changes of one subscription, which all people of the channel may see, and new accounts."""
    def resubscribe():
        client.ask("DELETE", "/users/me/subscriptions", {"subscriptions": '["channel 0"]'})
        client.ask("POST", "/users/me/subscriptions", {"subscriptions": '[{"name": "channel 0"}]'})

    numbers = itertools.count()

    def create():
        client.ask("POST", "/bots", {"full_name": f"Bot {next(numbers)}", "short_name": f"bot{next(numbers)}", "bot_type": 1})

    print(f"one person leaves the channel of everyone and returns: {cost(pid, rounds, resubscribe)}")
    print(f"a new bot: {cost(pid, rounds, create)}")


def fill(ready, people, messages):
    """Sends from 16 connections, of 256 people in random order."""
    def send(start):
        clients = [Client(ready, user) for user in people[start::16]]
        rng = random.Random(start)
        for number in range(start, messages, 16):
            words = " ".join(rng.choice(WORDS) for _ in range(20))
            rng.choice(clients).ask("POST", "/messages", {"type": "channel", "to": "channel 1", "topic": f"topic {number % 500}", "content": words})
    threads = [threading.Thread(target=send, args=(start,)) for start in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def narrows(client, pid, rounds, sender, newest):
    rng = random.Random(1)
    for name, narrow in (("sender", [{"operator": "sender", "operand": sender}]),
                         ("sender and channel", [{"operator": "channel", "operand": "channel 1"}, {"operator": "sender", "operand": sender}])):
        for size in (1, 50):
            def fetch():
                client.ask("GET", "/messages", {"anchor": rng.randrange(1, newest), "num_before": size, "num_after": size,
                                                "narrow": json.dumps(narrow)})
            print(f"narrow by {name}, {size} before and after a random anchor: {cost(pid, rounds, fetch)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--people", type=int, default=9000)
    parser.add_argument("--channels", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="millstream-large-") as folder:
        binary = os.path.abspath(options.binary)
        begun = time.monotonic()
        process, ready = first_page.start(binary, folder, "--seed", seed(folder, options.people, options.channels))
        print(f"{options.people} people and {options.channels} channels after {time.monotonic() - begun:.1f} s")
        try:
            users = {user["email"]: user for user in ready["users"]}
            owner = Client(ready, users[first_page.OWNER])
            time.sleep(3)
            registers(owner, process.pid, options.rounds)
            mentions(owner, process.pid, options.rounds)
            changes(owner, process.pid, min(options.rounds, 100))
            if options.messages:
                senders = [users[f"person{20 + number % 20}@zulip.com"] for number in range(SENDERS)]
                begun = time.monotonic()
                fill(ready, senders, options.messages)
                print(f"{options.messages} messages after {time.monotonic() - begun:.0f} s")
                newest = json.loads(owner.ask("GET", "/messages", {"anchor": "newest", "num_before": 1, "num_after": 0}))["messages"][0]["id"]
                time.sleep(3)
                narrows(owner, process.pid, options.rounds, "person25@zulip.com", newest)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
