"""The Debian packages that the test cluster needs, and installing them without starting their services."""

import os
import shutil
import subprocess
import sys

PACKAGES = ["postgresql-15", "patroni", "etcd-server", "etcd-client", "python3-etcd"]
POSTGRES_PROGRAMS = "/usr/lib/postgresql/15/bin"
DENY = "/usr/sbin/policy-rc.d"
CREATE_CLUSTER = "/etc/postgresql-common/createcluster.conf"


def missing(form):
    """The programs that the form (`plain` or `patroni`) of the cluster lacks."""
    wanted = {"postgres": f"{POSTGRES_PROGRAMS}/postgres", "psql": f"{POSTGRES_PROGRAMS}/psql"}
    if form == "patroni":
        wanted.update(patroni="patroni", etcd="etcd")
    return sorted(name for name, program in wanted.items() if not shutil.which(program))


def install(form):
    """Why the packages could not be installed; None if they are there now."""
    if os.geteuid() != 0:
        return "only root can install packages"
    if not shutil.which("apt-get"):
        return "there is no apt-get"
    denied = deny_services()
    try:
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *wanted_packages(form)]):
            done = subprocess.run(
                ["apt-get", "-o", "Dpkg::Options::=--force-confold", *command],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, capture_output=True, text=True, check=False,
            )
            if done.returncode:
                return f"apt-get {command[0]}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}"
    finally:
        if denied:
            os.remove(DENY)
    lacking = missing(form)
    return f"still missing: {', '.join(lacking)}" if lacking else None


def wanted_packages(form):
    return PACKAGES if form == "patroni" else PACKAGES[:1]


def deny_services():
    """Keeps packages from starting services and PostgreSQL's from making a database. True if the rule is to be removed."""
    if not os.path.exists(CREATE_CLUSTER):
        os.makedirs(os.path.dirname(CREATE_CLUSTER), exist_ok=True)
        with open(CREATE_CLUSTER, "w", encoding="utf-8") as file:
            file.write("create_main_cluster = false\n")
    if os.path.exists(DENY):
        return False
    with open(DENY, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 101\n")
    os.chmod(DENY, 0o755)
    return True


if __name__ == "__main__":
    FORM = (sys.argv[1:] or ["plain"])[0]
    REASON = install(FORM) if missing(FORM) else None
    if REASON:
        sys.exit(f"skipped: {' and '.join(missing(FORM))} cannot be installed: {REASON}")
