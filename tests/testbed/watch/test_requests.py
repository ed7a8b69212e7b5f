# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page's server allows few requests, and refuses all others."""

from __future__ import annotations

import base64
import hashlib
from http import HTTPStatus

import pytest

from sfc_testbed.testbed.watch.requests import Refused, Request, page_answer, read_request, refusal, stream_head
from tests.testbed.watch.client import request

TOKEN = "p9QyXv"


def _status(head: bytes) -> int:
    with pytest.raises(Refused) as refused:
        read_request(head, TOKEN)
    return refused.value.status.value


@pytest.mark.parametrize("host", ["127.0.0.1:40123", "localhost:8080", "LOCALHOST", "127.0.0.1", "[::1]:80"])
def test_hosts_of_this_machine_with_any_port_are_allowed(host: str) -> None:
    assert read_request(request(f"/{TOKEN}/", host=host), TOKEN) == Request("")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:40123",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "evil.example@localhost",
        "10.0.0.5:40123",
        "",
        "localhost:",
        "localhost:80:80",
        "[::1",
    ],
)
def test_foreign_hosts_are_refused_even_with_the_token(host: str) -> None:
    assert _status(request(f"/{TOKEN}/", host=host)) == 403


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/stream",
        "/wrong/",
        "/wrong/stream",
        f"/{TOKEN}x/",
        f"/{TOKEN[:-1]}/",
        f"/?token={TOKEN}",
        f"/../{TOKEN}/",
        f"//{TOKEN}/",
        f"http://localhost/{TOKEN}/",
        "/\xff/",
        f"/%70{TOKEN[1:]}/",
    ],
)
def test_a_request_without_the_token_is_refused(target: str) -> None:
    head = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("latin-1")
    assert _status(head) == 403


@pytest.mark.parametrize(
    "rest", ["../../etc/passwd", "..%2f..%2fetc/passwd", "stream/", "stream?x", "watch.js", "//etc"]
)
def test_only_the_page_and_its_stream_exist(rest: str) -> None:
    assert _status(request(f"/{TOKEN}/{rest}")) == 404


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT", "OPTIONS", "get"])
def test_only_get_is_allowed(method: str) -> None:
    assert _status(request(f"/{TOKEN}/", method=method)) == 405


@pytest.mark.parametrize(
    "head",
    [
        b"\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/2\r\nHost: localhost\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
    ],
)
def test_malformed_requests_are_refused(head: bytes) -> None:
    assert _status(head) == 400


@pytest.mark.parametrize(
    ("header", "number"),
    [("Last-Event-ID: 17", 17), ("last-event-id: -1", None), ("Last-Event-ID: 9" + "9" * 40, None)],
)
def test_a_page_that_connects_again_names_its_last_event(header: str, number: int | None) -> None:
    assert read_request(request(f"/{TOKEN}/stream", header), TOKEN) == Request("stream", number)


def test_only_the_scripts_of_the_page_may_run() -> None:
    script = '\nfetch("stream");\n'
    page = f'<title>x</title><script type="application/json">{{"a": 1}}</script><script>{script}</script>'
    head, _, body = page_answer(page).decode().partition("\r\n\r\n")
    assert body == page
    assert f"Content-Length: {len(page)}" in head
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    [policy] = [line for line in head.split("\r\n") if line.startswith("Content-Security-Policy: ")]
    assert f"script-src 'sha256-{digest}';" in policy
    assert "connect-src 'self'" in policy
    assert "default-src 'none'" in policy
    assert policy.count("sha256-") == 1


@pytest.mark.parametrize("head", [page_answer(""), stream_head(), refusal(HTTPStatus.FORBIDDEN)])
def test_no_answer_may_be_stored_framed_or_read_by_other_sites(head: bytes) -> None:
    lines = head.decode().partition("\r\n\r\n")[0].split("\r\n")
    assert {"Cache-Control: no-store", "X-Frame-Options: DENY", "X-Content-Type-Options: nosniff"} <= set(lines)
    assert "Cross-Origin-Resource-Policy: same-origin" in lines
    assert not any(line.startswith("Access-Control-") for line in lines)
