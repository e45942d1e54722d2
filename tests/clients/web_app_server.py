"""A `millstream dev` process with an installed web app, for the scripts that use it in a browser."""

import http.client
import os
import signal
import subprocess
import threading
import time
import urllib.parse
import urllib.request

from join_in_browser import PATIENCE_SECS, Server


def wait_for(what, condition):
    """The first true result of a condition."""
    deadline = time.monotonic() + PATIENCE_SECS
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"timed out waiting until {what}"
        time.sleep(0.05)


class WebAppServer(Server):
    """The web app is installed while the server runs; it can be killed and started again at the same address."""

    def __init__(self, binary, archive):
        super().__init__(binary)
        self.binary, self.data = binary, self.folder + "/data"
        command = [binary, "web-app", "install", archive, "--data", self.data]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        self.installed = done.stdout
        self.process.send_signal(signal.SIGHUP)
        wait_for("the page is that of the web app", lambda: b"page-params" in self.body("/"))

    def body(self, path):
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_SECS) as answer:
            return answer.read()

    def status(self, path):
        """The status of a page, without following it; none while the server is down."""
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=PATIENCE_SECS)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return None
        finally:
            connection.close()

    def kill(self):
        """As `kill -9`."""
        self.process.kill()
        self.process.wait()

    def start_again(self):
        address = urllib.parse.urlsplit(self.url).netloc
        command = [self.binary, "dev", "--listen", address, "--data", self.data]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ
        )
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        wait_for("the server is up", lambda: self.status("/health") == 200)
