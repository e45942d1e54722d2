"""The unmodified `zulip` package from PyPI against the real server, end to end.

    python zulip_python.py PATH_TO_MILLSTREAM

Starts `millstream dev` on a folder of its own, has one process listen with call_on_each_event while this
one sends, and prints `N passed, N failed`. Exit status 0 only if nothing failed.
"""

import http.server
import json
import queue
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import zlib

import zulip

PATIENCE_SECS = 60


class Server:
    """A `millstream dev` process that can be restarted on the same data and port."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = tempfile.mkdtemp(prefix="millstream-client-test-")
        self.listen = "127.0.0.1:0"
        self.start()

    def start(self):
        command = [self.binary, "dev", "--listen", self.listen, "--data", self.folder + "/data"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self.process.stdout:
            found = re.search(r"http://([0-9.]+:[0-9]+)", line)
            if found:
                self.listen, self.url = found.group(1), found.group(0)
                break
        else:
            raise AssertionError("the server does not say where it listens")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_SECS) == 0, "the server stops with status 0"

    def end(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)

    def client(self, name):
        """A client of a user of the sample organization."""
        email = f"{name}@zulip.com"
        anonymous = zulip.Client(email=email, api_key="0" * 32, site=self.url, client="millstream-tests")
        key = anonymous.call_endpoint("/dev_fetch_api_key", method="POST", request={"username": email})
        assert key["result"] == "success", key
        return zulip.Client(
            email=email, api_key=key["api_key"], site=self.url, client="millstream-tests"
        )


class Listener:
    """Another process that runs call_on_each_event without end, like a bot."""

    def __init__(self, client):
        arguments = [sys.executable, __file__, "--listen", client.email, client.api_key, client.base_url]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def next(self, kind):
        """Waits for the next entry of a kind: an event type, or `registered`."""
        deadline = time.monotonic() + PATIENCE_SECS
        while True:
            item = self.lines.get(timeout=max(0.01, deadline - time.monotonic()))
            if item["type"] == kind:
                return item

    def end(self):
        self.process.kill()
        self.process.wait()


def listen(email, api_key, site):
    client = zulip.Client(email=email, api_key=api_key, site=site, client="millstream-tests")
    register = client.register

    def telling_register(*args, **kwargs):
        answer = register(*args, **kwargs)
        # The base_url of a client ends in /api/, unlike the URL it was created with.
        print(json.dumps({"type": "registered", "queue_id": answer.get("queue_id")}), flush=True)
        return answer

    client.register = telling_register
    client.call_on_each_event(
        lambda event: print(json.dumps(event), flush=True),
        event_types=["message", "update_message_flags", "subscription", "typing", "stream"],
    )


def ok(answer):
    assert answer["result"] == "success", answer
    return answer


def refused(answer, code):
    assert answer["result"] == "error" and answer["code"] == code, answer
    return answer


class Tests:
    def __init__(self, server):
        self.server = server
        self.iago, self.hamlet = server.client("iago"), server.client("hamlet")

    def test_settings_users_and_channels(self):
        settings = ok(self.iago.get_server_settings())
        assert settings["realm_name"] == "Zulip Dev" and settings["zulip_feature_level"] > 270, settings
        members = ok(self.iago.get_users())["members"]
        names = {member["full_name"] for member in members}
        assert {"Iago", "King Hamlet", "Polonius"} <= names, names
        profile = ok(self.iago.get_profile())
        assert profile["delivery_email"] == "iago@zulip.com", profile
        by_id = ok(self.hamlet.get_user_by_id(profile["user_id"]))
        assert by_id["user"]["full_name"] == "Iago", by_id
        streams = ok(self.iago.get_streams())["streams"]
        assert {"Denmark", "Verona", "Rome"} <= {stream["name"] for stream in streams}, streams
        stream_id = ok(self.iago.get_stream_id("Verona"))["stream_id"]
        assert ok(self.iago.get_subscribers(stream="Verona"))["subscribers"]
        assert ok(self.iago.get_stream_topics(stream_id))["topics"]
        refused(self.iago.get_stream_id("Nowhere"), "BAD_REQUEST")

    def test_send_and_fetch(self):
        message = {"type": "stream", "to": "Verona", "topic": "python", "content": "hello *world*"}
        sent = ok(self.iago.send_message(message))
        direct = {"type": "direct", "to": ["hamlet@zulip.com"], "content": "psst"}
        to_person = ok(self.iago.send_message(direct))
        narrow = [{"operator": "channel", "operand": "Verona"}, {"operator": "topic", "operand": "python"}]
        request = {"anchor": "newest", "num_before": 5, "num_after": 0, "narrow": narrow}
        found = ok(self.hamlet.get_messages(request))["messages"]
        assert found[-1]["id"] == sent["id"] and found[-1]["client"] == "millstream-tests", found
        assert found[-1]["content"] == "<p>hello <em>world</em></p>", found
        raw = ok(self.hamlet.get_messages({**request, "apply_markdown": False}))["messages"]
        assert raw[-1]["content"] == "hello *world*", raw
        narrow = [{"operator": "dm", "operand": "iago@zulip.com"}]
        found = ok(self.hamlet.get_messages({**request, "narrow": narrow}))["messages"]
        assert found[-1]["id"] == to_person["id"], found
        one = ok(self.hamlet.call_endpoint(f"messages/{sent['id']}", method="GET"))
        assert one["raw_content"] == "hello *world*", one
        missing = {"type": "stream", "to": "Nowhere", "topic": "x", "content": "x"}
        assert refused(self.iago.send_message(missing), "STREAM_DOES_NOT_EXIST")["stream"] == "Nowhere"

    def test_subscriptions(self):
        added = ok(self.iago.add_subscriptions([{"name": "python club", "description": "snakes"}]))
        assert list(added["subscribed"].values()) == [["python club"]], added
        ok(self.iago.add_subscriptions([{"name": "python club"}], principals=["hamlet@zulip.com"]))
        own = ok(self.hamlet.get_subscriptions())["subscriptions"]
        club = next(channel for channel in own if channel["name"] == "python club")
        assert club["description"] == "snakes", club
        removed = ok(self.hamlet.remove_subscriptions(["python club"]))
        assert removed["removed"] == ["python club"], removed
        own = ok(self.hamlet.get_subscriptions())["subscriptions"]
        assert all(channel["name"] != "python club" for channel in own), own

    def test_flags_typing_presence_render(self):
        message = {"type": "direct", "to": ["hamlet@zulip.com"], "content": "read me"}
        sent = ok(self.iago.send_message(message))["id"]
        ok(self.hamlet.update_message_flags({"messages": [sent], "op": "add", "flag": "read"}))
        ok(self.hamlet.update_message_flags({"messages": [sent], "op": "add", "flag": "starred"}))
        request = {"anchor": sent, "num_before": 0, "num_after": 0, "narrow": []}
        flags = ok(self.hamlet.get_messages(request))["messages"][0]["flags"]
        assert flags == ["read", "starred"], flags
        hamlet_id = ok(self.hamlet.get_profile())["user_id"]
        ok(self.iago.set_typing_status({"op": "start", "to": [hamlet_id]}))
        ok(self.iago.update_presence({"status": "active", "ping_only": False, "new_user_input": True}))
        rendered = ok(self.iago.render_message({"content": "**bold**"}))["rendered"]
        assert rendered == "<p><strong>bold</strong></p>", rendered

    def test_one_process_listens_while_another_sends(self):
        listener = Listener(self.hamlet)
        try:
            listener.next("registered")
            for number in range(20):
                content = f"number {number}"
                message = {"type": "stream", "to": "Verona", "topic": "events", "content": content}
                sent = ok(self.iago.send_message(message))["id"]
                event = listener.next("message")
                assert event["message"]["id"] == sent, (event, sent)
                assert event["message"]["content"] == content, event
            ok(self.hamlet.update_message_flags({"messages": [sent], "op": "add", "flag": "read"}))
            event = listener.next("update_message_flags")
            assert event["messages"] == [sent] and event["op"] == "add", event
        finally:
            listener.end()

    def test_local_echo(self):
        registered = ok(self.iago.register(event_types=["message"]))
        message = {
            "type": "stream",
            "to": "Verona",
            "topic": "echo",
            "content": "mine",
            "queue_id": registered["queue_id"],
            "local_id": "7.01",
        }
        sent = ok(self.iago.send_message(message))["id"]
        events = ok(self.iago.get_events(queue_id=registered["queue_id"], last_event_id=-1))["events"]
        mine = next(event for event in events if event["message"]["id"] == sent)
        assert mine["local_message_id"] == "7.01", mine
        ok(self.iago.deregister(registered["queue_id"]))

    def test_registers_again_when_its_queue_is_lost(self):
        listener = Listener(self.hamlet)
        try:
            lost = listener.next("registered")["queue_id"]
            ok(self.hamlet.deregister(lost))
            again = listener.next("registered")["queue_id"]
            assert again != lost
            message = {"type": "stream", "to": "Verona", "topic": "again", "content": "still there?"}
            sent = ok(self.iago.send_message(message))["id"]
            assert listener.next("message")["message"]["id"] == sent
        finally:
            listener.end()

    def test_an_emoji_and_a_picture_of_ones_own(self):
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            file.write(picture())
            for path in ["realm/emoji/my_blob", "users/me/avatar"]:
                file.seek(0)
                ok(self.hamlet.call_endpoint(path, method="POST", files=[file]))
        emoji = ok(self.iago.get_realm_emoji())["emoji"]
        mine = next(known for known in emoji.values() if known["name"] == "my_blob")
        sent = ok(self.hamlet.send_message(
            {"type": "stream", "to": "Verona", "topic": "emoji", "content": ":my_blob:"}
        ))["id"]
        ok(self.iago.add_reaction({"message_id": sent, "emoji_name": "my_blob"}))
        message = ok(self.iago.call_endpoint(f"messages/{sent}", method="GET"))["message"]
        assert mine["source_url"] in message["content"], message
        assert message["reactions"][0]["reaction_type"] == "realm_emoji", message
        assert message["avatar_url"].startswith("/user_avatars/"), message

    def test_a_bot_that_one_makes(self):
        made = ok(self.hamlet.call_endpoint(
            "bots", method="POST", request={"full_name": "Echo", "short_name": "echo"}
        ))
        bots = ok(self.hamlet.call_endpoint("bots", method="GET"))["bots"]
        address = next(bot["username"] for bot in bots if bot["api_key"] == made["api_key"])
        bot = zulip.Client(email=address, api_key=made["api_key"], site=self.server.url, client="echo")
        me = ok(bot.get_profile())
        assert (me["is_bot"], me["user_id"]) == (True, made["user_id"]), me
        sent = ok(bot.send_message({"type": "private", "to": [self.hamlet.email], "content": "hi"}))["id"]
        message = ok(self.hamlet.call_endpoint(f"messages/{sent}", method="GET"))["message"]
        assert message["sender_full_name"] == "Echo", message
        path = f"bots/{made['user_id']}"
        ok(self.hamlet.call_endpoint(path, method="PATCH", request={"full_name": "Echo the second"}))
        ok(self.hamlet.call_endpoint(path, method="DELETE"))
        assert bot.get_profile()["code"] == "USER_DEACTIVATED"

    def test_a_bot_that_asks_a_service(self):
        asked = queue.Queue()

        class Service(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked.put(question)
                answer = json.dumps({"content": "You said: " + question["data"]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):
                pass

        service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        made = ok(self.hamlet.call_endpoint("bots", method="POST", request={
            "full_name": "Oracle",
            "short_name": "oracle",
            "bot_type": 3,
            "payload_url": json.dumps(f"http://127.0.0.1:{service.server_port}/"),
        }))
        listener = Listener(self.hamlet)
        try:
            listener.next("registered")
            ok(self.iago.send_message(
                {"type": "stream", "to": "Verona", "topic": "oracle", "content": "@**Oracle** why?"}
            ))
            question = asked.get(timeout=PATIENCE_SECS)
            assert (question["trigger"], question["data"]) == ("mention", "@**Oracle** why?"), question
            while True:
                message = listener.next("message")["message"]
                if message["sender_id"] == made["user_id"]:
                    break
            assert message["content"].startswith("You said: "), message
            assert message["subject"] == "oracle", message
        finally:
            listener.end()
            service.shutdown()

    def test_a_restart_goes_by_unnoticed(self):
        listener = Listener(self.hamlet)
        try:
            listener.next("registered")
            message = {"type": "stream", "to": "Verona", "topic": "restart", "content": "before"}
            sent = ok(self.iago.send_message(message))["id"]
            assert listener.next("message")["message"]["id"] == sent
            self.server.stop()
            self.server.start()
            sent = ok(self.iago.send_message({**message, "content": "after"}))["id"]
            event = listener.next("message")
            assert event["message"]["id"] == sent, "the same queue, no gap, nothing twice"
            assert event["message"]["content"] == "after", event
        finally:
            listener.end()


def picture():
    """A PNG of 8 by 8 red pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff\0\0" * 8) * 8)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def main():
    if sys.argv[1] == "--listen":
        return listen(*sys.argv[2:])
    server = Server(sys.argv[1])
    passed = failed = 0
    try:
        tests = Tests(server)
        for name in [name for name in dir(tests) if name.startswith("test_")]:
            try:
                getattr(tests, name)()
                passed += 1
            except Exception:
                failed += 1
                print(f"--- {name}")
                traceback.print_exc(file=sys.stdout)
    finally:
        server.end()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
