# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Requests to the server of the page of active runs: any bytes of anybody who can connect."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.testbed.watch.requests import Refused, read_request
from tests.fuzz.budget import inputs

TOKEN = "Zq3-_x8KcJ2mVb7TnYw0Lg"
_WORDS = (
    *("GET", "POST", " ", "\r\n", "HTTP/1.1", "Host:", "host: ", "localhost", "127.0.0.1:80", "evil.example"),
    *(":", "/", ".."),
    *("stream", TOKEN, TOKEN[:-1], "%2e", "\x00", "\xff", "Last-Event-ID: 7", "Content-Length: 9"),
)
_HEADS = st.lists(st.sampled_from(_WORDS) | st.text(st.characters(max_codepoint=255), max_size=4), max_size=24)


@inputs(500)
@given(st.binary(max_size=200) | _HEADS.map(lambda words: "".join(words).encode("latin-1")))
def test_any_bytes_are_a_request_with_the_token_or_refused(head: bytes) -> None:
    with suppress(Refused):
        request = read_request(head, TOKEN)
        assert request.resource in ("", "stream")
        assert head.startswith(f"GET /{TOKEN}/".encode())
        assert b"localhost" in head.lower() or b"127.0.0.1" in head or b"[::1]" in head
