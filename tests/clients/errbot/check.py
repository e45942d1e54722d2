"""The unmodified `errbot` with its Zulip backend, which is not in a registry of packages: the environment variable
MILLSTREAM_ERRBOT_BACKEND names a checkout of https://github.com/zulip/errbot-backend-zulip."""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from common import User, event_queues, run, wait_for  # noqa: E402

PROGRAM = str(pathlib.Path(sys.executable).parent / "errbot")

PLUGIN = '''
from errbot import BotPlugin, botcmd

class Sums(BotPlugin):
    @botcmd
    def double(self, message, arguments):
        return f"twice that is {2 * int(arguments)}"

    @botcmd
    def room(self, message, arguments):
        room = self.query_room(arguments)
        return f"{room.exists} {room.joined} {len(room.occupants)} {room.topic}"

    @botcmd
    def enter(self, message, arguments):
        self.query_room(arguments).join()
        return "rooms: " + ", ".join(sorted(room.title for room in self.rooms()))
'''


class Checks:
    def __init__(self, url, folder):
        self.iago = User(url, "iago@zulip.com")
        self.bot = User(url, "hamlet@zulip.com").make_bot("errbot")
        self.bot.ok("POST", "/users/me/subscriptions", subscriptions=[{"name": "Verona"}])
        folder = pathlib.Path(folder)
        for part in ["data", "plugins/sums"]:
            (folder / part).mkdir(parents=True)
        (folder / "plugins/sums/sums.py").write_text(PLUGIN)
        (folder / "plugins/sums/sums.plug").write_text("[Core]\nName = Sums\nModule = sums\n[Python]\nVersion = 3\n")
        identity = {"email": self.bot.email, "key": self.bot.key, "site": url}
        self.log = folder / "log"
        settings = {
            "BACKEND": "Zulip",
            "BOT_EXTRA_BACKEND_DIR": os.environ["MILLSTREAM_ERRBOT_BACKEND"],
            "BOT_DATA_DIR": str(folder / "data"),
            "BOT_EXTRA_PLUGIN_DIR": str(folder / "plugins"),
            "BOT_LOG_FILE": str(self.log),
            "CORE_PLUGINS": ("ACLs", "Help", "Utils"),
            "BOT_IDENTITY": identity,
            "BOT_ADMINS": ("iago@zulip.com",),
            "CHATROOM_PRESENCE": (),
            "BOT_PREFIX": "@**errbot** ",
            "BOT_PREFIX_OPTIONAL_ON_CHAT": True,
        }
        lines = [f"{name} = {value!r}" for name, value in settings.items()]
        (folder / "config.py").write_text("\n".join(["import logging", "BOT_LOG_LEVEL = logging.INFO", *lines]))
        queues = event_queues(url)
        self.process = subprocess.Popen(
            [PROGRAM, "--config", str(folder / "config.py")], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        ready = lambda: self.process.poll() is not None or event_queues(url) > queues
        wait_for(ready, "an event queue of errbot", lambda: self.log.read_text())
        assert self.process.poll() is None, self.log.read_text()

    def answer(self, sent, *terms):
        answered = lambda found: found["id"] > sent and found["sender_email"] == self.bot.email
        return self.iago.wait_for_message(answered, *terms)["content"]

    def ask(self, text):
        sent = self.iago.send("Verona", "errbot", text)
        return self.answer(sent, ("channel", "Verona"), ("topic", "errbot"))

    def test_a_command_in_a_channel(self):
        answer = self.ask("@**errbot** double 21")
        assert answer == "twice that is 42", answer

    def test_a_command_in_a_direct_message(self):
        sent = self.iago.send_direct([self.bot.email], "double 4")
        answer = self.answer(sent, ("dm", self.bot.email))
        assert answer == "twice that is 8", answer

    def test_help(self):
        assert "Sums" in self.ask("@**errbot** help")

    def test_rooms(self):
        answer = self.ask("@**errbot** room Verona")
        # The backend looks for its address among the members, of which the API has the ids.
        assert answer == "True False 11 A city in Italy", answer
        answer = self.ask("@**errbot** enter Denmark")
        assert answer == "rooms: Denmark, Verona", answer

    def test_it_stops(self):
        assert self.process.poll() is None, self.log.read_text()
        self.process.kill()
        self.process.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        run(Checks(sys.argv[1], temporary))
