"""What the database alone takes: the statement that appends to logs, by PostgreSQL's own `pgbench`.

It has the form of the server's: the row of the head is compared and advanced, and the frame inserted, in one statement. The rates
are a bound for the nodes, and show how much a statement for many organizations saves.
"""

import os
import re
import subprocess

from packages import POSTGRES_PROGRAMS
from processes import ClusterError, database_user
from report import Row

TABLES = """
CREATE SCHEMA appends;
CREATE TABLE appends.head (realm bigint PRIMARY KEY, epoch bigint, seq bigint) WITH (fillfactor = 50);
CREATE TABLE appends.log (realm bigint, seq bigint, epoch bigint, frame bytea, PRIMARY KEY (realm, seq));
INSERT INTO appends.head SELECT realm, 1, 0 FROM generate_series(0, 1023) AS realm;
"""
#: 300 bytes, as a frame with a message of some words.
APPEND = """
WITH h AS (UPDATE appends.head SET seq = seq + 1 WHERE realm {realms} AND epoch = 1 RETURNING realm, seq)
INSERT INTO appends.log SELECT realm, seq, 1, decode(repeat('5a', 300), 'hex') FROM h;
"""
ONE, MANY = "= :client_id", "BETWEEN :client_id * 64 AND :client_id * 64 + 63"
#: Name, connections, organizations of a statement.
RUNS = [("one organization", 1, ONE), ("64 organizations", 64, ONE), ("64 organizations a statement, 4 connections", 4, MANY)]


def append_rates(database, secs=5):
    """Appends a second and the mean time of a statement. Removes its tables."""
    database.sql("DROP SCHEMA IF EXISTS appends CASCADE")
    database.sql(TABLES)
    try:
        for name, connections, realms in RUNS:
            rate, mean = pgbench(database, APPEND.format(realms=realms).replace("\n", " "), connections, secs)
            frames = rate * (64 if realms == MANY else 1)
            yield Row("appends without nodes", f"{name}: frames", frames, unit="/s")
            yield Row("appends without nodes", f"{name}: mean time of a statement", mean, unit="ms")
    finally:
        database.sql("DROP SCHEMA appends CASCADE")


def pgbench(database, statement, connections, secs):
    script = f"{database.folder}/append.sql"
    with open(script, "w", encoding="utf-8") as file:
        file.write(statement)
    os.chmod(script, 0o644)
    command = [f"{POSTGRES_PROGRAMS}/pgbench", "-h", database.folder, "-p", str(database.primary_port()), "-U", "postgres"]
    command += ["-n", "-M", "prepared", "-c", str(connections), "-T", str(secs), "-f", script, "postgres"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **database_user())
    tps = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
    mean = re.search(r"^latency average = ([0-9.]+) ms", done.stdout, re.MULTILINE)
    if done.returncode or not tps:
        raise ClusterError(f"pgbench: {done.stderr.strip()[-300:]}")
    return float(tps.group(1)), float(mean.group(1))
