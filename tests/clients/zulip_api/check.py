"""The unmodified `zulip-api` crate: its own unit tests, and its own live tests against the server.

    python check.py URL FOLDER

Cargo fetches the source of the crate; its tests are built and run in FOLDER, which is kept for the next run.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from common import User  # noqa: E402

CARGO = os.environ.get("CARGO", "cargo")

# Tests that cannot pass, each with its reason.
SKIPPED = {
    # The crate does not know the old flag `wildcard_mentioned`, which servers still send beside
    # `stream_wildcard_mentioned`; the sample organization has a message with it.
    "test_get_messages": "refuses a flag that servers send",
}
# Needs uploads, which the server may not have.
UPLOADS = ["test_get_file_temporary_url", "test_upload_file"]


def source(folder):
    """The crate's source, copied from where Cargo keeps it."""
    package = folder / "package"
    package.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "Cargo.toml", package)
    # Cargo insists on a target.
    (package / "none.rs").touch()
    command = [CARGO, "metadata", "--format-version", "1", "--manifest-path", str(package / "Cargo.toml")]
    packages = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["packages"]
    manifest = next(found["manifest_path"] for found in packages if found["name"] == "zulip-api")
    copy = folder / "source"
    shutil.copytree(pathlib.Path(manifest).parent, copy, dirs_exist_ok=True)
    return copy


def main():
    url, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    owner = User(url, "desdemona@zulip.com")
    # Reports of messages go to a channel.
    channel = next(found for found in owner.ok("GET", "/streams")["streams"] if found["name"] == "core team")
    owner.ok("PATCH", "/realm", moderation_request_channel_id=channel["stream_id"])
    copy = source(folder)
    zuliprc = copy / "tests/zuliprc"
    owner.zuliprc(zuliprc)
    with open(zuliprc, "a", encoding="utf-8") as file:
        file.write(f"password={owner.email}\n")
    skipped = list(SKIPPED)
    if owner.call("POST", "/user_uploads").get("code") == "NOT_FOUND":
        skipped += UPLOADS
    for name in skipped:
        print(f"left out: {name} ({SKIPPED.get(name, 'this server has no uploads')})")
    command = [CARGO, "test", "--locked", "--lib", "--tests", "--features", "dev", "--target-dir", str(folder / "target")]
    skips = [word for name in skipped for word in ("--skip", name)]
    # The outer run of Cargo must not change what the inner one builds.
    outer = ("CARGO_", "RUSTFLAGS", "RUSTDOCFLAGS")
    environment = {
        name: value for name, value in os.environ.items()
        if not name.startswith(outer) or name in ("CARGO_HOME", "CARGO_NET_OFFLINE")
    }
    environment["RUST_BACKTRACE"] = "0"
    # One at a time: two of them write and delete the same file.
    done = subprocess.run([*command, "--", "--test-threads=1", *skips], cwd=copy, env=environment, capture_output=True, text=True)
    counts = re.findall(r"^test result: .* (\d+) passed; (\d+) failed;", done.stdout, re.MULTILINE)
    passed = sum(int(count) for count, _ in counts)
    failed = sum(int(count) for _, count in counts)
    if done.returncode != 0 or failed:
        print(done.stdout[-8000:], done.stderr[-4000:])
        failed = max(failed, 1)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
