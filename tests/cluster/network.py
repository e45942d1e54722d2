"""A network of its own for each node, so that its way to the database can be cut while clients and other nodes still reach it.

Every node lives in a network namespace with two links, one to the bridge of clients and nodes, one to that of the databases. Needs
root and the kernel's bridges; `unavailable` says what is missing.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile

#: Only used on this machine, by two bridges without a way out. The last part of a node's address is 10 and its number.
CLIENTS, DATABASES = "10.213.0", "10.214.0"


def run(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Network:
    """Bridges and namespaces. The addresses are fixed, so only one run at a time has them."""

    #: Where servers on this machine are reached from the namespaces.
    database_address, client_address = f"{DATABASES}.1", f"{CLIENTS}.1"

    tag = "ms"

    def __init__(self, nodes):
        self.nodes, self.lock = range(1, nodes + 1), None

    @staticmethod
    def unavailable():
        """Why there is no network for nodes here; None if there can be one."""
        if os.geteuid() != 0:
            return "network namespaces need root"
        if not shutil.which("ip"):
            return "iproute2 is not installed"
        probe = Network(0)
        try:
            probe.up()
        except OSError as error:
            return str(error)
        finally:
            probe.down()
        return None

    def up(self):
        """Also removes what an interrupted run has left."""
        self.lock = open(f"{tempfile.gettempdir()}/millstream-network.lock", "w", encoding="ascii")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.lock.close()
            self.lock = None
            raise OSError("another run has the network") from None
        self.remove()
        for kind, prefix in (("c", CLIENTS), ("d", DATABASES)):
            run("link", "add", f"{self.tag}-{kind}", "type", "bridge")
            run("address", "add", f"{prefix}.1/24", "dev", f"{self.tag}-{kind}")
            run("link", "set", f"{self.tag}-{kind}", "up")
        for number in self.nodes:
            space = self.namespace(number)
            run("netns", "add", space)
            run("-n", space, "link", "set", "lo", "up")
            for kind, prefix in (("c", CLIENTS), ("d", DATABASES)):
                self.add_link(number, kind, prefix)

    def add_link(self, number, kind, prefix):
        space, outside, inside = self.namespace(number), self.link(number, kind), f"{kind}0"
        run("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space)
        run("link", "set", outside, "master", f"{self.tag}-{kind}")
        run("link", "set", outside, "up")
        run("-n", space, "address", "add", f"{prefix}.{10 + number}/24", "dev", inside)
        run("-n", space, "link", "set", inside, "up")

    def namespace(self, number):
        return f"{self.tag}-n{number}"

    def link(self, number, kind):
        return f"{self.tag}-{kind}{number}"

    def address(self, number):
        """Where clients and other nodes reach a node."""
        return f"{CLIENTS}.{10 + number}"

    def cut(self, number):
        """Packets between the node and the database vanish silently from now on, in both directions."""
        run("link", "set", self.link(number, "d"), "down")

    def join(self, number):
        run("link", "set", self.link(number, "d"), "up")

    def down(self):
        if self.lock:
            self.remove()
            self.lock.close()
            self.lock = None

    def remove(self):
        for number in self.nodes:
            for kind in ("c", "d"):
                subprocess.run(["ip", "link", "del", self.link(number, kind)], capture_output=True, check=False)
            subprocess.run(["ip", "netns", "del", self.namespace(number)], capture_output=True, check=False)
        for kind in ("c", "d"):
            subprocess.run(["ip", "link", "del", f"{self.tag}-{kind}"], capture_output=True, check=False)
