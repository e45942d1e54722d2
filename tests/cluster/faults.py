"""The faults, each under the load, with the figures that it must reach.

A fault is a coroutine that gets the `Run`, does its damage, waits until every organization takes messages again, repairs, and
notes its figures. They are computed when the load has ended.
"""

import asyncio
import signal
import time

from checker import accepted_by
from connection import Connection
from history import STORED
from measures import failures, longest_wait, read_outage, send_outage, stored_since
from nodes import ids, owners
from report import Row

#: How long the load runs on after a fault, so that what comes late is seen.
AFTERWARDS_SECS = 2.0
RECOVERY_SECS = 60.0
#: What a takeover may have to read, on average: a standby reads the end of the log while the lease of the owner ends.
TAIL_FRAMES = 5


class Run:
    """A cluster under load. `figures` are functions that make rows of the finished history."""

    def __init__(self, load, nodes, database=None, network=None):
        self.load, self.nodes, self.database, self.network = load, nodes, database, network
        self.realms = [realm.name for realm in load.realms]
        self.figures = []

    async def in_thread(self, function, *arguments):
        return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)

    async def recovered(self, since):
        """Waits until each organization has acknowledged a message that was sent after a time. False if one does not."""
        deadline = time.monotonic() + RECOVERY_SECS
        while time.monotonic() < deadline:
            await asyncio.sleep(0.1)
            self.load.raise_failures()
            if {send.realm for send in stored_since(self.load.history, since)} == set(self.realms):
                return True
        return False

    async def busiest(self):
        """The node that owns most organizations, and their names."""
        owned = await self.in_thread(owners, self.nodes)
        by_node = {node.name: [realm for realm, owner in owned.items() if owner == node.name and realm in self.realms]
                   for node in self.nodes}
        node = max(self.nodes, key=lambda node: len(by_node[node.name]))
        return node, by_node[node.name]

    async def end_phase(self):
        """The end of what is counted for a fault: clients have given up what they sent before the recovery."""
        await asyncio.sleep(AFTERWARDS_SECS)
        return time.monotonic()

    def note(self, make_rows):
        self.figures.append(make_rows)

    def outage_rows(self, fault, times, limit, owned=None, read_limit=None):
        """The rows that all faults have in common. The times are its begin, the recovery, and the end of what is counted."""
        since, recovered, until = times
        realms, history = self.realms, self.load.history

        def rows():
            yield Row(fault, "longest time without a send in an organization", send_outage(history, realms, since, recovered), limit, "s")
            yield Row(fault, "longest time without a read in an organization", read_outage(history, realms, since, recovered), read_limit, "s")
            if owned is not None:
                yield Row(fault, "organizations of the node", len(owned), 1, at_least=True)
            yield Row(fault, "failed requests", len(failures(history, since, until)))

        self.note(rows)


async def calm(run, secs=5.0):
    """No fault: what the others are compared with."""
    since = time.monotonic()
    await asyncio.sleep(secs)
    until, history = time.monotonic(), run.load.history

    def rows():
        sent = [one for one in history.sends if one.outcome == STORED and since <= one.started <= until]
        yield Row("none", "sends", len(sent) / secs, unit="/s")
        yield Row("none", "failed requests", len(failures(history, since, until)), 0)
        yield Row("none", "longest wait of a send", longest_wait(history, since, until), unit="s")

    run.note(rows)


async def kill_node(run):
    """kill -9 of the node that owns most."""
    node, owned = await run.busiest()
    since = time.monotonic()
    node.process.kill()
    await run.recovered(since)
    until = await run.end_phase()
    run.outage_rows("kill -9 of a node", (since, until, until), 10, owned)
    await restart(run, node)


async def restart(run, node):
    node.start()
    await run.in_thread(node.wait_until_ready)
    run.load.return_home()
    await run.recovered(time.monotonic())


async def wipe_node(run):
    """kill -9 of the node that owns most, and its data folder is lost. Others take over what they followed; when it is started
    with an empty folder, it gets an organization back, which it reads from a checkpoint."""
    node, owned = await run.busiest()
    known = await run.in_thread(ids, run.nodes)
    with_checkpoint = []
    deadline = time.monotonic() + RECOVERY_SECS
    while not with_checkpoint and time.monotonic() < deadline:
        await asyncio.sleep(0.5)
        with_checkpoint = [realm for realm in owned if node.checkpoints(known[realm])]
    others, frames = [other for other in run.nodes if other is not node], "millstream_cluster_opened_frames_total"
    before = [await run.in_thread(other.metric, frames) for other in others]
    since = time.monotonic()
    node.process.kill()
    await run.in_thread(node.wipe)
    await run.recovered(since)
    until = await run.end_phase()
    read = sum([await run.in_thread(other.metric, frames) for other in others]) - sum(before)
    fault = "kill -9 of a node, data folder lost"
    run.outage_rows(fault, (since, until, until), 10, owned)
    await restart(run, node)
    for realm in with_checkpoint[:1]:
        await run.in_thread(node.command, "cluster", "move", realm, node.name)
    await run.recovered(time.monotonic())
    loaded = await run.in_thread(node.metric, "millstream_cluster_checkpoints_loaded_total")

    def rows():
        yield Row(fault, "frames read for each organization taken over", read / max(1, len(owned)), TAIL_FRAMES)
        yield Row(fault, "organizations loaded from a checkpoint", loaded, 1, at_least=True)

    run.note(rows)


def one_of_each(run, owned):
    """A client of each of these organizations, with a connection of its own."""
    found = {client.realm.name: client for client in run.load.clients if client.realm.name in owned}
    return [(client, Connection(client.realm.host, *client.realm.accounts[client.number])) for client in found.values()]


