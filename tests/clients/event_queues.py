"""Measures the cost of one account's event queues on a development server; needs Python only.

    python3 tests/clients/event_queues.py target/release/millstream [queues] [messages] [port]

One account registers queues of a week, another one sends messages, the server restarts, and every queue that is left is
polled. Prints queues registered, queues left, resident memory, and the time and CPU of coming back after the restart.
"""

import base64
import concurrent.futures
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

WEEK = 7 * 24 * 3600


class Server:
    def __init__(self, binary, port, data):
        self.port = port
        self.child = subprocess.Popen(
            [binary, "dev", "--listen", f"127.0.0.1:{port}", "--data", data],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                if Client(port).call("GET", "/server_settings")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)

    def rss(self):
        with open(f"/proc/{self.child.pid}/status") as status:
            line = next(line for line in status if line.startswith("VmRSS"))
        return int(line.split()[1]) // 1024

    def cpu(self):
        with open(f"/proc/{self.child.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        began = time.monotonic()
        self.child.send_signal(signal.SIGTERM)
        self.child.wait()
        return time.monotonic() - began


class Client:
    def __init__(self, port, address=None):
        self.port = port
        self.local = threading.local()
        self.headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if address:
            key = self.call("POST", "/dev_fetch_api_key", username=address)[1]["api_key"]
            word = base64.b64encode(f"{address}:{key}".encode()).decode()
            self.headers["Authorization"] = f"Basic {word}"

    def call(self, method, path, **fields):
        if not hasattr(self.local, "link"):
            self.local.link = http.client.HTTPConnection("127.0.0.1", self.port)
        form = urllib.parse.urlencode(fields)
        target = "/api/v1" + path + ("?" + form if method == "GET" and form else "")
        try:
            self.local.link.request(method, target, None if method == "GET" else form, self.headers)
            answer = self.local.link.getresponse()
            return answer.status, json.loads(answer.read())
        except (http.client.HTTPException, ConnectionError):
            del self.local.link
            raise OSError("the connection broke")


def main():
    binary = sys.argv[1]
    queues, messages, port = (int(word) for word in (sys.argv[2:] + ["1000", "9500", "21480"][len(sys.argv) - 2 :]))
    pool = concurrent.futures.ThreadPoolExecutor(8)
    with tempfile.TemporaryDirectory() as folder:
        data = folder + "/data"
        server = Server(binary, port, data)
        reader, writer = Client(port, "hamlet@zulip.com"), Client(port, "iago@zulip.com")
        channel = json.dumps([{"name": "queues"}])
        for one in (writer, reader):
            one.call("POST", "/users/me/subscriptions", subscriptions=channel)
        idle = server.rss()

        def register(_):
            fields = {"event_types": '["message"]', "fetch_event_types": "[]", "queue_lifespan_secs": WEEK}
            status, body = reader.call("POST", "/register", **fields)
            return (body["queue_id"], body["last_event_id"]) if status == 200 else None

        began = time.monotonic()
        known = [queue for queue in pool.map(register, range(queues)) if queue]
        print(f"{len(known)} of {queues} registered in {time.monotonic() - began:.1f} s")

        def send(number):
            content = f"message {number} " + "x" * 200
            writer.call("POST", "/messages", type="channel", to="queues", topic="t", content=content)

        list(pool.map(send, range(messages)))
        print(f"after {messages} messages: {server.rss() - idle} MB more than idle ({idle} MB)")
        print(f"stopped in {server.stop():.2f} s")

        server = Server(binary, port, data)
        reader = Client(port, "hamlet@zulip.com")
        bystander = Client(port, "cordelia@zulip.com")
        idle, cpu = server.rss(), server.cpu()

        def poll(queue):
            fields = {"queue_id": queue[0], "last_event_id": queue[1], "dont_block": "true"}
            status, body = reader.call("GET", "/events", **fields)
            return len(body["events"]) if status == 200 else None

        waits = []
        is_over = threading.Event()

        def look():
            while not is_over.is_set():
                began = time.monotonic()
                bystander.call("POST", "/messages", type="direct", to="[11]", content="hello")
                waits.append(time.monotonic() - began)
                time.sleep(0.02)

        watcher = threading.Thread(target=look)
        watcher.start()
        began = time.monotonic()
        left = [count for count in pool.map(poll, known) if count is not None]
        took = time.monotonic() - began
        is_over.set()
        watcher.join()
        print(f"after the restart {len(left)} queues came back with {sum(left)} events in {took:.1f} s,")
        print(f"  {server.cpu() - cpu:.1f} s of CPU; {server.rss() - idle} MB more than idle ({idle} MB);")
        print(f"  another account's sends meanwhile: median {sorted(waits)[len(waits) // 2] * 1000:.0f} ms, longest {max(waits) * 1000:.0f} ms")
        registered = [queue for queue in pool.map(register, range(queues)) if queue]
        print(f"{len(registered)} of {queues} more registered")
        server.stop()


main()
