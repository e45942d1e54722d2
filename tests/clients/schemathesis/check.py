"""The OpenAPI document is valid, and the server keeps it, whatever `schemathesis` sends.

    python check.py URL [SECONDS]

The calls are those of an owner. Prints `N passed, N failed`. Exit status 0 only if nothing failed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

from openapi_spec_validator import validate

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from common import User, run  # noqa: E402

SCHEMATHESIS = str(pathlib.Path(sys.executable).parent / "schemathesis")
OWNER = "desdemona@zulip.com"
SECONDS = 90
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]
# What is left out, and why.
EXCLUDED = {
    "deactivate-realm": "every later call would be refused",
    "deactivate-own-user": "every later call would be refused",
    "regenerate-own-api-key": "every later call would be refused",
    "get-events": "a poll without events waits for a minute",
    "begin-upload": "its body has a type that schemathesis cannot write",
    "begin-upload-without-slash": "its body has a type that schemathesis cannot write",
    "continue-upload": "its body has a type that schemathesis cannot write",
    "test-notify": "502 is the documented answer without a push service that can be reached",
    "e2ee-test-notify": "502 is the documented answer without a push service that can be reached",
}


class Checks:
    """The checks, in the order in which they run."""

    def __init__(self, url, seconds):
        self.address, self.seconds = url + "/api/v1/openapi.json", seconds
        self.key = User(url, OWNER).key

    def test_document_is_valid_openapi(self):
        with urllib.request.urlopen(self.address, timeout=60) as answer:
            validate(json.load(answer))

    def test_answers_are_as_documented(self):
        command = [SCHEMATHESIS, "run", self.address, "--auth", f"{OWNER}:{self.key}", "--checks", ",".join(CHECKS)]
        command += ["--phases", "examples,coverage,fuzzing", "--max-examples", "4", "--max-time", str(self.seconds)]
        command += ["--seed", "1", "--generation-database", "none", "--no-shrink", "--warnings", "off", "--no-color"]
        command += ["--request-timeout", "30", "--suppress-health-check", "all", "--continue-on-failure"]
        for name in EXCLUDED:
            command += ["--exclude-operation-id", name]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]


if __name__ == "__main__":
    run(Checks(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else SECONDS))
