"""Processes of the test cluster: start, end, free ports, and the user that they run as.

Each process leads a session of its own, so that a signal reaches it with all of its children. PostgreSQL refuses to run as root;
then it, Patroni and etcd run as the user `postgres`.
"""

import ctypes
import os
import pwd
import signal
import socket
import subprocess
import time


class ClusterError(Exception):
    """The cluster cannot be started or does not become healthy; the text says why."""


def free_ports(count):
    """Ports that are free now. They are held until all are found, so that no port is returned twice."""
    held = []
    for _ in range(count):
        one = socket.socket()
        one.bind(("127.0.0.1", 0))
        held.append(one)
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def database_user():
    """What `subprocess.Popen` needs to run a program as `postgres` where this one runs as root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def make_folder(path):
    """A folder that only the user of the database may read."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    owner = database_user()
    if owner:
        os.chown(path, owner["user"], owner["group"])
    return path


def wait_for(probe, what, secs, process=None):
    """The first answer of the probe that is true. Fails early if the process has ended."""
    deadline = time.monotonic() + secs
    while True:
        answer = probe()
        if answer:
            return answer
        if process is not None and process.ended():
            raise ClusterError(f"{what}: {process.name} ended, see {process.log}")
        if time.monotonic() > deadline:
            raise ClusterError(f"{what}: not within {secs} s")
        time.sleep(0.1)


class Process:
    """A program that can be started again after it was killed. Its output goes to a file."""

    def __init__(self, name, command, folder, as_database_user=False, environment=None):
        self.name, self.command, self.folder = name, command, folder
        self.log = f"{folder}/{name}.log"
        self.credentials = database_user() if as_database_user else {}
        self.environment = {**os.environ, "HOME": folder, **(environment or {})}
        self.child = None

    def start(self):
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=self.environment, start_new_session=True, **self.credentials,
            )
        return self

    @property
    def pid(self):
        return self.child.pid if self.child else None

    def ended(self):
        return self.child is None or self.child.poll() is not None

    def signal(self, number):
        """Sends a signal to the process and its children."""
        if not self.ended():
            try:
                os.killpg(self.child.pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.child:
            self.child.wait()

    def terminate(self, secs=20):
        """Ends the process politely, and kills it if it takes too long."""
        self.signal(signal.SIGTERM)
        try:
            if self.child:
                self.child.wait(secs)
        except subprocess.TimeoutExpired:
            self.kill()


def adopt_orphans():
    """Makes this program the parent of what its children leave behind, so that nothing killed stays as a zombie."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1)


def is_running(pid):
    """Whether there is such a process that has not ended, also if its end was not waited for yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def descendants(pid):
    """A process and all of its children, by /proc."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                    parents.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
            except OSError:
                continue
    found, pending = [], [pid]
    while pending:
        one = pending.pop()
        found.append(one)
        pending.extend(parents.get(one, []))
    return found


def kill_tree(pid):
    """Kills a process with all of its children at once, as a machine does that loses power."""
    every = descendants(pid)
    for one in every:
        try:
            os.kill(one, signal.SIGSTOP)
        except ProcessLookupError:
            continue
    for one in every:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            continue
    reap(every)


def reap(pids, secs=5):
    """Waits until they are gone. Those that are not children of this program are reaped by another one."""
    deadline = time.monotonic() + secs
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in pids:
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            continue
