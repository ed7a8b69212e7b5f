# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Clients of the Thrift server, built with thriftpy2 from the server's interface.

`LocalClient` calls the implementation in this process, `PortClient` a server's port. They accept any method.
"""

import asyncio
from typing import Any

from thriftpy2.protocol import TBinaryProtocol, TMultiplexedProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TBufferedTransport, TMemoryBuffer, TSocket

from softswitch.thrift.calls import Calls
from softswitch.thrift.framing import Call, CallReader
from softswitch.thrift.interface import interface

PATIENCE_S = 20.0


def read(message: bytes) -> Call | None:
    """Return the call that the server reads if these are all received bytes."""

    async def fed() -> Call | None:
        stream = asyncio.StreamReader()
        stream.feed_data(message)
        stream.feed_eof()
        return await CallReader(stream, PATIENCE_S).read()

    return asyncio.run(fed())


class _Loopback(TMemoryBuffer):  # type: ignore[misc]
    """A transport whose flushed calls are answered at once."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._calls = calls

    def flush(self) -> None:
        call = read(self.getvalue())
        assert call is not None
        self.setvalue(self._calls.answer(call))


class LocalClient:
    """A client that calls `Calls` with encoded calls and answers."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def __call__(self, method: str, *arguments: Any, service: str = "standard") -> Any:
        protocol = TMultiplexedProtocol(TBinaryProtocol(_Loopback(self._calls)), service)
        return getattr(TClient(getattr(interface(), service), protocol), method)(*arguments)


class PortClient:
    """A connection to a server on 127.0.0.1."""

    def __init__(self, port: int) -> None:
        self._transport = TBufferedTransport(TSocket("127.0.0.1", port, socket_timeout=PATIENCE_S * 1000))
        self._transport.open()

    def __call__(self, method: str, *arguments: Any, service: str = "standard") -> Any:
        protocol = TMultiplexedProtocol(TBinaryProtocol(self._transport), service)
        return getattr(TClient(getattr(interface(), service), protocol), method)(*arguments)

    def close(self) -> None:
        self._transport.close()


def message_of(method: str, *arguments: Any, service: str = "standard") -> bytes:
    """Return the bytes of a call."""
    buffer = TMemoryBuffer()
    client = TClient(getattr(interface(), service), TMultiplexedProtocol(TBinaryProtocol(buffer), service))
    spec = getattr(getattr(interface(), service), f"{method}_args").thrift_spec
    client._send(method, **{field[1]: value for field, value in zip(spec.values(), arguments, strict=True)})
    sent: bytes = buffer.getvalue()
    return sent
