"""PostgreSQL in its two forms: one server with a standby, and three under Patroni with three members of etcd.

Both confirm a commit only when a second copy is on its disk. `hosts` has the addresses of all servers, of which clients
find the primary themselves. Whatever ends with a Patroni cluster is put together again by `heal`.
"""

import json
import os
import secrets
import subprocess
import time
import urllib.request

from packages import POSTGRES_PROGRAMS
from certificates import make_certificates
from processes import ClusterError, Process, database_user, free_ports, is_running, kill_tree, make_folder, wait_for

START_SECS = 120
#: What both forms are run with. Durability is left at PostgreSQL's safe defaults, and written down here on purpose.
PARAMETERS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "wal_level": "replica",
    "wal_log_hints": "on",
    "max_connections": "200",
    "max_wal_senders": "10",
    "max_replication_slots": "10",
    "shared_buffers": "64MB",
    # A frozen standby that has to confirm commits holds them up for this long.
    "wal_sender_timeout": "10s",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}


class Database:
    """The role and the database that nodes use, in either form. The forms have `ports` and `primary_port`."""

    def __init__(self, folder, addresses, tls):
        self.folder = make_folder(folder)
        self.addresses = addresses
        self.parameters = dict(PARAMETERS)
        self.options, self.hosts = "?sslmode=disable", "host"
        if tls:
            certificates = make_certificates(self.folder, ["127.0.0.1", *addresses])
            self.parameters |= {"ssl": "on", "ssl_cert_file": certificates["cert"], "ssl_key_file": certificates["key"]}
            self.options, self.hosts = f"?sslmode=verify-full&sslrootcert={certificates['ca']}", "hostssl"
        self.password = secrets.token_hex(16)
        self.admin_password = secrets.token_hex(16)

    def url(self, address="127.0.0.1"):
        """What a node gets as `[cluster] database`, if it reaches the servers at this address."""
        hosts = ",".join(f"{address}:{port}" for port in self.ports)
        return f"postgres://millstream:{self.password}@{hosts}/millstream{self.options}"

    def access_rules(self):
        lines = ["local all all trust"]
        for network in ["127.0.0.1/32"] + [f"{address}/16" for address in self.addresses]:
            lines.append(f"{self.hosts} millstream millstream {network} scram-sha-256")
            lines += [f"host all postgres {network} scram-sha-256", f"host replication replicator {network} scram-sha-256"]
        return lines

    def listen(self):
        return ",".join(["127.0.0.1", *self.addresses])

    def sql(self, text, port=None, database="postgres"):
        """Runs SQL as the superuser through the socket; what it printed."""
        command = [f"{POSTGRES_PROGRAMS}/psql", "-h", self.folder, "-p", str(port or self.primary_port()), "-U", "postgres"]
        command += ["-d", database, "-At", "-v", "ON_ERROR_STOP=1", "-c", text]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, **database_user())
        if done.returncode:
            raise ClusterError(f"psql: {done.stderr.strip()}")
        return done.stdout.strip()

    def make_role(self):
        self.sql(f"CREATE ROLE millstream LOGIN PASSWORD '{self.password}'")
        self.sql("CREATE DATABASE millstream OWNER millstream")


