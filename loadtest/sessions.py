"""CPU time of the server for clients that poll, with API keys and with the sessions of browsers.

    python3 loadtest/sessions.py PATH_TO_MILLSTREAM [PEOPLE] [MESSAGES]

Starts `millstream dev` on a folder of its own and seeds it with people in one channel. Each has one connection with a waiting poll;
a message wakes all of them, and they poll again. Rounds with keys and with sessions alternate, so that other load on the
machine falls on both. Prints the CPU time for each poll of both, and the ratio.
"""

import asyncio
import base64
import json
import shutil
import statistics
import sys
import tempfile
import urllib.parse

from first_page import Client, OWNER, cpu_secs, log_in, seed, start

ROUNDS = 6


class Poller:
    """A person with a queue, and one connection."""

    def __init__(self, netloc, headers, prefix):
        self.host, self.port = netloc.split(":")
        self.head = f"Host: {netloc}\r\n{headers}"
        self.prefix, self.queue, self.last = prefix, None, -1

    async def ask(self, method, path, body=""):
        kind = "Content-Type: application/x-www-form-urlencoded\r\n" if body else ""
        request = f"{method} {self.prefix}{path} HTTP/1.1\r\n{self.head}{kind}Content-Length: {len(body)}\r\n\r\n{body}"
        self.writer.write(request.encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        if "content-length:" in head:
            text = await self.reader.readexactly(int(head.split("content-length:")[1].split("\r\n")[0]))
        else:
            text = b""
            while size := int((await self.reader.readline()).strip(), 16):
                text += await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
        answer = json.loads(text)
        assert answer["result"] == "success", answer
        return answer

    async def register(self):
        self.reader, self.writer = await asyncio.open_connection(self.host, int(self.port), limit=1 << 22)
        fields = {"event_types": '["message"]', "fetch_event_types": "[]"}
        answer = await self.ask("POST", "/register", urllib.parse.urlencode(fields))
        self.queue, self.last = answer["queue_id"], answer["last_event_id"]

    async def receive(self, messages):
        """Polls until so many messages have come; the number of polls."""
        polls = 0
        while messages > 0:
            answer = await self.ask("GET", f"/events?queue_id={self.queue}&last_event_id={self.last}")
            polls += 1
            for event in answer["events"]:
                self.last = max(self.last, event["id"])
                messages -= event["type"] == "message"
        return polls


def credentials(netloc, users):
    """For each person the headers of a key, and those of a session."""
    keys, sessions = [], []
    for user in users:
        pair = f"{user['email']}:{user['api_key']}"
        keys.append("Authorization: Basic " + base64.b64encode(pair.encode()).decode() + "\r\n")
        browser = log_in(netloc, user["email"])
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        sessions.append(f"Cookie: {cookies}\r\nX-CSRFToken: {browser.cookies['csrftoken']}\r\n")
        browser.connection.close()
    return keys, sessions


async def spent_by(owner, pid, pollers, messages):
    """CPU time of the server for each poll, in seconds."""
    waiting = [asyncio.create_task(poller.receive(messages)) for poller in pollers]
    await asyncio.sleep(0.5)
    before = cpu_secs(pid)
    fields = {"type": "stream", "to": "channel 0", "topic": "t", "content": "hello"}
    for _ in range(messages):
        await asyncio.to_thread(owner.post, "/api/v1/messages", fields)
        await asyncio.sleep(0.2)
    polls = sum(await asyncio.gather(*waiting))
    return (cpu_secs(pid) - before) / polls


async def measure(ready, pid, people, messages):
    netloc = ready["url"].removeprefix("http://")
    owner = Client(netloc)
    owner.key = next(user["api_key"] for user in ready["users"] if user["email"] == OWNER)
    polling = [user for user in ready["users"] if user["email"].startswith("person")]
    keys, sessions = await asyncio.to_thread(credentials, netloc, polling)
    spent = {"keys": [], "sessions": []}
    for number in range(ROUNDS):
        # Which comes first alternates, too. Only one kind is connected at a time: the other has no queues.
        order = ["keys", "sessions"] if number % 2 == 0 else ["sessions", "keys"]
        for kind in order:
            headers, prefix = (keys, "/api/v1") if kind == "keys" else (sessions, "/json")
            pollers = [Poller(netloc, one, prefix) for one in headers]
            for poller in pollers:
                await poller.register()
            spent[kind].append(await spent_by(owner, pid, pollers, messages))
            for poller in pollers:
                await poller.ask("DELETE", "/events", f"queue_id={poller.queue}")
                poller.writer.close()
    if min(spent["keys"]) == 0:
        sys.exit("A round used less CPU time than can be read (10 ms): give more PEOPLE or MESSAGES.")
    for kind, all_spent in spent.items():
        print(f"{kind}: {statistics.median(all_spent) * 1e6:.1f} µs of server CPU a poll, {people} at once")
    ratios = [with_session / with_key for with_session, with_key in zip(spent["sessions"], spent["keys"])]
    print(f"sessions / keys: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def main():
    binary = sys.argv[1]
    people = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    messages = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    if people < 1 or messages < 1:
        sys.exit("PEOPLE and MESSAGES must be 1 or more.")
    folder = tempfile.mkdtemp(prefix="millstream-sessions-")
    process, ready = start(binary, folder, "--seed", seed(folder, people))
    try:
        asyncio.run(measure(ready, process.pid, people, messages))
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
