"""The unmodified `apprise` package as somebody would set it up who wants to be notified in a channel, or directly.

The package only speaks HTTPS, to the host of the bot's address. So its requests go through a proxy of this script, which
answers for `zulip.com` with a certificate of its own and passes everything to the server.
"""

import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

import trustme

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from common import User, run  # noqa: E402

APPRISE = str(pathlib.Path(sys.executable).parent / "apprise")


class Proxy:
    """Answers `CONNECT` for any host, and passes the decrypted bytes to the server."""

    def __init__(self, url, folder):
        authority = trustme.CA()
        self.certificates = f"{folder}/authority.pem"
        authority.cert_pem.write_to_path(self.certificates)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("zulip.com").configure_cert(self.context)
        host, port = url.removeprefix("http://").split(":")
        self.server = (host, int(port))
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        assert head.startswith(b"CONNECT "), head
        client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        client = self.context.wrap_socket(client, server_side=True)
        server = socket.create_connection(self.server)
        threading.Thread(target=self.copy, args=(server, client), daemon=True).start()
        self.copy(client, server)

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Checks:
    def __init__(self, url, folder):
        self.iago, aaron = User(url, "iago@zulip.com"), User(url, "AARON@zulip.com")
        bots = aaron.ok("GET", "/bots")["bots"]
        self.key = next(bot["api_key"] for bot in bots if bot["username"] == "default-bot@zulip.com")
        proxy = Proxy(url, folder)
        self.environment = {
            **{name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
            "HTTPS_PROXY": proxy.url,
            "REQUESTS_CA_BUNDLE": proxy.certificates,
        }

    def notify(self, target, body, *arguments, key=None):
        """Whether the program says that it notified the target."""
        url = f"zulip://default@zulip.com/{key or self.key}/{target}"
        command = [APPRISE, "-v", "-b", body, *arguments, url]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        self.said = done.stdout + done.stderr
        return done.returncode == 0

    def newest(self, *terms):
        return self.iago.messages(*terms)[-1]

    def test_a_channel_is_notified_in_the_topic_of_the_title(self):
        assert self.notify("Verona", "The *backup* is done.", "-t", "backups"), self.said
        found = self.newest(("channel", "Verona"), ("topic", "backups"))
        assert found["content"] == "The *backup* is done.", found
        assert (found["sender_email"], found["client"]) == ("default-bot@zulip.com", "Apprise"), found

    def test_a_channel_is_notified_without_a_title(self):
        assert self.notify("Verona", "No title."), self.said
        found = self.newest(("channel", "Verona"), ("sender", "default-bot@zulip.com"))
        assert found["content"] == "No title.", found

    def test_a_person_is_notified_directly(self):
        assert self.notify("iago@zulip.com", "Only for you: 100 % & more"), self.said
        found = self.newest(("dm", "default-bot@zulip.com"))
        assert found["content"] == "Only for you: 100 % & more", found

    def test_several_targets_are_notified(self):
        assert self.notify("Verona/iago@zulip.com", "All of you.", "-t", "all"), self.said
        for terms in [[("channel", "Verona")], [("dm", "default-bot@zulip.com")]]:
            assert self.newest(*terms)["content"] == "All of you.", terms

    def test_a_long_text_is_cut_by_the_package(self):
        assert self.notify("Verona", "word " * 4000, "-t", "long"), self.said
        assert len(self.newest(("channel", "Verona"), ("topic", "long"))["content"]) <= 10000

    def test_a_wrong_key_and_an_unknown_channel_are_failures(self):
        assert not self.notify("Verona", "x", key="x" * 32)
        assert "error=401" in self.said, self.said
        assert not self.notify("Nowhere", "x")
        assert "error=400" in self.said or "error=404" in self.said, self.said


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        run(Checks(sys.argv[1], temporary))
