"""Opens 400 connections without credentials, each with a body that never ends, and prints the server's memory usage.

Usage: unfinished_bodies.py PORT PID PATH length|chunked
`length` announces 1 MB and sends 900 KB; `chunked` announces nothing and sends 64 KB.
"""

import socket
import sys
import time

CONNECTIONS = 400


def resident_megabytes(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def request(path, kind):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    if kind == "length":
        return f"{head}Content-Length: 1000000\r\n\r\n".encode() + b"x" * 900_000
    return f"{head}Transfer-Encoding: chunked\r\n\r\nffff\r\n".encode() + b"x" * 0xFFFF + b"\r\n"


def main():
    port, pid, path, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    idle = resident_megabytes(pid)
    connections = []
    for _ in range(CONNECTIONS):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.settimeout(0.5)
        try:
            connection.sendall(request(path, kind))
        except OSError:
            pass  # refused and closed, as expected
        connections.append(connection)
    peak = idle
    for _ in range(20):
        peak = max(peak, resident_megabytes(pid))
        time.sleep(0.1)
    print(f"{kind} {path}: idle {idle:.0f} MB, with {CONNECTIONS} unfinished bodies {peak:.0f} MB, {peak - idle:.0f} MB more")


main()
