"""The clients: each sends, polls its event queue, and reads, by HTTP only, and writes down what it saw.

A client stays with its node until that node fails it, and then goes on to the next one, as behind a load balancer. A send is never
repeated: its text is unique, so one whose answer did not come may be there once, and the checker knows.
"""

import asyncio
import json
import random
import time

from connection import Connection, NoAnswer, NotSent
from history import REFUSED, STORED, UNKNOWN, UNSENT, Failure, History, Queue, Read, Send

CHANNEL, TOPIC = "load", "load"
POLL_SECS, REQUEST_SECS = 15.0, 5.0
START_SECS = 180
#: Wait of a client whose request has failed before its next one.
PAUSE_SECS = 0.2


class Client:
    """One account with its event queue and three connections: polls, sends and reads do not wait for each other."""

    def __init__(self, load, realm, number, account):
        self.load, self.realm, self.number = load, realm, number
        email, key = account
        self.polls, self.sending, self.reading = (Connection(realm.host, email, key) for _ in range(3))
        self.home = self.at = number % len(load.nodes)
        self.queue, self.last_event = None, -1
        self.sent = 0

    @property
    def node(self):
        return self.load.nodes[self.at]

    def fail(self, what, node, why, was_sent=True):
        """Notes a failed request, and goes on to the next node unless another request of this client did already."""
        now = time.monotonic()
        self.load.history.failures.append(Failure(now, what, self.realm.name, node.name, str(why)[:200], was_sent))
        if self.node is node:
            self.at = (self.at + 1) % len(self.load.nodes)

    async def call(self, what, connection, node, *request, secs=REQUEST_SECS):
        """The body of a success, or None; what it failed with is noted."""
        try:
            status, body = await connection.ask(node.address, *request, secs=secs)
        except NotSent as error:
            return self.fail(what, node, error, was_sent=False)
        except NoAnswer as error:
            return self.fail(what, node, error)
        if status == 200:
            return body
        if body.get("code") == "BAD_EVENT_QUEUE_ID":
            return body
        return self.fail(what, node, f"{status} {body.get('code', '')} {body.get('msg', '')}")

    async def register(self):
        fields = {"event_types": '["message"]', "fetch_event_types": '["message"]', "apply_markdown": "false"}
        while self.queue is None:
            answer = await self.call("register", self.polls, self.node, "POST", "/register", fields, secs=20)
            if answer is None:
                await asyncio.sleep(PAUSE_SECS)
                continue
            self.last_event = answer["last_event_id"]
            self.queue = Queue(self.realm.name, self.number, answer["queue_id"], answer["max_message_id"])
            self.load.history.queues.append(self.queue)

    async def poll(self):
        while True:
            await self.register()
            fields = {"queue_id": self.queue.queue_id, "last_event_id": self.last_event}
            answer = await self.call("poll", self.polls, self.node, "GET", "/events", fields, secs=POLL_SECS)
            if answer is None:
                await asyncio.sleep(PAUSE_SECS)
            elif answer["result"] != "success":
                self.queue.ended_at, self.queue = time.monotonic(), None
            else:
                self.receive(answer["events"])

    def receive(self, events):
        now = time.monotonic()
        for event in events:
            self.last_event = max(self.last_event, event["id"])
            if event["type"] == "message" and event["message"]["subject"] == TOPIC:
                message = event["message"]
                delivery = [event["id"], message["id"], message["content"], event.get("local_message_id"), now]
                self.queue.deliveries.append(delivery)

    async def send(self):
        await asyncio.sleep(random.random() * self.load.interval)
        while not self.load.is_ending:
            started = time.monotonic()
            await self.send_one(self.node, self.sending)
            rest = self.load.interval * random.uniform(0.5, 1.5) - (time.monotonic() - started)
            await asyncio.sleep(max(rest, 0 if self.load.interval < 0.1 else 0.01))

    async def send_one(self, node, connection, secs=REQUEST_SECS):
        """One message. Only a refusal by the server itself (4xx) says that it is not there."""
        queue_id = self.queue.queue_id if self.queue else ""
        self.sent += 1
        text = f"{self.realm.name}.{self.number}.{self.sent}"
        send = Send(self.realm.name, self.number, text, node.name, time.monotonic(), queue_id)
        self.load.history.sends.append(send)
        fields = {"type": "channel", "to": CHANNEL, "topic": TOPIC, "content": text}
        if queue_id:
            fields.update(queue_id=queue_id, local_id=text)
        try:
            status, body = await connection.ask(node.address, "POST", "/messages", fields, secs=secs)
        except (NotSent, NoAnswer) as error:
            send.ended, send.why = time.monotonic(), str(error)
            send.outcome = UNSENT if isinstance(error, NotSent) else UNKNOWN
            self.fail("send", node, error, was_sent=send.outcome != UNSENT)
            return await asyncio.sleep(PAUSE_SECS)
        send.ended = time.monotonic()
        if status == 200:
            send.outcome, send.message_id = STORED, body["id"]
            return None
        send.outcome = REFUSED if 400 <= status < 500 else UNKNOWN
        send.why = f"{status} {body.get('code', '')} {body.get('msg', '')}"
        self.fail("send", node, send.why)
        return await asyncio.sleep(PAUSE_SECS)

    async def read(self):
        """Reads at a random node: a former owner would answer with old messages."""
        while True:
            await asyncio.sleep(self.load.read_interval * random.uniform(0.5, 1.5))
            nodes = [node for node in self.load.nodes if node is not self.load.taken_out]
            await self.read_one(random.choice(nodes), self.reading)

    async def read_one(self, node, connection, secs=REQUEST_SECS):
        narrow = json.dumps([["channel", CHANNEL], ["topic", TOPIC]])
        fields = {"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow, "apply_markdown": "false"}
        started = time.monotonic()
        answer = await self.call("read", connection, node, "GET", "/messages", fields, secs=secs)
        if answer is not None:
            newest = max((message["id"] for message in answer["messages"]), default=0)
            self.load.history.reads.append(Read(self.realm.name, node.name, started, time.monotonic(), newest))

    def close(self):
        for connection in (self.polls, self.sending, self.reading):
            connection.close()


class Load:
    """All clients. `realms` have `name`, `host` and `accounts`; `nodes` have `name` and `address`."""

    def __init__(self, realms, nodes, sends_per_sec, reads_per_sec):
        self.nodes, self.history = nodes, History()
        self.clients = [
            Client(self, realm, number, account)
            for realm in realms for number, account in enumerate(realm.accounts)
        ]
        self.realms = realms
        #: A node to which nothing is sent, because it is about to be stopped.
        self.taken_out = None
        self.interval = len(self.clients) / sends_per_sec
        self.read_interval = len(self.clients) / reads_per_sec
        self.is_ending, self.longest_pause = False, 0.0
        self.tasks, self.pollers = [], []

    async def start(self):
        """Returns when every client has its queue, or raises TimeoutError."""
        async with asyncio.timeout(START_SECS):
            for batch in range(0, len(self.clients), 20):
                await asyncio.gather(*(client.register() for client in self.clients[batch : batch + 20]))
        self.pollers = [asyncio.create_task(client.poll()) for client in self.clients]
        for client in self.clients:
            self.tasks += [asyncio.create_task(client.send(), name="send"), asyncio.create_task(client.read())]
        self.tasks.append(asyncio.create_task(self.watch_pauses()))

    async def watch_pauses(self):
        """The longest time that this program itself did nothing: no wait is measured finer than that."""
        while True:
            started = time.monotonic()
            await asyncio.sleep(0.02)
            self.longest_pause = max(self.longest_pause, time.monotonic() - started - 0.02)

    def take_out(self, node):
        """Sends the clients of a node to the next one, as a load balancer does before the node is stopped."""
        self.taken_out = node
        for client in self.clients:
            if client.node is node:
                client.at = (client.at + 1) % len(self.nodes)

    def return_home(self):
        """Spreads the clients over all nodes again after a fault."""
        self.taken_out = None
        for client in self.clients:
            client.at = client.home

    async def stop(self, secs=60):
        """Ends the sends, reads what is stored, and lets the queues deliver the rest."""
        self.is_ending = True
        sends = [task for task in self.tasks if task.get_name() == "send"]
        await asyncio.wait(sends, timeout=REQUEST_SECS + 5)
        await cancel(self.tasks)
        self.raise_failures()
        deadline = time.monotonic() + secs
        # A request that its client gave up may be carried out late: what is there must stay the same while queues are polled.
        before = None
        while before != self.history.stored:
            before = dict(self.history.stored)
            for realm in self.realms:
                self.history.stored[realm.name] = await self.stored_in(realm)
            while time.monotonic() < deadline and not all(map(self.has_all, self.clients)):
                await asyncio.sleep(0.1)
        await cancel(self.pollers)
        for client in self.clients:
            client.close()

    def raise_failures(self):
        """A mistake in a client must not pass for silence."""
        for task in [*self.tasks, *self.pollers]:
            if task.done() and not task.cancelled() and task.exception():
                raise task.exception()

    def has_all(self, client):
        stored = self.history.stored[client.realm.name]
        newest = max((number for number, _ in stored), default=0)
        if client.queue is None:
            return False
        delivered = client.queue.deliveries[-1][1] if client.queue.deliveries else client.queue.after
        return max(delivered, client.queue.after) >= newest

    async def stored_in(self, realm):
        """All messages of an organization's topic, oldest first, from any node that answers."""
        email, key = realm.accounts[0]
        connection, found, anchor, tries = Connection(realm.host, email, key), [], "oldest", 0
        narrow = json.dumps([["channel", CHANNEL], ["topic", TOPIC]])
        while True:
            fields = {"anchor": anchor, "num_before": 0, "num_after": 1000, "narrow": narrow, "apply_markdown": "false"}
            fields["include_anchor"] = "true" if anchor == "oldest" else "false"
            node = self.nodes[tries % len(self.nodes)]
            try:
                status, body = await connection.ask(node.address, "GET", "/messages", fields, secs=30)
            except (NotSent, NoAnswer) as error:
                status, body = 0, {"msg": str(error)}
            if status != 200:
                tries += 1
                if tries > 60:
                    raise RuntimeError(f"{realm.name} cannot be read: {status} {body}")
                await asyncio.sleep(1)
                continue
            found += [[message["id"], message["content"]] for message in body["messages"]]
            if body["found_newest"]:
                connection.close()
                return found
            anchor = found[-1][0]


async def cancel(tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
