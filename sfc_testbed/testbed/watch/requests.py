# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The rules of the page's server: which request gets which answer. Nothing here opens a socket.

The server offers two resources below a secret token: the page and the stream. It reads no file for a request. A page
of another site cannot reach it: its requests lack the token, and a foreign name that resolves to 127.0.0.1 (DNS
rebinding) is refused because of the Host header. Port forwarding changes only the port in that header.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from http import HTTPStatus

MOST_HEAD_BYTES = 8192
PAGE, STREAM = "", "stream"
_METHOD = "GET"
_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:]+\]|[^:\[\]]+)(:[0-9]{1,5})?")
_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)
_DATA = "application/json"
_NUMBER = re.compile(r"[0-9]{1,12}")


@dataclass(frozen=True)
class Request:
    """A request that is allowed: its resource, and the number of the last event that the browser received."""

    resource: str
    last_event: int | None = None


class Refused(Exception):
    """A request that is not allowed, and the status of its answer."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


def read_request(head: bytes, token: str) -> Request:
    """Return the request of these header lines. Raise Refused unless it has the token and a Host of this machine."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Refused(HTTPStatus.BAD_REQUEST)
    method, target, _ = words
    headers = _headers(lines)
    host = _HOST.fullmatch(headers.get("host", ""))
    if host is None or host["name"].lower() not in _HOSTS:
        raise Refused(HTTPStatus.FORBIDDEN)
    start, _, rest = target.removeprefix("/").partition("/")
    if not target.startswith("/") or not hmac.compare_digest(start.encode("latin-1"), token.encode()):
        raise Refused(HTTPStatus.FORBIDDEN)
    if method != _METHOD:
        raise Refused(HTTPStatus.METHOD_NOT_ALLOWED)
    if rest not in (PAGE, STREAM):
        raise Refused(HTTPStatus.NOT_FOUND)
    number = headers.get("last-event-id", "")
    return Request(rest, int(number) if _NUMBER.fullmatch(number) else None)


def _headers(lines: list[str]) -> dict[str, str]:
    """Return the headers by name in small letters. Raise Refused for a malformed line or a second Host."""
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip() or (name == "host" and name in headers):
            raise Refused(HTTPStatus.BAD_REQUEST)
        headers[name] = value.strip()
    return headers


def page_answer(page: str) -> bytes:
    """Return the answer with the page. Only the scripts in the page may run, and they connect to this server only."""
    body = page.encode()
    return _head(HTTPStatus.OK, "text/html; charset=utf-8", length=len(body), policy=_policy(page)) + body


def stream_head() -> bytes:
    """Return the head of a stream, whose events follow until the connection ends."""
    return _head(HTTPStatus.OK, "text/event-stream; charset=utf-8")


def refusal(status: HTTPStatus) -> bytes:
    """Return the answer to a request that is refused."""
    body = f"{status.value} {status.phrase}\n".encode()
    return _head(status, "text/plain; charset=utf-8", length=len(body)) + body


def _head(status: HTTPStatus, kind: str, *, length: int | None = None, policy: str = "default-src 'none'") -> bytes:
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {kind}",
        *([] if length is None else [f"Content-Length: {length}"]),
        f"Content-Security-Policy: {policy}",
        "Cache-Control: no-store",
        "Connection: close",
        "Cross-Origin-Opener-Policy: same-origin",
        "Cross-Origin-Resource-Policy: same-origin",
        "Referrer-Policy: no-referrer",
        "X-Content-Type-Options: nosniff",
        "X-Frame-Options: DENY",
    ]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


def _policy(page: str) -> str:
    """Return the Content Security Policy of the page, which names its scripts by their SHA-256."""
    scripts = [script["text"] for script in _SCRIPT.finditer(page) if _DATA not in script["attributes"]]
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
