"""One kept HTTP connection to a node, for asyncio; just enough of HTTP/1.1 for a JSON API.

The errors distinguish what the checker must: a request that was never sent has surely no effect, any other may have one.
"""

import asyncio
import base64
import json
import urllib.parse


class NotSent(Exception):
    """There was no connection to send the request on."""


class NoAnswer(Exception):
    """The request was sent, and its answer did not come: it may have been carried out."""


class Connection:
    """Requests of one account, one after another. `node` is a pair of host and port and may change between requests."""

    def __init__(self, host_header, email=None, key=None):
        self.head = f"Host: {host_header}\r\nUser-Agent: cluster-check\r\n"
        if key:
            pair = base64.b64encode(f"{email}:{key}".encode()).decode()
            self.head += f"Authorization: Basic {pair}\r\n"
        self.node, self.reader, self.writer, self.was_sent = None, None, None, False

    async def ask(self, node, method, path, fields=None, secs=5.0):
        """Status and decoded body of an answer. The time limit is that of the whole request."""
        try:
            # Not `wait_for`, which can lose a cancellation.
            async with asyncio.timeout(secs):
                return await self.exchange(node, method, path, fields or {})
        except TimeoutError:
            was_sent = self.was_sent
            self.close()
            raise (NoAnswer if was_sent else NotSent)(f"no answer within {secs} s") from None
        except asyncio.CancelledError:
            self.close()
            raise

    async def exchange(self, node, method, path, fields):
        self.was_sent = False
        encoded = urllib.parse.urlencode(fields)
        target, body = f"/api/v1{path}", ""
        if method == "GET":
            target += "?" + encoded if encoded else ""
        else:
            body = encoded
        head = f"{method} {target} HTTP/1.1\r\n{self.head}"
        if body:
            head += "Content-Type: application/x-www-form-urlencoded\r\n"
        await self.connect(node)
        try:
            self.was_sent = True
            self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            status, text, closes = await self.answer()
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            self.close()
            raise NoAnswer(f"{type(error).__name__}: {error}") from None
        if closes:
            self.close()
        try:
            return status, json.loads(text)
        except ValueError:
            return status, {"result": "error", "msg": text[:200].decode(errors="replace")}

    async def connect(self, node):
        # A server may close a kept connection at any time; what has arrived of that is not taken for a lost answer.
        if self.writer is not None and (self.node != node or self.reader.at_eof() or self.writer.is_closing()):
            self.close()
        if self.writer is None:
            try:
                self.reader, self.writer = await asyncio.open_connection(*node, limit=1 << 22)
            except OSError as error:
                raise NotSent(f"{type(error).__name__}: {error}") from None
            self.node = node

    async def answer(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        if "content-length" in fields:
            text = await self.reader.readexactly(int(fields["content-length"]))
        else:
            text = b""
            while size := int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16):
                text += await self.reader.readexactly(size)
                await self.reader.readexactly(2)
            await self.reader.readuntil(b"\r\n")
        return int(lines[0].split(" ", 2)[1]), text, fields.get("connection", "").lower() == "close"

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None
