"""The unmodified `zulipchat-mcp`, a server of the Model Context Protocol, driven through its standard input as a language
model's program would."""

import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from common import PATIENCE_SECS, User, run  # noqa: E402

PROGRAM = str(pathlib.Path(sys.executable).parent / "zulipchat-mcp")


class Tools:
    """The running program, and calls of its tools."""

    def __init__(self, folder, user):
        command = [PROGRAM, "--zulip-config-file", user.zuliprc(f"{folder}/zuliprc"), "--extended-tools"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            cwd=folder, env={**os.environ, "HOME": folder},
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.last = 0
        client = {"name": "millstream-tests", "version": "1"}
        self.request("initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo=client)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, **params):
        self.last += 1
        self.write({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            answer = self.lines.get(timeout=PATIENCE_SECS)
            if answer.get("id") == self.last:
                assert "result" in answer, answer
                return answer["result"]

    def call(self, name, /, **arguments):
        """What a tool answers."""
        result = self.request("tools/call", name=name, arguments=arguments)
        text = "".join(part.get("text", "") for part in result["content"])
        assert not result.get("isError"), (name, text)
        return json.loads(text)

    def ok(self, name, /, **arguments):
        """What a tool answers, which must be a success."""
        answer = self.call(name, **arguments)
        assert answer["status"] == "success", (name, answer)
        return answer


class Checks:
    def __init__(self, url, folder):
        self.iago, self.hamlet = User(url, "iago@zulip.com"), User(url, "hamlet@zulip.com")
        self.tools = Tools(folder, self.iago)

    def test_it_offers_its_tools(self):
        names = {tool["name"] for tool in self.tools.request("tools/list")["tools"]}
        assert {"send_message", "get_drafts", "get_scheduled_messages"} <= names, names

    def test_the_organization_and_oneself(self):
        assert "Iago" in json.dumps(self.tools.ok("get_own_user"))
        assert self.tools.ok("server_info")["available_identities"]["user"]["available"]
        users = json.dumps(self.tools.ok("get_users", include_custom_profile_fields=True))
        assert "King Hamlet" in users and "profile_data" in users
        assert "hamlet@zulip.com" in json.dumps(self.tools.call("resolve_user", name="Hamlet"))
        assert "hamletcharacters" in json.dumps(self.tools.ok("get_user_groups"))
        assert "iago" in json.dumps(self.tools.ok("get_presence")).lower()

    def test_channels_and_topics(self):
        streams = json.dumps(self.tools.ok("get_streams"))
        assert "Verona" in streams and "core team" in streams
        info = self.tools.ok("get_stream_info", stream_name="Verona", include_topics=True)
        topics = self.tools.ok("get_stream_topics", stream_id=3)
        assert "ball on saturday" in json.dumps(topics), topics
        assert "A city in Italy" in json.dumps(info), info

    def test_a_message_is_sent_edited_and_found(self):
        sent = self.tools.ok("send_message", type="stream", to="Verona", topic="mcp", content="From a *tool*")
        message = sent["message_id"]
        self.tools.ok("edit_message", message_id=message, content="From a *good* tool")
        assert "From a *good* tool" in json.dumps(self.iago.ok("GET", f"/messages/{message}"))
        assert "good" in json.dumps(self.tools.ok("get_message", message_id=message))
        found = json.dumps(self.tools.ok("search_messages", stream="Verona", topic="mcp"))
        assert "good" in found, found

    def test_a_direct_message(self):
        self.tools.ok("send_message", type="private", to=["hamlet@zulip.com"], content="Only you")
        assert self.hamlet.messages(("dm", "iago@zulip.com"))[-1]["content"] == "Only you"

    def test_reactions_and_flags(self):
        message = self.hamlet.send("Verona", "mcp", "React!")
        self.tools.ok("add_reaction", message_id=message, emoji_name="tada")
        self.tools.ok("toggle_reaction", message_id=message, emoji_name="heart", action="add")
        self.tools.ok("toggle_reaction", message_id=message, emoji_name="tada", action="remove")
        reactions = self.hamlet.ok("GET", f"/messages/{message}")["message"]["reactions"]
        assert [reaction["emoji_name"] for reaction in reactions] == ["heart"], reactions
        narrow = [{"operator": "channel", "operand": "Verona"}, {"operator": "topic", "operand": "mcp"}]
        self.tools.ok("update_message_flags_for_narrow", narrow=narrow, op="add", flag="starred")
        flags = self.iago.ok("GET", f"/messages/{message}")["message"]["flags"]
        assert "starred" in flags, flags

    def test_drafts(self):
        made = self.tools.ok("create_draft", type="stream", to=3, topic="mcp", content="Not yet")
        drafts = self.iago.ok("GET", "/drafts")["drafts"]
        assert [draft["content"] for draft in drafts] == ["Not yet"], made
        self.tools.ok(
            "edit_draft", draft_id=drafts[0]["id"], type="stream", to=3, topic="mcp", content="Not yet!"
        )
        assert "Not yet!" in json.dumps(self.tools.ok("get_drafts"))
        self.tools.ok("delete_draft", draft_id=drafts[0]["id"])
        assert self.iago.ok("GET", "/drafts")["drafts"] == []

    def test_scheduled_messages(self):
        later = int(time.time()) + 3600
        self.tools.ok(
            "manage_scheduled_message", action="create", type="stream", to=3, topic="mcp", content="Later",
            scheduled_delivery_timestamp=later,
        )
        scheduled = self.iago.ok("GET", "/scheduled_messages")["scheduled_messages"]
        assert [(one["content"], one["scheduled_delivery_timestamp"]) for one in scheduled] == [("Later", later)]
        assert "Later" in json.dumps(self.tools.ok("get_scheduled_messages"))
        self.tools.ok(
            "manage_scheduled_message", action="delete",
            scheduled_message_id=scheduled[0]["scheduled_message_id"],
        )
        assert self.iago.ok("GET", "/scheduled_messages")["scheduled_messages"] == []

    def test_the_own_status(self):
        self.tools.ok("update_status", status_text="Plotting", emoji_name="crystal_ball")
        status = self.iago.ok("GET", "/users/11/status")["status"]
        assert (status["status_text"], status["emoji_name"]) == ("Plotting", "crystal_ball"), status

    def test_events(self):
        queue_id = self.tools.ok("register_events", event_types=["message"])["queue_id"]
        sent = self.hamlet.send("Verona", "mcp", "An event")
        events = self.tools.ok("get_events", queue_id=queue_id, last_event_id=-1)["events"]
        assert [event["message"]["id"] for event in events] == [sent], events
        self.tools.ok("deregister_events", queue_id=queue_id)

    def test_it_stops(self):
        self.tools.process.kill()
        self.tools.process.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        run(Checks(sys.argv[1], temporary))
