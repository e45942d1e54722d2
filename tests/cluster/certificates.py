"""An authority and a certificate for the databases of the test, which nodes verify as they would in production."""

import os
import subprocess

from processes import ClusterError, database_user


def make_certificates(folder, addresses):
    """Paths of the authority (`ca`), the certificate (`cert`) and its key (`key`)."""
    paths = {name: f"{folder}/{name}.pem" for name in ("ca", "ca-key", "cert", "key", "request")}
    names = ",".join(f"IP:{address}" for address in addresses)
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *new_key, "-days", "3", "-subj", "/CN=test authority", "-keyout", paths["ca-key"], "-out", paths["ca"])
    openssl("req", *new_key, "-subj", "/CN=test database", "-keyout", paths["key"], "-out", paths["request"])
    extensions = f"{folder}/extensions"
    with open(extensions, "w", encoding="utf-8") as file:
        file.write(f"subjectAltName={names}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n")
    openssl(
        "x509", "-req", "-in", paths["request"], "-CA", paths["ca"], "-CAkey", paths["ca-key"], "-CAcreateserial",
        "-days", "3", "-extfile", extensions, "-out", paths["cert"],
    )
    owner = database_user()
    for path in (paths["cert"], paths["key"]):
        os.chmod(path, 0o600)
        if owner:
            os.chown(path, owner["user"], owner["group"])
    return paths


def openssl(*arguments):
    try:
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ClusterError("openssl is not installed") from None
    if done.returncode:
        raise ClusterError(f"openssl {arguments[0]}: {done.stderr.strip()[-300:]}")
