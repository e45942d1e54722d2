#!/usr/bin/env python3
"""How long others wait while an account with many channels searches for phrases.

    python3 loadtest/phrases.py PATH_TO_MILLSTREAM [--channels 2000] [--messages 5000] [--searches 20]

Starts `millstream dev` with an organization of so many channels, to all of which the owner is subscribed, and with messages of other people in them
that have the words of a phrase, but not the phrase: a search reads all of them. Measures `GET /users/me` of another account, one call after the
other, first alone and then while the owner searches; and the CPU time of a search.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import first_page  # noqa: E402
from large import Client  # noqa: E402

OTHER = "person@zulip.com"


def seed(folder):
    users = [{"email": first_page.OWNER, "full_name": "Desdemona", "role": "owner"}, {"email": OTHER, "full_name": "Person"}]
    path = folder + "/seed.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "Acme", "email_domain": "zulip.com", "creator": first_page.OWNER, "users": users}, file)
    return path


def subscribe(owner, channels, people):
    """Creates channels with these people."""
    for start in range(0, channels, 500):
        names = [{"name": f"channel {number}"} for number in range(start, min(start + 500, channels))]
        owner.ask("POST", "/users/me/subscriptions", {"subscriptions": json.dumps(names), "principals": json.dumps(people), "announce": "false"})


def waits(client, is_done):
    """Seconds of each call until `is_done` says so, sorted."""
    times = []
    while not is_done(times):
        begun = time.monotonic()
        client.ask("GET", "/users/me")
        times.append(time.monotonic() - begun)
    return sorted(times)


def shown(times):
    at = lambda part: times[min(int(len(times) * part), len(times) - 1)] * 1000
    return f"p50 {at(0.5):.2f}, p99 {at(0.99):.2f}, longest {times[-1] * 1000:.1f} ms of {len(times)} calls"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--channels", type=int, default=2000)
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--searches", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="millstream-phrases-") as folder:
        process, ready = first_page.start(os.path.abspath(options.binary), folder, "--seed", seed(folder))
        try:
            users = {user["email"]: user for user in ready["users"]}
            other = Client(ready, users[OTHER])
            subscribe(Client(ready, users[first_page.OWNER]), options.channels, [first_page.OWNER, OTHER])
            for number in range(options.messages):
                other.ask("POST", "/messages", {"type": "channel", "to": f"channel {number * 7 % options.channels}", "topic": "mill",
                                                "content": f"grain of the mill {number} and water"})
            time.sleep(3)
            print(f"{options.channels} channels; others alone: {shown(waits(other, lambda times: len(times) == 2000))}")
            done = threading.Event()

            def search():
                try:
                    searches()
                finally:
                    done.set()

            def searches():
                owner = Client(ready, users[first_page.OWNER])
                for anchor in ["newest", "first_unread"] * (options.searches // 2):
                    owner.ask("GET", "/messages", {"anchor": anchor, "num_before": 50, "num_after": 0,
                                                   "narrow": json.dumps([{"operator": "search", "operand": '"mill water"'}])})

            searching = threading.Thread(target=search)
            before, begun = first_page.cpu_secs(process.pid), time.monotonic()
            searching.start()
            times = waits(other, lambda _: done.is_set())
            searching.join()
            spent, took = first_page.cpu_secs(process.pid) - before, time.monotonic() - begun
            print(f"others beside {options.searches} searches, one after the other: {shown(times)}")
            print(f"a search took {took / options.searches * 1000:.0f} ms; CPU of it and of the calls beside it {spent / options.searches * 1000:.0f} ms")
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
