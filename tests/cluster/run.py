#!/usr/bin/env python3
"""A cluster on this machine, its load, its faults and its checker.

    python3 tests/cluster/run.py short                     kill, stop and drain of nodes; about a minute
    python3 tests/cluster/run.py long                      everything, on three PostgreSQL under Patroni; about eight minutes
    python3 tests/cluster/run.py faults kill-node drain    chosen faults
    python3 tests/cluster/run.py embedded                  the same load and checker with one ordinary server
    python3 tests/cluster/run.py up | status | down        a cluster to try things with
    python3 tests/cluster/run.py verify HISTORY            the checker again, on a history that --history wrote

Exit status: 0 all targets met, 1 a target missed or a promise broken, 2 wrong arguments, 3 the cluster did not start,
77 skipped because PostgreSQL, Patroni or etcd is not installed and could not be.
"""

import argparse
import asyncio
import os
import shutil
import sys
import time

import appends
import faults
import finding
import packages
import rates
import trimming
import upgrading
from checker import RULES, check
from history import History
from load import Load
from network import Network
from nodes import make_nodes, make_realms, temporary_folder
from postgres import make_database
from processes import ClusterError, adopt_orphans
from report import Row, print_table, write_json
from state import CLUSTER_FOLDER, read_state, remove_state, write_state