async def stop_node(run, secs=30.0):
    """SIGSTOP, then CONT. Sends and reads wait in its sockets, which it takes out when it is an owner no more.

    The sends come before another node has taken over, the reads after it.
    """
    node, owned = await run.busiest()
    senders, readers = one_of_each(run, owned), one_of_each(run, owned)
    for client, connection in senders:
        await client.call("probe", connection, node, "GET", "/users/me")
    since = time.monotonic()
    node.process.signal(signal.SIGSTOP)
    waiting = [asyncio.create_task(client.send_one(node, connection, secs=secs + 30)) for client, connection in senders]
    await run.recovered(since)
    recovered = time.monotonic()
    waiting += [asyncio.create_task(client.read_one(node, connection, secs=secs + 30)) for client, connection in readers]
    await asyncio.sleep(max(0.5, since + secs - time.monotonic()))
    continued = time.monotonic()
    node.process.signal(signal.SIGCONT)
    await asyncio.gather(*waiting)
    await run.recovered(continued)
    until = await run.end_phase()
    name = f"SIGSTOP {secs:.0f} s, then CONT"
    run.outage_rows(name, (since, recovered, until), 10, owned)
    history = run.load.history

    def rows():
        acknowledged, untrue = accepted_by(history, node.name, since, until)
        yield Row(name, "accepted by the old owner and not there", untrue, 0)
        yield Row(name, "acknowledged through the old owner afterwards", acknowledged)
        yield Row(name, "requests that waited in its sockets", len(waiting))
        yield Row(name, "longest time without a send after CONT", send_outage(history, run.realms, continued, until), 10, "s")

    run.note(rows)
    run.load.return_home()


async def kill_host(run, fault, host):
    """PostgreSQL, Patroni and etcd of a host die together."""
    since = time.monotonic()
    await run.in_thread(run.database.kill_host, host)
    await run.recovered(since)
    until = await run.end_phase()
    # Reads go on without the database.
    run.outage_rows(fault, (since, until, until), 30, read_limit=5)
    took = await run.in_thread(run.database.heal, host)
    run.note(lambda: [Row(fault, "until there are three copies again", took, unit="s")])
    run.load.return_home()
    await run.recovered(time.monotonic())


async def kill_database_host(run):
    await kill_host(run, "kill -9 of the primary's host", await run.in_thread(run.database.leader))


async def kill_standby_host(run):
    """A commit waits for this copy until Patroni takes it from the list."""
    await kill_host(run, "kill -9 of a standby's host", await run.in_thread(run.database.standby))


async def kill_postgres(run):
    """Only the primary's PostgreSQL dies."""
    host = await run.in_thread(run.database.leader)
    since = time.monotonic()
    await run.in_thread(run.database.kill_postgres, host)
    await run.recovered(since)
    until = await run.end_phase()
    run.outage_rows("kill -9 of the primary's PostgreSQL", (since, until, until), 30)
    await run.in_thread(run.database.wait_until_healthy, 180)
    run.load.return_home()
    await run.recovered(time.monotonic())


async def cut_network(run, secs=20.0):
    """The owner of most organizations loses the database, but neither its clients nor the other nodes."""
    node, owned = await run.busiest()
    since = time.monotonic()
    await run.in_thread(run.network.cut, node.number)
    await run.recovered(since)
    recovered = time.monotonic()
    await asyncio.sleep(max(0.0, since + secs - time.monotonic()))
    joined = time.monotonic()
    await run.in_thread(run.network.join, node.number)
    await run.recovered(joined)
    until = await run.end_phase()
    fault = "network cut to the database"
    run.outage_rows(fault, (since, recovered, until), 10, owned)
    history = run.load.history

    def rows():
        _, untrue = accepted_by(history, node.name, since, until)
        yield Row(fault, "accepted by the old owner and not there", untrue, 0)

    run.note(rows)
    await run.in_thread(node.wait_until_ready)
    run.load.return_home()
    await run.recovered(time.monotonic())


async def drain_each(run):
    """Each node in turn gives its organizations away and takes some again, without a failed request."""
    for node in run.nodes:
        moved = sum(owner == node.name for owner in (await run.in_thread(owners, run.nodes)).values())
        since = time.monotonic()
        await run.in_thread(node.command, "cluster", "drain", node.name)
        took = time.monotonic() - since
        left = sum(owner == node.name for owner in (await run.in_thread(owners, run.nodes)).values())
        await run.recovered(time.monotonic())
        until = await run.end_phase()
        run.note(drain_rows(run, node, since, until, (moved, left, took)))
        await run.in_thread(node.command, "cluster", "resume", node.name)
        await asyncio.sleep(AFTERWARDS_SECS)


def drain_rows(run, node, since, until, measured):
    moved, left, took = measured
    fault, history = f"drain of {node.name}", run.load.history

    def rows():
        yield Row(fault, "organizations moved away", moved - left, 1, at_least=True)
        yield Row(fault, "organizations left", left, 0)
        yield Row(fault, "failed requests", len(failures(history, since, until)), 0)
        yield Row(fault, "longest wait of a send", longest_wait(history, since, until), 0.5, "s")
        yield Row(fault, "time of the command", took, unit="s")

    return rows


async def kill_and_start(run):
    """For a single server without a database: kill -9, and a start on the same folder."""
    node = run.nodes[0]
    since = time.monotonic()
    node.process.kill()
    node.start()
    await run.recovered(since)
    until = await run.end_phase()
    run.outage_rows("kill -9 and start of the only server", (since, until, until), 10)
