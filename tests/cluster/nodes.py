"""The nodes: processes of `millstream dev` on one database, or a single one without, and the organizations of the test."""

import glob
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request
from collections import namedtuple

from load import CHANNEL
from processes import ClusterError, Process, free_ports, wait_for

START_SECS = 60
#: So few changes that each organization of a run gets a checkpoint.
CHECKPOINT_FRAMES = "50"
#: One name for all nodes, which clients send as `Host`, as they would behind a load balancer.
EXTERNAL_URL = "http://localhost:9991"

Realm = namedtuple("Realm", "name host accounts")


class Node:
    """One process of the server. In a namespace it listens on the address that it has there."""

    def __init__(self, number, binary, folder, port, database=None, network=None):
        self.name, self.number, self.binary = f"n{number}", number, binary
        self.host = network.address(number) if network else "127.0.0.1"
        self.address = (self.host, port)
        self.folder = f"{folder}/{self.name}"
        os.makedirs(self.folder, exist_ok=True)
        self.shared = f"{folder}/shared"
        self.environment = {"MILLSTREAM_EXTERNAL_URL": EXTERNAL_URL}
        if database:
            # Commands run outside of the namespace, where the database has another address.
            self.database_of_commands = database.url()
            address = network.database_address if network else "127.0.0.1"
            self.environment |= {
                "MILLSTREAM_CLUSTER_DATABASE": database.url(address),
                "MILLSTREAM_CLUSTER_NODE": self.name,
                "MILLSTREAM_CLUSTER_ADVERTISE": self.url,
                "MILLSTREAM_CLUSTER_SHARED_FOLDER": self.shared,
                "MILLSTREAM_CLUSTER_LOG_KEEP": "1 day",
                "MILLSTREAM_STORAGE_CHECKPOINT_FRAMES": CHECKPOINT_FRAMES,
            }
        words = [binary, "dev", "--empty", "--data", f"{self.folder}/data", "--listen", f"{self.host}:{port}"]
        if network:
            words = ["ip", "netns", "exec", network.namespace(number), *words]
        self.process = Process(self.name, words, self.folder, environment=self.environment)

    @property
    def url(self):
        return f"http://{self.host}:{self.address[1]}"

    def start(self):
        self.process.start()
        return self

    def use(self, binary):
        """The build of the next start."""
        self.process.command = [binary if word == self.binary else word for word in self.process.command]
        self.binary = binary

    def wipe(self):
        """Removes the data folder of the process, which has ended."""
        shutil.rmtree(f"{self.folder}/data")

    def metric(self, name):
        """The value of a metric without labels; 0 before it was counted."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))

    def checkpoints(self, realm):
        """How many checkpoints of an organization are in the files that the nodes share."""
        return len(glob.glob(f"{self.shared}/cluster/*/realm-{realm:010}/*.base"))

    def wait_until_ready(self, secs=START_SECS):
        wait_for(self.is_ready, f"start of {self.name}", secs, self.process)

    def is_ready(self):
        health = self.health()
        return bool(health) and health.get("cluster", {}).get("is_ready", True)

    def health(self):
        """The answer of `/health`, or None."""
        try:
            status, body = self.ask("GET", "/health", secs=2)
            return body if status == 200 else None
        except (OSError, ValueError, http.client.HTTPException):
            return None

    def ask(self, method, path, fields=None, host=None, secs=60):
        connection = http.client.HTTPConnection(*self.address, timeout=secs)
        try:
            headers = {"Host": host} if host else {}
            body = None
            if fields is not None:
                body = urllib.parse.urlencode(fields)
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def command(self, *words, secs=120):
        """Runs the binary with this node's configuration, such as `cluster status`; what it printed."""
        environment = {**os.environ, **self.environment, "MILLSTREAM_CLUSTER_DATABASE": self.database_of_commands}
        done = subprocess.run(
            [self.binary, *words], env=environment, capture_output=True, text=True, timeout=secs, check=False
        )
        if done.returncode:
            raise ClusterError(f"millstream {' '.join(words)}: {(done.stderr or done.stdout).strip()[-300:]}")
        return done.stdout


def make_nodes(count, binary, folder, database=None, network=None):
    """`database` is one of postgres.py, or None for a single server of its own."""
    ports = free_ports(count)
    return [Node(number, binary, folder, port, database, network) for number, port in enumerate(ports, 1)]


def ids(nodes):
    """For each organization its number, as `cluster status` prints it."""
    status = json.loads(nodes[0].command("cluster", "status", "--output", "json"))
    return {one["subdomain"]: one["realm"] for one in status["organizations"]}


def owners(nodes):
    """For each organization the name of its node, as `cluster status` prints it."""
    status = json.loads(nodes[0].command("cluster", "status", "--output", "json"))
    return {one["subdomain"]: one["node"] for one in status["organizations"]}


def seed(people):
    """An organization with so many members, and one channel that all of them are in."""
    owner = "owner@load.example"
    users = [{"email": owner, "full_name": "Owner", "role": "owner"}]
    users += [{"email": f"u{one}@load.example", "full_name": f"Member {one}"} for one in range(people)]
    channels = [{"name": CHANNEL, "subscribers": "everyone"}]
    text = {"name": "Load", "email_domain": "load.example", "creator": owner, "users": users, "channels": channels}
    return json.dumps(text)


def make_realms(nodes, count, people):
    """Organizations, made by each node in turn, and the accounts of their members."""
    made = []
    for number in range(count):
        node = nodes[number % len(nodes)]
        fields = {"subdomain": f"o{number}", "seed": seed(people)}
        status, body = node.ask("POST", "/dev/realms", fields)
        if status != 200:
            raise ClusterError(f"{node.name} does not make an organization: {status} {body}")
        accounts = [(user["email"], user["api_key"]) for user in body["users"] if user["email"].startswith("u")]
        made.append(Realm(body["subdomain"], body["host"], accounts))
    return made


def temporary_folder():
    """A folder for everything of a run, which the database's user may enter."""
    folder = tempfile.mkdtemp(prefix="millstream-cluster-")
    os.chmod(folder, 0o755)
    return folder