MISSED, NOT_STARTED, SKIPPED = 1, 3, 77
#: What the faults are called on the command line, and whether they need Patroni or namespaces.
FAULTS = {
    "calm": (faults.calm, None),
    "kill-node": (faults.kill_node, None),
    "stop-node": (faults.stop_node, None),
    "wipe-node": (faults.wipe_node, None),
    "drain": (faults.drain_each, None),
    "cut": (faults.cut_network, "network"),
    "kill-postgres": (faults.kill_postgres, "patroni"),
    "kill-database-host": (faults.kill_database_host, "patroni"),
    "kill-standby-host": (faults.kill_standby_host, "patroni"),
    "wrong-node": (None, None),
    "rate": (None, None),
    "trim": (None, None),
    "find": (None, None),
    "appends": (None, None),
    "upgrade": (upgrading.upgrade_each, "next"),
    "kill-and-start": (faults.kill_and_start, "embedded"),
}
SHORT = ["find", "calm", "wipe-node", "stop-node", "drain"]
EMBEDDED = ["calm", "kill-and-start", "rate"]
LONG = ["appends", "find", "wrong-node", "calm", "drain", "kill-node", "stop-node", "wipe-node", "cut", "kill-postgres", "kill-standby-host",
        "kill-database-host", "upgrade", "rate", "trim"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    forms = ["short", "long", "faults", "embedded", "up", "status", "down", "verify"]
    parser.add_argument("form", choices=forms)
    parser.add_argument("names", nargs="*", help=f"instead of those of the form: {', '.join(FAULTS)}; for verify: the file")
    parser.add_argument("--binary", default="target/release/millstream")
    parser.add_argument("--next-binary", metavar="FILE", help="a build with `--features next-records`, for upgrade")
    parser.add_argument("--database", choices=["plain", "patroni"], help="default: patroni for long and up, else plain")
    parser.add_argument("--tls", action="store_true", help="nodes verify the certificates of the databases; needs openssl")
    parser.add_argument("--install", action="store_true", help="install missing Debian packages, as root; no service is started")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--realms", type=int, default=20, help="organizations")
    parser.add_argument("--people", type=int, default=10, help="clients of each organization")
    parser.add_argument("--sends", type=float, default=100, help="messages a second, of all clients together")
    parser.add_argument("--reads", type=float, default=100, help="reads a second")
    parser.add_argument("--stop-secs", type=float, help="how long a node is stopped (default: 30, short: 10)")
    parser.add_argument("--patience", type=float, default=1, help="multiplies all time limits, for slow builds and busy machines")
    parser.add_argument("--json", metavar="FILE", help="write the table, the violations and the machine")
    parser.add_argument("--history", metavar="FILE", help="write what the clients saw")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs and data")
    options = parser.parse_args()
    if not os.path.exists(options.binary) and options.form not in ("status", "down", "verify"):
        parser.error(f"{options.binary} does not exist: cargo build --release, or --binary")
    options.binary = os.path.abspath(options.binary)
    if options.next_binary:
        options.next_binary = os.path.abspath(options.next_binary)
    if options.database is None:
        options.database = "patroni" if options.form in ("long", "up") else "plain"
    if options.stop_secs is None:
        options.stop_secs = 10 if options.form == "short" else 30
    unknown = [name for name in options.names if options.form != "verify" and name not in FAULTS]
    if unknown or (options.form in ("faults", "verify") and not options.names):
        parser.error(f"names of faults, or a file for verify, are expected: {unknown}")
    return options


class Cluster:
    """Everything that runs, in a folder of its own."""

    def __init__(self, options, wants_network):
        self.folder = temporary_folder()
        self.network, self.database = None, None
        if wants_network:
            self.network = Network(options.nodes)
        if options.form != "embedded":
            addresses = [self.network.database_address] if self.network else []
            self.database = make_database(options.database, f"{self.folder}/database", addresses, options.tls)
        count = 1 if options.form == "embedded" else options.nodes
        self.nodes = make_nodes(count, options.binary, self.folder, self.database, self.network)

    def up(self):
        started = time.monotonic()
        if self.network:
            self.network.up()
        if self.database:
            self.database.up()
            print(f"database ({self.database.form}) after {time.monotonic() - started:.1f} s", flush=True)
        # The first node of a development server makes an organization, which the others find.
        for some in (self.nodes[:1], self.nodes[1:]):
            for node in some:
                node.start()
            for node in some:
                node.wait_until_ready()
        print(f"{len(self.nodes)} nodes after {time.monotonic() - started:.1f} s", flush=True)

    def down(self):
        for node in self.nodes:
            node.process.kill()
        if self.database:
            self.database.down()
        if self.network:
            self.network.down()

    def pids(self):
        return [node.process.pid for node in self.nodes] + (self.database.processes() if self.database else [])


def chosen(options):
    """The faults to make, without those that are impossible here, which are named."""
    names = options.names or {"short": SHORT, "long": LONG, "embedded": EMBEDDED}[options.form]
    left_out, without_network = [], "cut" in names and Network.unavailable()
    for name in names:
        needs = FAULTS[name][1]
        if needs == "next" and not options.next_binary:
            left_out.append((name, "needs --next-binary"))
        elif needs == "patroni" and options.database != "patroni":
            left_out.append((name, "needs --database patroni"))
        elif (needs == "embedded") != (options.form == "embedded") and name not in ("calm", "rate"):
            left_out.append((name, "is for a single server" if needs == "embedded" else "needs a cluster"))
        elif needs == "network" and without_network:
            left_out.append((name, without_network))
    for name, why in left_out:
        print(f"skipped: {name}: {why}")
    skipped = [name for name, _ in left_out]
    return [name for name in names if name not in skipped]


async def make_faults(names, options, cluster, realms):
    """The load with its faults; the rows of the table and the history."""
    rows = list(appends.append_rates(cluster.database)) if "appends" in names else []
    if "find" in names:
        rows += finding.find(cluster.nodes, realms)
    if "wrong-node" in names:
        rows += [row async for row in rates.wrong_node(realms, cluster.nodes)]
    under_load = [name for name in names if FAULTS[name][0]]
    load = Load(realms, cluster.nodes, options.sends, options.reads)
    if not under_load:
        return rows, load
    await load.start()
    print(f"{len(load.clients)} clients with a queue each", flush=True)
    run = faults.Run(load, cluster.nodes, cluster.database, cluster.network)
    for name in under_load:
        print(f"fault: {name}", flush=True)
        try:
            more = {"stop-node": [options.stop_secs], "upgrade": [options.next_binary]}.get(name, [])
            await FAULTS[name][0](run, *more)
        except (ClusterError, OSError, KeyError) as error:
            rows.append(Row(name, f"not finished: {type(error).__name__}: {error}", None, 0))
    await load.stop()
    for make_rows in run.figures:
        rows += make_rows()
    return rows, load


async def trimmed(cluster, load, realm):
    return [row async for row in trimming.trim(cluster, load, realm)]


def judge(history):
    """A row for each rule of the checker, and what broke it."""
    violations = check(history)
    rows = [Row("all", RULES[rule], len(lines), 0) for rule, lines in violations.items()]
    return rows, violations


def print_violations(violations):
    for rule, lines in violations.items():
        for line in lines[:5]:
            print(f"{rule}: {line}")
        if len(lines) > 5:
            print(f"{rule}: and {len(lines) - 5} more")


def test(options):
    names = chosen(options)
    cluster = Cluster(options, "cut" in names)
    passed = False
    try:
        cluster.up()
        realms = make_realms(cluster.nodes, options.realms, options.people)
        rows, load = asyncio.run(make_faults(names, options, cluster, realms))
        if "rate" in names:
            rows += rates.aggregate(realms, cluster.nodes)
        if "trim" in names:
            rows += asyncio.run(trimmed(cluster, load, realms[0]))
        history, violations = load.history, {}
        if history.sends:
            judged, violations = judge(history)
            rows += judged
            rows.append(Row("all", "messages acknowledged", sum(send.message_id > 0 for send in history.sends)))
            rows.append(Row("all", "deliveries", sum(len(queue.deliveries) for queue in history.queues)))
            rows.append(Row("all", "longest pause of the clients' own program", load.longest_pause, unit="s"))
        if options.history:
            history.save(options.history)
        for row in rows:
            row.relax(options.patience)
        passed = all(row.passed() for row in rows)
        print_table(rows)
        print_violations(violations)
        if options.json:
            facts = {"form": options.form, "database": options.database, "nodes": len(cluster.nodes), "faults": names}
            write_json(options.json, rows, violations, facts)
    finally:
        cluster.down()
        if passed and not options.keep:
            shutil.rmtree(cluster.folder)
        else:
            print(f"logs and data: {cluster.folder}")
    return 0 if passed else MISSED


def up(options):
    if read_state():
        raise ClusterError(f"a cluster is running already, see {CLUSTER_FOLDER}; `down` ends it")
    cluster = Cluster(options, wants_network=False)
    try:
        cluster.up()
    except BaseException:
        cluster.down()
        raise
    write_state(cluster)
    print("\n".join(f"{node.name}: {node.url} (log: {node.process.log})" for node in cluster.nodes))
    print(f"database: {cluster.database.url()}")
    return 0


def status(_options):
    found = read_state()
    if not found:
        print("no cluster is running")
        return NOT_STARTED
    for name, text in found.lines():
        print(f"{name}: {text}")
    return 0


def down(_options):
    found = read_state()
    if found:
        found.end()
        remove_state()
    print("ended" if found else "no cluster is running")
    return 0


def verify(options):
    rows, violations = judge(History.load(options.names[0]))
    print_table(rows)
    print_violations(violations)
    return 0 if all(row.passed() for row in rows) else MISSED


def main():
    options = arguments()
    needs_packages = options.form not in ("embedded", "status", "down", "verify")
    lacking = packages.missing(options.database) if needs_packages else []
    if lacking:
        why = packages.install(options.database) if options.install else "without --install nothing is installed"
        if why:
            print(f"skipped: the cluster needs {', '.join(lacking)} ({' '.join(packages.wanted_packages(options.database))}): {why}")
            return SKIPPED
    adopt_orphans()
    try:
        return {"up": up, "status": status, "down": down, "verify": verify}.get(options.form, test)(options)
    except (ClusterError, OSError) as error:
        print(f"the cluster did not start: {error}")
        return NOT_STARTED


if __name__ == "__main__":
    sys.exit(main())
