"""Rates and latencies without faults: a send through a node that does not own the organization, and all that the cluster takes.

The senders of the rate are processes of their own with prepared requests, since one Python program would measure itself.
"""

import asyncio
import base64
import json
import multiprocessing
import os
import resource
import selectors
import socket
import time
import urllib.parse

from connection import Connection
from load import CHANNEL
from measures import percentile
from nodes import ClusterError, owners
from report import Row


def message(text):
    return {"type": "channel", "to": CHANNEL, "topic": "rate", "content": text}


async def wrong_node(realms, nodes, sends=400):
    """Alternates between the owner and another node, so that what else the machine does falls on both."""
    owned = owners(nodes)
    by_name = {node.name: number for number, node in enumerate(nodes)}
    spent = {"owner": [], "other": []}
    for realm in realms[:4]:
        number = by_name[owned[realm.name]]
        ways = {"owner": nodes[number], "other": nodes[(number + 1) % len(nodes)]}
        connections = {way: Connection(realm.host, *realm.accounts[0]) for way in ways}
        for count in range(sends // 4 + 10):
            for way, node in ways.items():
                started = time.monotonic()
                fields = message(f"{way} {count}")
                status, body = await connections[way].ask(node.address, "POST", "/messages", fields)
                if status != 200:
                    raise ClusterError(f"send through {node.name}: {status} {body}")
                if count >= 10:
                    spent[way].append((time.monotonic() - started) * 1000)
    for way, values in spent.items():
        yield Row("sends through a wrong node", f"p50 through the {way}", percentile(values, 0.5), unit="ms")
    more = percentile(spent["other"], 0.5) - percentile(spent["owner"], 0.5)
    yield Row("sends through a wrong node", "more at p50", more, 0.5, "ms")


def requests_for(realms):
    """A prepared request of each account."""
    prepared = []
    for realm in realms:
        for email, key in realm.accounts:
            body = urllib.parse.urlencode(message("a message of the measurement of the rate, with some words"))
            token = base64.b64encode(f"{email}:{key}".encode()).decode()
            text = (
                f"POST /api/v1/messages HTTP/1.1\r\nHost: {realm.host}\r\nAuthorization: Basic {token}\r\n"
                f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            )
            prepared.append((realm.name, text.encode()))
    return prepared


def is_complete(answer):
    """Whether an answer with a Content-Length is there as a whole."""
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    return len(body) >= length


def send_for(secs, connections, results):
    """Each connection sends its request again as soon as it is answered. Runs in a process of its own."""
    selector, stored, failed, waits = selectors.DefaultSelector(), {}, 0, []
    for address, realm, text in connections:
        link = socket.create_connection(address, timeout=30)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(link, selectors.EVENT_READ, [realm, text, b"", time.monotonic()])
        link.sendall(text)
    deadline, pending = time.monotonic() + secs, len(connections)
    while pending:
        for key, _ in selector.select(30):
            link, state = key.fileobj, key.data
            received = link.recv(65536)
            state[2] += received
            if received and not is_complete(state[2]):
                continue
            now = time.monotonic()
            if state[2].startswith(b"HTTP/1.1 200"):
                stored[state[0]] = stored.get(state[0], 0) + 1
                waits.append(now - state[3])
            else:
                failed += 1
            if now < deadline and received:
                state[2], state[3] = b"", now
                link.sendall(state[1])
            else:
                selector.unregister(link)
                link.close()
                pending -= 1
    usage = resource.getrusage(resource.RUSAGE_SELF)
    results.put((stored, failed, waits[:: max(1, len(waits) // 10_000)], usage.ru_utime + usage.ru_stime))


def count_messages(realm, nodes):
    """How many messages the channel has, by pages of ids."""
    email, key = realm.accounts[0]

    async def all_pages():
        connection, anchor, count = Connection(realm.host, email, key), "oldest", 0
        while True:
            fields = {"anchor": anchor, "num_before": 0, "num_after": 5000, "include_anchor": "false"}
            fields["narrow"] = json.dumps([["channel", CHANNEL]])
            status, body = await connection.ask(nodes[0].address, "GET", "/messages", fields, secs=60)
            if status != 200:
                raise ClusterError(f"{realm.name} cannot be read: {status} {body}")
            count += len(body["messages"])
            if body["found_newest"]:
                connection.close()
                return count
            anchor = body["messages"][-1]["id"]

    return asyncio.run(all_pages())


def cpu_secs(pids):
    """User and system time of processes."""
    spent = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
                spent += int(fields[11]) + int(fields[12])
        except OSError:
            continue
    return spent / os.sysconf("SC_CLK_TCK")


def aggregate(realms, nodes, secs=10, in_flight=200, senders=2):
    """Sends as fast as they are answered, each to the owner of its organization, and what of them is there afterwards."""
    owned = owners(nodes) if len(nodes) > 1 else {realm.name: nodes[0].name for realm in realms}
    addresses = {node.name: node.address for node in nodes}
    before = {realm.name: count_messages(realm, nodes) for realm in realms}
    prepared = requests_for(realms)
    chosen = [prepared[number % len(prepared)] for number in range(in_flight)]
    connections = [(addresses[owned[name]], name, text) for name, text in chosen]
    context, parts = multiprocessing.get_context("fork"), []
    results = context.Queue()
    node_cpu, started = cpu_secs([node.process.pid for node in nodes]), time.monotonic()
    for number in range(senders):
        parts.append(context.Process(target=send_for, args=(secs, connections[number::senders], results), daemon=True))
        parts[-1].start()
    answers = [results.get(timeout=secs + 60) for _ in parts]
    took = time.monotonic() - started
    node_cpu = cpu_secs([node.process.pid for node in nodes]) - node_cpu
    stored = {}
    for counts, *_ in answers:
        for name, count in counts.items():
            stored[name] = stored.get(name, 0) + count
    total, waits = sum(stored.values()), [wait * 1000 for answer in answers for wait in answer[2]]
    after = {realm.name: count_messages(realm, nodes) for realm in realms}
    wrong = sum(abs(after[name] - before[name] - stored.get(name, 0)) for name in after)
    fault = f"aggregate sends, {in_flight} in flight"
    return [
        Row(fault, "acknowledged", total / took, 5000, "/s", at_least=True),
        Row(fault, "failed", sum(answer[1] for answer in answers), 0),
        Row(fault, "acknowledged and not there, or the other way round", wrong, 0),
        Row(fault, "p50", percentile(waits, 0.5), unit="ms"),
        Row(fault, "p99", percentile(waits, 0.99), unit="ms"),
        Row(fault, "CPU of the nodes a send", node_cpu / max(total, 1) * 1e6, unit="µs"),
        Row(fault, "CPU of the senders a send", sum(answer[3] for answer in answers) / max(total, 1) * 1e6, unit="µs"),
    ]
