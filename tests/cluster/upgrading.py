"""A rolling upgrade under load: every node in turn gets the next build, and then the operator allows its records.

The next build is one with `--features next-records`, which differs in nothing but the version of records that it reads.
"""

import asyncio
import time

from faults import AFTERWARDS_SECS
from measures import failures, longest_wait
from processes import ClusterError
from report import Row

FAULT = "rolling upgrade"
#: How long an older build may take to find that it may not join.
REFUSAL_SECS = 30


async def upgrade_each(run, binary):
    """Drains, stops and replaces one node after the other; no request fails, and `cluster upgrade` waits for the last one."""
    older, refused, since = run.nodes[0].binary, 0, time.monotonic()
    for node in run.nodes:
        await run.in_thread(node.command, "cluster", "drain", node.name)
        run.load.take_out(node)
        await asyncio.sleep(AFTERWARDS_SECS)
        await run.in_thread(node.process.terminate)
        node.use(binary)
        node.start()
        await run.in_thread(node.wait_until_ready)
        await run.in_thread(node.command, "cluster", "resume", node.name)
        run.load.return_home()
        await run.recovered(time.monotonic())
        if node is not run.nodes[-1]:
            refused += await run.in_thread(is_refused, node)
    until = await run.end_phase()
    await run.in_thread(run.nodes[0].command, "cluster", "upgrade")
    joined = await run.in_thread(joins, run.nodes[0], older, binary)
    await run.recovered(time.monotonic())
    history = run.load.history

    def rows():
        yield Row(FAULT, "nodes replaced", len(run.nodes), len(run.nodes), at_least=True)
        yield Row(FAULT, "failed requests", len(failures(history, since, until)), 0)
        yield Row(FAULT, "longest wait of a send", longest_wait(history, since, until), 0.5, "s")
        yield Row(FAULT, "upgrades of the records refused while an older node lives", refused, len(run.nodes) - 1, at_least=True)
        yield Row(FAULT, "older builds that join after it", joined, 0)

    run.note(rows)


def is_refused(node):
    try:
        node.command("cluster", "upgrade")
    except ClusterError as error:
        return "these do not" in str(error)
    return False


def joins(node, older, newer):
    """Whether the older build can be a node again. The newer one is, afterwards."""
    node.process.terminate()
    node.use(older)
    node.start()
    deadline = time.monotonic() + REFUSAL_SECS
    while not node.process.ended() and not node.is_ready() and time.monotonic() < deadline:
        time.sleep(0.1)
    has_joined = not node.process.ended()
    node.process.kill()
    node.use(newer)
    node.start()
    node.wait_until_ready()
    return has_joined
