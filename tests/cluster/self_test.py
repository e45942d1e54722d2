#!/usr/bin/env python3
"""Shows that the checker can fail: a fake server breaks one promise at a time, and each must be found, and only then.

    python3 tests/cluster/self_test.py

Needs neither a database nor the server. Exit status 0 only if everything was found.
"""

import asyncio
import os
import sys
import tempfile
from collections import namedtuple

import report
from checker import RULES, accepted_by, check
from connection import Connection, NoAnswer, NotSent
from fake_server import FAULTS, FakeServer
from history import STORED, UNKNOWN, History, Send
from load import Load

Realm = namedtuple("Realm", "name host accounts")
Node = namedtuple("Node", "name address")
#: Further rules that the fault breaks by its nature.
ALSO = {
    "deliver what is not stored": {"lost", "stale reads"},
    "give a lower id": {"queue order"},
    "repeat an event": {"queue order"},
    "refuse and store": set(),
    "swap two events": {"local ids", "queue doubles", "queue gaps"},
    "store a message twice": set(),
    "lose a message": {"stale reads"},
    "answer another id": {"stale reads", "order"},
}


async def history_with(fault, enough=60):
    server = FakeServer(fault)
    address = await server.start()
    realms = [Realm(f"r{one}", f"r{one}.example", [(f"u{two}", "k") for two in range(3)]) for one in range(2)]
    load = Load(realms, [Node("n1", address), Node("n2", address)], sends_per_sec=80, reads_per_sec=80)
    await load.start()
    while min(len(load.history.sends), len(load.history.reads)) < enough:
        await asyncio.sleep(0.05)
    await load.stop(secs=2)
    server.stop()
    return load.history


async def test_honest_server_passes():
    history = await history_with(None)
    found = {rule: lines for rule, lines in check(history).items() if lines}
    assert not found, found
    assert not history.failures, history.failures
    assert len(history.sends) > 40 and len(history.reads) > 40
    assert sum(len(queue.deliveries) for queue in history.queues) >= 3 * len([one for one in history.sends if one.message_id])


async def test_each_broken_promise_is_found():
    assert set(FAULTS.values()) == set(RULES), "a rule has no fault that breaks it"
    names = list(FAULTS)
    for fault, history in zip(names, await asyncio.gather(*map(history_with, names))):
        broken = {rule for rule, lines in check(history).items() if lines}
        expected = {FAULTS[fault]}
        assert expected <= broken <= expected | ALSO.get(fault, set()), (fault, broken)


async def test_unknown_outcome_may_be_there_once():
    send = Send("r", 0, "t", "n1", 1.0, ended=2.0, outcome=UNKNOWN)
    for stored, broken in ([[], False], [[[1, "t"]], False], [[[1, "t"], [2, "t"]], True]):
        found = check(History(sends=[send], stored={"r": stored}))
        assert bool(found["doubled"]) == broken, stored
        assert not any(lines for rule, lines in found.items() if rule != "doubled")


async def test_acknowledgements_of_an_old_owner_are_compared_with_what_is_there():
    sends = [Send("r", 0, text, node, 1.0, ended=5.0, outcome=STORED, message_id=7) for text, node in [("a", "n1"), ("b", "n2")]]
    history = History(sends=sends, stored={"r": [[7, "b"]]})
    assert accepted_by(history, "n1", 4.0, 6.0) == (1, 1)
    assert accepted_by(history, "n2", 4.0, 6.0) == (1, 0)
    assert accepted_by(history, "n1", 6.0, 7.0) == (0, 0)


async def test_history_is_read_as_it_was_written():
    history = await history_with("drop a queue", enough=20)
    with tempfile.TemporaryDirectory() as folder:
        history.save(f"{folder}/history.json")
        assert check(History.load(f"{folder}/history.json")) == check(history)


async def test_request_that_was_not_sent_is_known_as_such():
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    address = server.sockets[0].getsockname()[:2]
    for expected in (NoAnswer, NotSent):
        try:
            await Connection("x.example").ask(address, "GET", "/events")
            raise AssertionError("there was an answer")
        except (NoAnswer, NotSent) as error:
            assert isinstance(error, expected), error
        server.close()
        await server.wait_closed()


async def test_one_missed_target_fails_the_run():
    for value, passed in ((0.4, True), (0.6, False), (None, False)):
        row = report.Row("drain", "longest wait", value, 0.5, "s")
        assert row.passed() == passed
    assert report.Row("load", "messages", 5, None, "").passed(), "a figure without target cannot fail"
    assert report.Row("rate", "sends", 6000, 5000, "/s", at_least=True).passed()
    assert not report.Row("rate", "sends", 4000, 5000, "/s", at_least=True).passed()
    for row, passed in ((report.Row("drain", "wait", 0.9, 0.5, "s"), True), (report.Row("all", "lost", 1, 0), False)):
        row.relax(patience=2)
        assert row.passed() == passed, row


async def main():
    failed = 0
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    for name, test in tests.items():
        try:
            await test()
        except AssertionError as error:
            failed += 1
            print(f"--- {name}: {error}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    code = asyncio.run(main())
    sys.stdout.flush()
    os._exit(code)
