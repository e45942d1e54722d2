"""What uploads cost: one large file up, many clients that fetch a file of 1 MB, and the memory of the server meanwhile.

    python3 loadtest/uploads.py PATH_TO_MILLSTREAM [MEGABYTES] [FETCHES]

Starts `millstream dev` on a folder of its own. Beside each rate stands what the same machine does without the server: a
file of that size written with an fsync, the same bytes through a socket of this machine, and the same file read by the
same clients from a bare actix-web server with `NamedFile` (`loadtest bare-server`, which is beside the server's program).
"""

import base64
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

OWNER = "desdemona@zulip.com"
CLIENTS = 32
PART = 1 << 20
BOUNDARY = "aBoundaryThatIsNotInTheFile"


def cpu_secs(pid):
    """User and system time of a process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid, name):
    """`VmRSS` or `VmHWM` of a process, in MB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1000


def timed(work):
    begun = time.monotonic()
    result = work()
    return time.monotonic() - begun, result


def upload(netloc, login, megabytes):
    """Sends a file as browsers do, from a buffer of 1 MB."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n'.encode()
    tail = f"\r\n--{BOUNDARY}--\r\n".encode()
    part = os.urandom(PART)
    connection = http.client.HTTPConnection(netloc, timeout=600)
    connection.putrequest("POST", "/api/v1/user_uploads")
    connection.putheader("Authorization", login)
    connection.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
    connection.putheader("Content-Length", str(len(head) + megabytes * PART + len(tail)))
    connection.endheaders(head)
    for _ in range(megabytes):
        connection.send(part)
    connection.send(tail)
    answer = json.loads(connection.getresponse().read())
    assert answer["result"] == "success", answer
    return answer["url"]


def upload_by_tus(netloc, login, megabytes):
    """The same by the resumable protocol, in one request."""
    part = os.urandom(PART)
    connection = http.client.HTTPConnection(netloc, timeout=600)
    name = base64.b64encode(b"large.bin").decode()
    common = {"Authorization": login, "Tus-Resumable": "1.0.0"}
    begin = common | {"Upload-Length": str(megabytes * PART), "Upload-Metadata": f"filename {name}"}
    connection.request("POST", "/api/v1/tus/", headers=begin | {"Content-Length": "0"})
    answer = connection.getresponse()
    location = answer.getheader("Location")
    assert answer.status == 201, answer.read()
    answer.read()
    connection.putrequest("PATCH", "/" + location.split("/", 3)[3] if "://" in location else location)
    for header, value in common.items():
        connection.putheader(header, value)
    connection.putheader("Upload-Offset", "0")
    connection.putheader("Content-Type", "application/offset+octet-stream")
    connection.putheader("Content-Length", str(megabytes * PART))
    connection.endheaders()
    for _ in range(megabytes):
        connection.send(part)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return json.loads(answer.read())["url"]


def write_file(folder, megabytes):
    part = os.urandom(PART)
    with open(os.path.join(folder, "plain"), "wb") as file:
        for _ in range(megabytes):
            file.write(part)
        os.fsync(file.fileno())


def through_socket(megabytes):
    part, listener = os.urandom(PART), socket.create_server(("127.0.0.1", 0))

    def drain():
        connection, _ = listener.accept()
        while connection.recv(PART):
            pass
        connection.send(b"!")

    reader = threading.Thread(target=drain)
    reader.start()
    with socket.create_connection(listener.getsockname()) as sender:
        for _ in range(megabytes):
            sender.sendall(part)
        sender.shutdown(socket.SHUT_WR)
        sender.recv(1)
    reader.join()


def fetch_all(netloc, path, headers, fetches):
    """Each client fetches the file again and again over its own connection."""

    def client():
        connection = http.client.HTTPConnection(netloc, timeout=120)
        for _ in range(fetches // CLIENTS):
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            assert answer.status == 200 and len(answer.read()) == PART

    clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()


def bare_server(loadtest):
    """A bare actix-web server with one worker, which sends the same 1 MB by `NamedFile`."""
    file = tempfile.NamedTemporaryFile(suffix=".bin")
    file.write(os.urandom(PART))
    file.flush()
    command = [loadtest, "bare-server", "--file", file.name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, f"127.0.0.1:{process.stdout.readline().strip()}", file


def measure_upload(server, netloc, login, folder, megabytes, way):
    disk, _ = timed(lambda: write_file(folder, megabytes))
    wire, _ = timed(lambda: through_socket(megabytes))
    before, cpu = resident_mb(server.pid, "VmRSS"), cpu_secs(server.pid)
    took, _ = timed(lambda: way(netloc, login, megabytes))
    rate = lambda secs: f"{megabytes / secs:,.0f} MB/s"
    print(f"{way.__name__} of {megabytes} MB: {rate(took)}; a file with fsync {rate(disk)}, a socket {rate(wire)}")
    print(f"  {disk / took:.2f} x the disk, {wire / took:.2f} x the socket", end="; ")
    print(f"{(cpu_secs(server.pid) - cpu) * 1000 / megabytes:.2f} ms of CPU for each MB", end="; ")
    print(f"resident {before:.0f} MB before, at most {resident_mb(server.pid, 'VmHWM'):.0f} MB since the start")
    # Pages that this machine has not used before cost a virtual machine more than the upload: those of this file are used again.
    shutil.rmtree(os.path.join(folder, "data", "blobs", "uploads"))


def measure_fetches(server, netloc, login, fetches, loadtest):
    path = upload(netloc, login, 1)
    bare, address, file = bare_server(loadtest)
    try:
        for name, process, where, what, headers in [
            ("server", server, netloc, path, {"Authorization": login}),
            ("bare server", bare, address, "/file", {}),
        ]:
            cpu = cpu_secs(process.pid)
            took, _ = timed(lambda: fetch_all(where, what, headers, fetches))
            each = (cpu_secs(process.pid) - cpu) * 1e6 / fetches
            print(f"{CLIENTS} clients fetch 1 MB {fetches} times from the {name}: {fetches / took:,.0f}/s, {each:,.0f} us of CPU each")
    finally:
        bare.kill()
        file.close()


def main():
    binary = sys.argv[1]
    given = [int(text) for text in sys.argv[2:4]]
    megabytes, fetches = given + [100, 3200][len(given) :]
    folder = tempfile.mkdtemp(prefix="uploads")
    ready = os.path.join(folder, "ready.json")
    command = [binary, "dev", "--data", os.path.join(folder, "data"), "--listen", "127.0.0.1:0", "--ready-file", ready]
    environment = os.environ | {"MILLSTREAM_UPLOADS_FILE_MIB_MAX": str(max(megabytes, 100))}
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    try:
        while not os.path.exists(ready):
            assert server.poll() is None, "the server ended"
            time.sleep(0.01)
        with open(ready, encoding="utf-8") as file:
            state = json.load(file)
        key = next(user["api_key"] for user in state["users"] if user["email"] == OWNER)
        login = "Basic " + base64.b64encode(f"{OWNER}:{key}".encode()).decode()
        netloc = state["url"].removeprefix("http://")
        for way in [upload, upload_by_tus]:
            for _ in range(3):
                measure_upload(server, netloc, login, folder, megabytes, way)
        measure_fetches(server, netloc, login, fetches, os.path.join(os.path.dirname(binary), "loadtest"))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