class PlainDatabase(Database):
    """A primary and one synchronous standby, without anything that replaces the primary when it dies."""

    form = "plain"

    def __init__(self, folder, addresses=(), tls=False):
        super().__init__(folder, list(addresses), tls)
        self.ports = free_ports(2)
        self.servers = [self.server(f"p{number}", port) for number, port in enumerate(self.ports, 1)]

    def server(self, name, port):
        command = [f"{POSTGRES_PROGRAMS}/postgres", "-D", f"{self.folder}/{name}", "-p", str(port)]
        command += ["-k", self.folder, "-c", f"listen_addresses={self.listen()}"]
        return Process(name, command, self.folder, as_database_user=True)

    def primary_port(self):
        return self.ports[0]

    def up(self):
        self.run("initdb", "-D", f"{self.folder}/p1", "-U", "postgres", "--auth=trust", "--data-checksums", "-E", "UTF8")
        with open(f"{self.folder}/p1/postgresql.conf", "a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in self.parameters.items())
        with open(f"{self.folder}/p1/pg_hba.conf", "w", encoding="utf-8") as file:
            file.write("\n".join([*self.access_rules(), "local replication all trust"]) + "\n")
        self.start_server(0)
        self.run(
            "pg_basebackup", "-h", self.folder, "-p", str(self.ports[0]), "-U", "postgres", "-D", f"{self.folder}/p2",
            "-R", "-X", "stream", "-c", "fast", "-d", f"application_name=p2 host={self.folder}",
        )
        self.start_server(1)
        self.sql("ALTER SYSTEM SET synchronous_standby_names = 'p2'")
        self.sql("SELECT pg_reload_conf()")
        wait_for(self.is_safe, "the standby confirms commits", START_SECS)
        self.make_role()

    def is_safe(self):
        return self.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"

    def start_server(self, number):
        server = self.servers[number].start()
        ready = [f"{POSTGRES_PROGRAMS}/pg_isready", "-q", "-h", self.folder, "-p", str(self.ports[number])]
        wait_for(lambda: subprocess.run(ready, check=False).returncode == 0, f"start of {server.name}", START_SECS, server)

    def run(self, program, *arguments):
        done = subprocess.run(
            [f"{POSTGRES_PROGRAMS}/{program}", *arguments], capture_output=True, text=True, check=False,
            cwd=self.folder, **database_user(),
        )
        if done.returncode:
            raise ClusterError(f"{program}: {done.stderr.strip()}")

    def status(self):
        return [f"{server.name}: {'ended' if server.ended() else 'running'}" for server in self.servers]

    def processes(self):
        return [server.pid for server in self.servers if not server.ended()]

    def down(self):
        for server in self.servers:
            if not server.ended():
                kill_tree(server.pid)


class PatroniDatabase(Database):
    """Three hosts, each with a member of etcd, Patroni and PostgreSQL."""

    form = "patroni"

    def __init__(self, folder, addresses=(), tls=False):
        super().__init__(folder, list(addresses), tls)
        ports = free_ports(12)
        self.ports, self.rest, self.client, self.peer = ports[:3], ports[3:6], ports[6:9], ports[9:]
        self.etcd = [self.etcd_member(host) for host in range(3)]
        self.patroni = [self.patroni_member(host) for host in range(3)]

    def etcd_member(self, host):
        peers = ",".join(f"e{one + 1}=http://127.0.0.1:{port}" for one, port in enumerate(self.peer))
        client, peer = f"http://127.0.0.1:{self.client[host]}", f"http://127.0.0.1:{self.peer[host]}"
        options = {
            "name": f"e{host + 1}", "data-dir": f"{self.folder}/e{host + 1}", "initial-cluster": peers,
            "listen-client-urls": client, "advertise-client-urls": client,
            "listen-peer-urls": peer, "initial-advertise-peer-urls": peer, "logger": "zap",
        }
        command = ["etcd"] + [f"--{name}={value}" for name, value in options.items()]
        return Process(f"etcd{host + 1}", command, self.folder, as_database_user=True)

    def patroni_member(self, host):
        path = f"{self.folder}/patroni{host + 1}.yml"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.patroni_config(host), file, indent=1)  # JSON is YAML, too.
        os.chmod(path, 0o644)
        return Process(f"patroni{host + 1}", ["patroni", path], self.folder, as_database_user=True)

    def patroni_config(self, host):
        name = f"p{host + 1}"
        shared = {
            "ttl": 20, "loop_wait": 2, "retry_timeout": 5, "maximum_lag_on_failover": 1 << 20,
            # All three copies confirm; where one is missing, Patroni lets two do, but never one alone.
            "synchronous_mode": True, "synchronous_mode_strict": True, "synchronous_node_count": 2,
            "postgresql": {"use_pg_rewind": True, "use_slots": True, "parameters": self.parameters},
        }
        rest = f"127.0.0.1:{self.rest[host]}"
        return {
            "scope": "millstream-test", "name": name,
            "restapi": {"listen": rest, "connect_address": rest},
            "etcd3": {"hosts": [f"127.0.0.1:{port}" for port in self.client]},
            "bootstrap": {"dcs": shared, "initdb": ["data-checksums", {"encoding": "UTF8"}]},
            "postgresql": {
                "listen": f"{self.listen()}:{self.ports[host]}", "connect_address": f"127.0.0.1:{self.ports[host]}",
                "data_dir": f"{self.folder}/{name}", "bin_dir": POSTGRES_PROGRAMS, "pgpass": f"{self.folder}/{name}.pgpass",
                "pg_hba": self.access_rules(), "parameters": {"unix_socket_directories": self.folder},
                "authentication": {
                    "superuser": {"username": "postgres", "password": self.admin_password},
                    "replication": {"username": "replicator", "password": self.admin_password},
                },
                # Without these a second failure during a rewind leaves a copy out until an operator initializes it again.
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
        }

    def up(self):
        for member in self.etcd:
            member.start()
        wait_for(self.etcd_is_healthy, "a majority of etcd", START_SECS, self.etcd[0])
        for member in self.patroni:
            member.start()
        self.wait_until_healthy(START_SECS)
        self.make_role()

    def etcd_is_healthy(self):
        answers = [fetch(f"http://127.0.0.1:{port}/health") for port in self.client]
        return sum(answer is not None and answer.get("health") == "true" for answer in answers) >= 2

    def members(self):
        """Patroni's own view: a list of name, role, state, lag, timeline."""
        for port in self.rest:
            answer = fetch(f"http://127.0.0.1:{port}/cluster")
            if answer and answer.get("members"):
                return answer["members"]
        return []

    def is_healthy(self):
        members = self.members()
        alive = [one for one in members if one.get("state") in ("running", "streaming")]
        roles = sorted(one["role"] for one in alive)
        # The shared view keeps a dead member for a while; each one is asked itself.
        answers = [fetch(f"http://127.0.0.1:{port}/patroni") or {} for port in self.rest]
        running = all(answer.get("state") == "running" for answer in answers)
        return running and len(alive) == 3 and roles == ["leader", "sync_standby", "sync_standby"]

    def wait_until_healthy(self, secs):
        started = time.monotonic()
        wait_for(self.is_healthy, "three copies that confirm commits", secs)
        return time.monotonic() - started

    def leader(self):
        """The number of the host with the primary, from 0; None while there is none."""
        names = [one["name"] for one in self.members() if one["role"] == "leader" and one.get("state") == "running"]
        return int(names[0][1:]) - 1 if names else None

    def standby(self):
        """The number of a host whose copy confirms commits."""
        return next(int(one["name"][1:]) - 1 for one in self.members() if one["role"] == "sync_standby")

    def primary_port(self):
        return self.ports[wait_for(lambda: [self.leader()] if self.leader() is not None else None, "a primary", 60)[0]]

    def postmaster(self, host):
        """The process id of a host's PostgreSQL, which is not a child of Patroni's session."""
        try:
            with open(f"{self.folder}/p{host + 1}/postmaster.pid", encoding="ascii") as file:
                pid = int(file.readline())
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                return pid if file.read().startswith("postgres") and is_running(pid) else None
        except (OSError, ValueError):
            return None

    def kill_host(self, host):
        """What is lost with a machine: its PostgreSQL, Patroni and member of etcd. The disk stays."""
        pid = self.postmaster(host)
        self.patroni[host].kill()
        if pid:
            kill_tree(pid)
        self.etcd[host].kill()

    def kill_postgres(self, host):
        """Only PostgreSQL dies; Patroni starts it again."""
        pid = self.postmaster(host)
        if pid:
            kill_tree(pid)

    def heal(self, host, secs=180):
        """Starts a killed host again; the seconds until all three copies are there."""
        self.etcd[host].start()
        self.patroni[host].start()
        return self.wait_until_healthy(secs)

    def status(self):
        members = self.members()
        lines = [f"{one['name']}: {one['role']}, {one.get('state')}, port {one.get('port')}" for one in members]
        return lines or ["Patroni does not answer"]

    def processes(self):
        children = [one.pid for one in [*self.patroni, *self.etcd] if not one.ended()]
        return children + [pid for pid in map(self.postmaster, range(3)) if pid]

    def down(self):
        for host in range(3):
            self.kill_host(host)


def fetch(url):
    """A JSON answer, or None; Patroni answers 503 with a body where a member is not what the path asks for."""
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None


def make_database(form, folder, addresses=(), tls=False):
    return (PatroniDatabase if form == "patroni" else PlainDatabase)(folder, addresses, tls)
