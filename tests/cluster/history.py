"""What the clients saw: the only thing that the checker judges by, besides the messages that are there at the end.

Times are seconds of one monotonic clock. A message is known by its text, which is unique within its organization.
"""

import json
from dataclasses import asdict, dataclass, field

STORED, REFUSED, UNKNOWN, UNSENT = "stored", "refused", "unknown", "unsent"


@dataclass
class Send:
    """One try to send. `refused` and `unsent` ones must not be there, `unknown` ones at most once."""

    realm: str
    client: int
    text: str
    node: str
    started: float
    queue_id: str = ""
    ended: float = 0.0
    outcome: str = UNKNOWN
    message_id: int = 0
    why: str = ""


@dataclass
class Read:
    """A read of the newest message of the channel; `newest` is 0 where there was none."""

    realm: str
    node: str
    started: float
    ended: float
    newest: int


@dataclass
class Queue:
    """An event queue: all messages after `after` belong in it. `ended_at` is set if the server has dropped it."""

    realm: str
    client: int
    queue_id: str
    after: int
    deliveries: list = field(default_factory=list)  # of [event id, message id, text, local id or None, time]
    ended_at: float = 0.0


@dataclass
class Failure:
    """A request without success. `was_sent` is false where a client went on to another node without having asked."""

    at: float
    what: str
    realm: str
    node: str
    why: str
    was_sent: bool = True


@dataclass
class History:
    sends: list = field(default_factory=list)
    reads: list = field(default_factory=list)
    queues: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    #: For each organization the messages that are there at the end, as [id, text] in the order of the answer.
    stored: dict = field(default_factory=dict)

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file)

    @staticmethod
    def load(path):
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
        kinds = {"sends": Send, "reads": Read, "queues": Queue, "failures": Failure}
        lists = {name: [kind(**one) for one in read[name]] for name, kind in kinds.items()}
        return History(**lists, stored=read["stored"])
