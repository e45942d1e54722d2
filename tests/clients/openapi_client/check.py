"""A Python client is generated from the OpenAPI document without a warning, and reads the answers of the server.

    python check.py URL

Prints `N passed, N failed`. Exit status 0 only if nothing failed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from common import User, run  # noqa: E402

GENERATOR = str(pathlib.Path(sys.executable).parent / "openapi-python-client")
# Types of bodies that the generator does not know, as the one that it has for bytes.
BYTES = ["*/*", "application/offset+octet-stream", "image/webp"]
SETTINGS = {"post_hooks": [], "content_type_overrides": {kind: "application/octet-stream" for kind in BYTES}}


class Checks:
    """The checks, in the order in which they run."""

    def __init__(self, url, folder):
        self.url, self.folder = url, pathlib.Path(folder)
        self.user = User(url, "hamlet@zulip.com")

    def test_client_is_generated_without_a_warning(self):
        document, settings = self.folder / "openapi.json", self.folder / "settings.json"
        with urllib.request.urlopen(self.url + "/api/v1/openapi.json", timeout=60) as answer:
            document.write_bytes(answer.read())
        settings.write_text(json.dumps(SETTINGS), encoding="utf-8")
        command = [GENERATOR, "generate", "--path", document, "--config", settings, "--meta", "none"]
        command += ["--output-path", self.folder / "generated", "--fail-on-warning"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
        sys.path.insert(0, str(self.folder))

    def client(self):
        """The generated client, as the user."""
        from generated.client import Client
        from httpx import BasicAuth
        return Client(base_url=self.url, httpx_args={"auth": BasicAuth(self.user.email, self.user.key)})

    def test_server_settings_are_read(self):
        from generated.api.account import get_server_settings
        settings = get_server_settings.sync(client=self.client())
        assert settings.result == "success" and settings.external_authentication_methods == [], settings

    def test_subscriptions_are_read(self):
        from generated.api.channels import get_subscriptions
        for wanted in (True, False, "partial"):
            found = get_subscriptions.sync(client=self.client(), include_subscribers=wanted)
            assert found.result == "success" and found.subscriptions, found

    def test_events_of_a_queue_are_read(self):
        from generated.api.real_time_events import get_events, register_queue
        from generated.models.event_update_message import EventUpdateMessage
        from generated.models.register_queue_body import RegisterQueueBody
        queue = register_queue.sync(client=self.client(), body=RegisterQueueBody()).queue_id
        message = self.user.send("Verona", "generated", "before")
        self.user.ok("PATCH", f"/messages/{message}", topic="moved")
        answer = get_events.sync(client=self.client(), queue_id=queue, last_event_id=-1)
        moved = [event for event in answer.events if isinstance(event, EventUpdateMessage)]
        assert moved and moved[0].topic_links == [], answer


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        run(Checks(sys.argv[1], made))
