"""A server that breaks its promises on purpose, in one way at a time, to show that the checker finds each of them."""

import asyncio
import json
import time
import urllib.parse

from load import TOPIC

#: What the server can do wrong, with the rule of the checker that must find it.
FAULTS = {
    "lose a message": "lost",
    "store a message twice": "doubled",
    "answer another id": "changed id",
    "refuse and store": "refused but there",
    "store what was never sent": "foreign",
    "give a lower id": "order",
    "omit an event": "queue gaps",
    "repeat an event": "queue doubles",
    "swap two events": "queue order",
    "deliver what is not stored": "queue untrue",
    "omit the local id": "local ids",
    "drop a queue": "lost queues",
    "read old messages": "stale reads",
}
#: Every so many messages something goes wrong.
EVERY = 7


class Organization:
    def __init__(self):
        self.messages, self.queues, self.next_id, self.sends = [], {}, 100, 0
        self.changed = asyncio.Condition()

    def newest(self):
        return max((one["id"] for one in self.messages), default=-1)


class FakeServer:
    def __init__(self, fault=None):
        self.fault, self.organizations, self.waiting = fault, {}, set()

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[:2]

    def stop(self):
        self.server.close()
        for task in self.waiting:
            task.cancel()

    async def serve(self, reader, writer):
        self.waiting.add(asyncio.current_task())
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                method, target, _ = head.split(" ", 2)
                fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
                body = (await reader.readexactly(int(fields["Content-Length"]))).decode()
                path, _, query = target.partition("?")
                params = dict(urllib.parse.parse_qsl(body or query))
                realm = self.organizations.setdefault(fields["Host"], Organization())
                status, answer = await self.answer(realm, method, path.removeprefix("/api/v1"), params)
                text = json.dumps({"result": "success" if status == 200 else "error", **answer}).encode()
                writer.write(f"HTTP/1.1 {status} x\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.waiting.discard(asyncio.current_task())
            writer.close()

    async def answer(self, realm, method, path, params):
        if (method, path) == ("POST", "/register"):
            queue_id = f"q{len(realm.queues)}"
            realm.queues[queue_id] = []
            return 200, {"queue_id": queue_id, "last_event_id": -1, "max_message_id": realm.newest()}
        if (method, path) == ("POST", "/messages"):
            return await self.store(realm, params)
        if path == "/events":
            return await self.events(realm, params)
        return 200, self.messages(realm, params)

    async def store(self, realm, params):
        realm.sends += 1
        wrong = self.fault if realm.sends % EVERY == 0 else None
        realm.next_id += 1
        number = realm.next_id
        message = {"id": number, "content": params["content"], "stored": time.monotonic(), "subject": TOPIC}
        if wrong == "give a lower id":
            message["id"] = number = number - 50_000
        if wrong == "store what was never sent":
            realm.messages.append({**message, "id": number - 60_000, "content": f"unknown {number}"})
        if wrong not in ("lose a message", "deliver what is not stored"):
            realm.messages += [message] * (2 if wrong == "store a message twice" else 1)
        if wrong != "lose a message":
            self.announce(realm, message, params, wrong)
        async with realm.changed:
            realm.changed.notify_all()
        if wrong == "refuse and store":
            return 400, {"code": "BAD_REQUEST", "msg": "no"}
        return 200, {"id": number + (1000 if wrong == "answer another id" else 0)}

    def announce(self, realm, message, params, wrong):
        for queue_id, events in realm.queues.items():
            if events is None or (wrong == "omit an event" and queue_id == "q0"):
                continue
            event = {"type": "message", "id": len(events), "message": message}
            if params.get("queue_id") == queue_id and wrong != "omit the local id":
                event["local_message_id"] = params["local_id"]
            events.append(event)
            if wrong == "repeat an event":
                events.append({**event, "id": len(events)})
            if wrong == "swap two events" and len(events) > 1:
                first, second = events[-2]["message"], events[-1]["message"]
                events[-2]["message"], events[-1]["message"] = second, first
        if wrong == "drop a queue":
            realm.queues["q0"] = None

    async def events(self, realm, params):
        last, queue_id = int(params["last_event_id"]), params["queue_id"]
        while True:
            if realm.queues[queue_id] is None:
                return 400, {"code": "BAD_EVENT_QUEUE_ID", "msg": "Bad event queue ID"}
            new = [event for event in realm.queues[queue_id] if event["id"] > last]
            if new or params.get("dont_block"):
                return 200, {"events": new}
            async with realm.changed:
                await realm.changed.wait()

    def messages(self, realm, params):
        found = sorted(realm.messages, key=lambda one: one["id"])
        if params["anchor"] == "newest":
            if self.fault == "read old messages":
                found = [one for one in found if one["stored"] < time.monotonic() - 0.3]
            return {"messages": found[-1:], "found_newest": True}
        return {"messages": found, "found_newest": True}
