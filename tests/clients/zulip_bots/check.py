"""Bots of the unmodified `zulip_bots` package, run by its own live runner `zulip-run-bot`. Two of them keep state with
`/bot_storage`, which must outlive the bot's process."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from common import User, event_queues, run, wait_for  # noqa: E402

RUNNER = str(pathlib.Path(sys.executable).parent / "zulip-run-bot")


class Bot:
    """A bot of the package, run with an account of its own."""

    def __init__(self, owner, name, folder):
        self.name, self.account = name, owner.make_bot(name)
        # A bot receives the messages of channels that it is subscribed to, and direct messages.
        self.account.ok("POST", "/users/me/subscriptions", subscriptions=[{"name": "Verona"}])
        self.command = [RUNNER, name, "--config-file", self.account.zuliprc(f"{folder}/{name}.rc")]

    def __enter__(self):
        before = event_queues(self.account.url)
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        registered = lambda: self.process.poll() is not None or event_queues(self.account.url) > before
        wait_for(registered, "an event queue of the bot")
        assert self.process.poll() is None, self.process.stdout.read()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, person, topic, question):
        """What the bot answers to a mention in a topic."""
        asked = person.send("Verona", topic, f"@**{self.name}** {question}")
        answered = lambda found: found["id"] > asked and found["sender_full_name"] == self.name
        return person.wait_for_message(answered, ("channel", "Verona"), ("topic", topic))["content"]

    def stored(self):
        """What the bot keeps on the server."""
        return self.account.ok("GET", "/bot_storage")["storage"]


class Checks:
    def __init__(self, url, folder):
        self.folder = folder
        self.hamlet, self.iago = User(url, "hamlet@zulip.com"), User(url, "iago@zulip.com")

    def test_a_mention_is_answered_in_its_topic_and_a_direct_message_directly(self):
        with Bot(self.hamlet, "helloworld", self.folder) as bot:
            answer = bot.ask(self.iago, "hello", "are you there?")
            assert "beep boop" in answer, answer
            self.iago.send_direct([bot.account.email], "and here?")
            direct = self.iago.wait_for_message(
                lambda found: found["sender_full_name"] == bot.name, ("dm", bot.account.email)
            )
            assert direct["type"] == "private" and "beep boop" in direct["content"], direct

    def test_a_converter_computes(self):
        with Bot(self.hamlet, "converter", self.folder) as bot:
            answer = bot.ask(self.iago, "units", "2 meter centimeter")
            assert "200.0 centimeter" in answer, answer

    def test_a_counter_edits_its_own_message(self):
        with Bot(self.hamlet, "incrementor", self.folder) as bot:
            assert bot.ask(self.iago, "count", "count") == "1"
            self.iago.send("Verona", "count", f"@**{bot.name}** again")
            edited = lambda found: found["sender_full_name"] == bot.name and found["content"] == "2"
            message = self.iago.wait_for_message(edited, ("channel", "Verona"), ("topic", "count"))
            stored = wait_for(lambda: bot.stored() if bot.stored().get("number") == "2" else None, "the count")
            assert json.loads(stored["message_id"]) == message["id"], (stored, message)

    def test_incidents_are_numbered_across_restarts_of_the_bot(self):
        bot = Bot(self.hamlet, "incident", self.folder)
        with bot:
            first = bot.ask(self.iago, "first", "new the gate is open")
            assert "TICKET0001" in first, first
            assert "Incident TICKET0001\n status = escalate" in bot.ask(self.iago, "first", "answer TICKET0001 4")
        with bot:
            second = bot.ask(self.iago, "second", "new the gate is shut")
            assert "TICKET0002" in second, second
        assert bot.stored() == {"ticket_id": "2"}, bot.stored()

    def test_a_file_system_is_kept_for_each_channel(self):
        with Bot(self.hamlet, "virtual_fs", self.folder) as bot:
            assert "directory created" in bot.ask(self.iago, "files", "mkdir plans")
            assert "file written" in bot.ask(self.hamlet, "files", "write plans/one to be")
            assert "to be" in bot.ask(self.iago, "files", "read plans/one")
            assert "plans/" in bot.ask(self.iago, "files", "ls")
            assert list(bot.stored()) == ["Verona"], bot.stored()

    def test_storage_is_of_one_bot_and_can_be_cleared(self):
        # The same calls as the package makes, through its own client.
        import zulip
        from zulip_bots.lib import StateHandler

        made = [self.hamlet.make_bot(name) for name in ("first-keeper", "second-keeper")]
        clients = [zulip.Client(email=bot.email, api_key=bot.key, site=bot.url) for bot in made]
        handlers = [StateHandler(client) for client in clients]
        handlers[0].put("who", {"name": "Ophelia", "age": None, "texts": ["ä", "💐"]})
        assert StateHandler(clients[0]).get("who")["texts"] == ["ä", "💐"]
        try:
            StateHandler(clients[1]).get("who")
        except KeyError:
            pass
        else:
            raise AssertionError("another bot reads it")
        cleared = clients[0].call_endpoint("bot_storage", method="DELETE", request={"keys": ["who"]})
        assert cleared["result"] == "success", cleared
        assert made[0].ok("GET", "/bot_storage")["storage"] == {}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        run(Checks(sys.argv[1], temporary))
