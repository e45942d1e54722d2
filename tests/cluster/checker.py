"""Judges a history: what was promised by an answer or an event must be true at the end.

`check` returns for each rule of `RULES` the violations, as lines that name message, client and time.
"""

from collections import Counter, defaultdict

from history import REFUSED, STORED, UNSENT

#: Every rule with what it counts. All must be 0.
RULES = {
    "lost": "acknowledged messages that are not there",
    "doubled": "messages that are there more than once",
    "changed id": "acknowledged messages that are there with another id",
    "refused but there": "messages that were refused or never sent, and are there",
    "foreign": "messages that no client has sent",
    "order": "messages with a lower id than one that was acknowledged before they were sent",
    "queue gaps": "messages that a queue should have delivered and did not",
    "queue doubles": "messages that a queue delivered more than once",
    "queue order": "deliveries with a lower event id or message id than one before",
    "queue untrue": "deliveries of messages that are not there, or have another id",
    "local ids": "deliveries without the local id of the sender's own message, or with one that is not the receiver's",
    "lost queues": "queues that ended with BAD_EVENT_QUEUE_ID",
    "stale reads": "reads that lacked a message which was acknowledged before they began",
}


def check(history):
    found = {rule: [] for rule in RULES}
    sends = defaultdict(list)
    for send in history.sends:
        sends[send.realm].append(send)
    for realm, stored in history.stored.items():
        check_messages(realm, sends[realm], stored, found)
        check_order(sends[realm], found)
    for queue in history.queues:
        check_queue(queue, history.stored.get(queue.realm, []), sends[queue.realm], found)
    check_reads(history, sends, found)
    return found


def check_messages(realm, sends, stored, found):
    counts = Counter(text for _, text in stored)
    ids = {text: number for number, text in stored}
    known = {send.text for send in sends}
    for text, count in counts.items():
        if count > 1:
            found["doubled"].append(f"{realm}: {text} is there {count} times")
        if text not in known:
            found["foreign"].append(f"{realm}: {text}")
    for number, count in Counter(number for number, _ in stored).items():
        if count > 1:
            found["doubled"].append(f"{realm}: the id {number} is there {count} times")
    for send in sends:
        if send.outcome == STORED and send.text not in ids:
            found["lost"].append(f"{realm}: {send.text}, id {send.message_id}, by {send.node} at {send.ended:.3f}")
        elif send.outcome == STORED and ids[send.text] != send.message_id:
            found["changed id"].append(f"{realm}: {send.text}, {send.message_id} is {ids[send.text]}, by {send.node}")
        elif send.outcome in (REFUSED, UNSENT) and send.text in ids:
            found["refused but there"].append(f"{realm}: {send.text}, {send.why}, by {send.node}")


def check_order(sends, found):
    """Each id is above those of all messages that were acknowledged before its own was sent, by any client."""
    stored = [send for send in sends if send.outcome == STORED]
    ended = sorted(stored, key=lambda send: send.ended)
    highest, position = None, 0
    for send in sorted(stored, key=lambda send: send.started):
        while position < len(ended) and ended[position].ended < send.started:
            if highest is None or ended[position].message_id > highest.message_id:
                highest = ended[position]
            position += 1
        if highest is not None and send.message_id <= highest.message_id:
            found["order"].append(
                f"{send.realm}: {send.text} got {send.message_id} after {highest.text} had {highest.message_id}"
            )


def check_queue(queue, stored, sends, found):
    name = f"{queue.realm}, client {queue.client}, queue {queue.queue_id}"
    ids = {text: number for number, text in stored}
    own = {send.text for send in sends if send.queue_id == queue.queue_id}
    seen, last_event, last_message = Counter(), -1, queue.after
    for event_id, message_id, text, local_id, _ in queue.deliveries:
        seen[text] += 1
        if event_id <= last_event or message_id <= last_message:
            found["queue order"].append(f"{name}: event {event_id}, message {message_id}")
        last_event, last_message = max(last_event, event_id), max(last_message, message_id)
        if ids.get(text) != message_id:
            found["queue untrue"].append(f"{name}: {text} as {message_id}, there as {ids.get(text)}")
        if local_id != (text if text in own else None):
            found["local ids"].append(f"{name}: {text} with {local_id}")
    found["queue doubles"] += [f"{name}: {text}" for text, count in seen.items() if count > 1]
    # A queue that the server has dropped may lack what came after its end.
    until = last_message if queue.ended_at else float("inf")
    if queue.ended_at:
        found["lost queues"].append(f"{name} at {queue.ended_at:.3f}")
    missing = [text for number, text in stored if queue.after < number <= until and text not in seen]
    found["queue gaps"] += [f"{name}: {text}" for text in missing]


def check_reads(history, sends, found):
    """Each read has what was acknowledged before it began, by whichever node."""
    reads = defaultdict(list)
    for read in history.reads:
        reads[read.realm].append(read)
    for realm, of_realm in reads.items():
        ended = sorted((one for one in sends[realm] if one.outcome == STORED), key=lambda send: send.ended)
        highest, position = 0, 0
        for read in sorted(of_realm, key=lambda read: read.started):
            while position < len(ended) and ended[position].ended < read.started:
                highest = max(highest, ended[position].message_id)
                position += 1
            if read.newest < highest:
                found["stale reads"].append(
                    f"{realm}: {read.node} showed {read.newest} at {read.ended:.3f}, {highest} was acknowledged before"
                )


def accepted_by(history, node, since, until):
    """How many messages a node acknowledged in a time, and how many of those are not there under the id it gave."""
    by_text = {realm: {text: number for number, text in stored} for realm, stored in history.stored.items()}
    sends = [one for one in history.sends if one.node == node and one.outcome == STORED and since <= one.ended <= until]
    untrue = [one for one in sends if by_text.get(one.realm, {}).get(one.text) != one.message_id]
    return len(sends), len(untrue)
