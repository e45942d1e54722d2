"""Figures of a part of a history: outages, waits and failures between two times."""

from collections import defaultdict

from history import STORED


def stored_since(history, since):
    """The sends that were begun after a time and acknowledged, newest first; the history is in the order of beginnings."""
    for send in reversed(history.sends):
        if send.started < since:
            return
        if send.outcome == STORED:
            yield send


def longest_gap(times_by_realm, realms, since, until):
    """The longest time within the two in which nothing succeeded in one of the organizations."""
    longest = 0.0
    for realm in realms:
        inside = sorted(time for time in times_by_realm[realm] if since <= time <= until)
        marks = [since, *inside, until]
        longest = max(longest, max(later - earlier for earlier, later in zip(marks, marks[1:])))
    return longest


def send_outage(history, realms, since, until):
    """A send counts at its acknowledgement, if it was begun after the fault: earlier ones may just have arrived late."""
    times = defaultdict(list)
    for send in history.sends:
        if send.outcome == STORED and send.started >= since:
            times[send.realm].append(send.ended)
    return longest_gap(times, realms, since, until)


def read_outage(history, realms, since, until):
    times = defaultdict(list)
    for read in history.reads:
        if read.started >= since:
            times[read.realm].append(read.ended)
    return longest_gap(times, realms, since, until)


def longest_wait(history, since, until):
    """Of all sends that were begun in the time and acknowledged."""
    waits = [one.ended - one.started for one in history.sends if one.outcome == STORED and since <= one.started <= until]
    return max(waits, default=0.0)


def failures(history, since, until):
    """Requests that were sent and failed. A refused connection is none: the client went on to another node."""
    return [one for one in history.failures if one.was_sent and since <= one.at <= until]


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
