"""The cluster of `run.py up`, as a later `status` or `down` finds it."""

import json
import os
import shutil
import tempfile

from postgres import fetch
from processes import is_running, kill_tree

CLUSTER_FOLDER = f"{tempfile.gettempdir()}/millstream-cluster-{os.getuid()}"


class State:
    def __init__(self, read):
        self.folder, self.pids = read["folder"], read["pids"]
        self.nodes, self.rest = read["nodes"], read["rest"]

    def lines(self):
        """Name and state of each node and of each server of the database."""
        for name, url in self.nodes.items():
            health = fetch(f"{url}/health")
            yield name, f"{url} {json.dumps(health) if health else 'does not answer'}"
        for port in self.rest:
            answer = fetch(f"http://127.0.0.1:{port}/cluster")
            if answer:
                for one in answer["members"]:
                    yield one["name"], f"{one['role']}, {one.get('state')}, port {one.get('port')}"
                return

    def end(self):
        """Kills what still runs. A number that another program has by now is left alone: ours know the folder."""
        for pid in self.pids:
            if is_running(pid) and self.is_ours(pid):
                kill_tree(pid)
        shutil.rmtree(self.folder, ignore_errors=True)

    def is_ours(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                return self.folder in file.read()
        except OSError:
            return False


def read_state():
    try:
        with open(f"{CLUSTER_FOLDER}/state.json", encoding="utf-8") as file:
            return State(json.load(file))
    except FileNotFoundError:
        return None


def write_state(cluster):
    os.makedirs(CLUSTER_FOLDER, mode=0o700, exist_ok=True)
    state = {
        "folder": cluster.folder,
        "pids": cluster.pids(),
        "nodes": {node.name: node.url for node in cluster.nodes},
        "rest": getattr(cluster.database, "rest", []),
    }
    with open(f"{CLUSTER_FOLDER}/state.json", "w", encoding="utf-8") as file:
        json.dump(state, file)


def remove_state():
    shutil.rmtree(CLUSTER_FOLDER, ignore_errors=True)
