"""The unmodified `zulip-term` in a terminal: it is driven by keys, and its screen is read."""

import fcntl
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading

import pyte

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from common import User, run, wait_for  # noqa: E402

PROGRAM = str(pathlib.Path(sys.executable).parent / "zulip-term")
COLUMNS, LINES = 180, 50
ESCAPE, CTRL_D = "\x1b", "\x04"


class Terminal:
    """The client in a pseudo-terminal."""

    def __init__(self, folder, user):
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.lock = threading.Lock()
        main, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        home = {"HOME": folder, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(
            [PROGRAM, "--config-file", user.zuliprc(f"{folder}/zuliprc"), "--no-notify"],
            stdin=child, stdout=child, stderr=child, cwd=folder, start_new_session=True,
            env={**os.environ, **home},
        )
        os.close(child)
        self.main = main
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = os.read(self.main, 65536)
            except OSError:
                return
            if not data:
                return
            with self.lock:
                self.stream.feed(data)

    def text(self):
        with self.lock:
            return "\n".join(self.screen.display)

    def keys(self, *keys):
        for key in keys:
            os.write(self.main, key.encode())

    def sees(self, pattern):
        wait_for(lambda: re.search(pattern, self.text()), f"{pattern!r} on the screen", self.text)

    def sees_below(self, pattern):
        """Like `sees`, below what the screen shows."""

        def scrolled():
            self.keys("G")
            return re.search(pattern, self.text())

        wait_for(scrolled, f"{pattern!r} on the screen", self.text)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.main)


class Checks:
    """The checks follow each other in one session of the client."""

    def __init__(self, url, folder):
        self.hamlet, self.iago = User(url, "hamlet@zulip.com"), User(url, "iago@zulip.com")
        os.chmod(folder, 0o700)
        rc = pathlib.Path(folder, "zuliprc")
        rc.touch(0o600)
        self.terminal = Terminal(folder, self.hamlet)

    def is_read(self, message):
        found = self.hamlet.ok("GET", f"/messages/{message}")["message"]
        return "read" in found["flags"]

    def test_it_starts_with_channels_users_and_messages(self):
        self.terminal.sees("All messages")
        self.terminal.sees("King Hamlet")
        for name in ["Verona", "Denmark", "town square", "stage crew"]:
            self.terminal.sees(name)
        for name in ["Iago", "Cordelia"]:
            self.terminal.sees(f"[●◒] {name}")
        # From the list of channels to the messages.
        self.terminal.keys("l")

    def test_a_message_appears_and_is_marked_as_read(self):
        message = self.iago.send("Verona", "terminal", "The **curtain** rises.")
        self.terminal.sees_below("The curtain rises")
        self.terminal.keys("G")
        wait_for(lambda: self.is_read(message), "the flag `read`", self.terminal.text)

    def test_a_reply_is_sent(self):
        # Answers the newest message in its topic.
        self.terminal.keys("r")
        self.terminal.sees("│# Verona")
        self.terminal.keys("From the terminal: ü 🎭", CTRL_D)
        found = self.iago.wait_for_message(
            lambda found: found["content"].startswith("From the terminal"),
            ("channel", "Verona"), ("topic", "terminal"),
        )
        assert found["sender_full_name"] == "King Hamlet", found
        assert found["client"].startswith("ZulipTerminal"), found
        # Closes the box below the messages. A key that follows at once would become one with Escape.
        self.terminal.keys(ESCAPE)
        wait_for(lambda: "│# Verona" not in self.terminal.text(), "the end of the box", self.terminal.text)

    def test_a_reaction_and_an_edit_appear(self):
        message = self.iago.send("Verona", "terminal", "Clap once.")
        self.terminal.sees_below("Clap once")
        self.iago.ok("POST", f"/messages/{message}/reactions", emoji_name="tada")
        self.terminal.sees_below(":tada: Iago")
        self.iago.ok("PATCH", f"/messages/{message}", content="Clap twice.")
        self.terminal.sees_below("Clap twice")
        self.terminal.sees_below("EDITED")

    def test_the_own_reaction_and_star_are_sent(self):
        message = self.iago.send("Verona", "terminal", "Do you like it?")
        self.terminal.sees_below("Do you like it")
        self.terminal.keys("G", "+")
        liked = lambda: self.iago.ok("GET", f"/messages/{message}")["message"]["reactions"]
        reactions = wait_for(liked, "a reaction", self.terminal.text)
        assert reactions[0]["emoji_name"] in ("+1", "thumbs_up"), reactions
        self.terminal.keys("*")
        starred = lambda: "starred" in self.hamlet.ok("GET", f"/messages/{message}")["message"]["flags"]
        wait_for(starred, "a star", self.terminal.text)

    def test_direct_messages_appear(self):
        self.iago.send_direct(["hamlet@zulip.com"], "A word in private.")
        self.terminal.sees_below("A word in private")
        self.terminal.keys("P")
        self.terminal.sees("The travel papers are ready|A word in private")

    def test_it_still_runs_at_the_end(self):
        assert self.terminal.process.poll() is None, self.terminal.text()
        self.terminal.end()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        run(Checks(sys.argv[1], temporary))
