"""A log whose oldest part was archived and removed from the database: every node loses its folder, and nothing is missing.

The nodes keep a day of changes in the database. Their clocks are set forward by two days, which ends event queues, so this comes
after the load.
"""

import asyncio
import time

from connection import Connection
from load import CHANNEL, TOPIC
from nodes import ids, owners
from processes import ClusterError
from report import Row

SENDS_AT_ONCE = 40
WAIT_SECS = 180
DAYS = 2


async def trim(cluster, load, realm):
    """The rows of the table. Two owners make a checkpoint each, because one makes its next one only after ten minutes."""
    nodes, number = cluster.nodes, ids(cluster.nodes)[realm.name]
    first = owners(nodes)[realm.name]
    others = [node.name for node in nodes if node.name != first]
    await fill(nodes, realm, lambda: nodes[0].checkpoints(number) >= 1)
    nodes[0].command("cluster", "move", realm.name, others[0])
    await fill(nodes, realm, lambda: nodes[0].checkpoints(number) >= 2)
    before = await load.stored_in(realm)
    for node in nodes:
        node.ask("POST", "/dev/clock", {"advance_secs": DAYS * 24 * 3600})
    # To a node that has not tried lately.
    nodes[0].command("cluster", "move", realm.name, others[-1])
    query = f"SELECT coalesce(min(seq), 0) - 1 FROM millstream.realm_log WHERE realm = {number}"
    removed, deadline = 0, time.monotonic() + WAIT_SECS
    while removed <= 0 and time.monotonic() < deadline:
        await asyncio.sleep(0.5)
        removed = int(cluster.database.sql(query, database="millstream"))
    for node in nodes:
        node.process.kill()
        node.wipe()
    for some in (nodes[:1], nodes[1:]):
        for node in some:
            node.start()
        for node in some:
            node.wait_until_ready()
    after = {message for message, _ in await load.stored_in(realm)}
    missing = sum(message not in after for message, _ in before)
    fault = "log trimmed, then all data folders lost"
    yield Row(fault, "frames removed from the database", removed, 1, at_least=True)
    yield Row(fault, "messages", len(before))
    yield Row(fault, "messages that are missing", missing, 0)


async def fill(nodes, realm, is_enough):
    """Sends messages until there is a checkpoint."""
    connection, deadline = Connection(realm.host, *realm.accounts[0]), time.monotonic() + WAIT_SECS
    fields = {"type": "channel", "to": CHANNEL, "topic": TOPIC}
    while not is_enough():
        for count in range(SENDS_AT_ONCE):
            await connection.ask(nodes[0].address, "POST", "/messages", fields | {"content": f"trim {count}"}, secs=30)
        await asyncio.sleep(1)
        if time.monotonic() > deadline:
            raise ClusterError(f"no checkpoint of {realm.name} within {WAIT_SECS} s")
    connection.close()
