# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A persistent connection to the three services of a `simple_switch` (`runtime.thrift`), multiplexed by name.

This module owns the connection and translates thriftpy2's errors. It is independent of the methods that are called.
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any

from softswitch.thrift.interface import SERVICES, interface

__all__ = ["Refusal", "ThriftConnection", "ThriftError", "interface"]


class ThriftError(ConnectionError):
    """An answer that is not valid Thrift, or an unknown method."""


class Refusal(Exception):
    """A call that BMv2 refused, with a code of `standard.thrift`."""

    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class ThriftConnection:
    """A connection for one thread. Calls are answered in order.

    A call without a complete answer closes the connection, because a late answer would be taken for the next call's.
    """

    def __init__(self, host: str, port: int, *, timeout_s: float = 10.0) -> None:
        """Connect to the server. Raise OSError if nothing listens there."""
        from thriftpy2.protocol import TCyBinaryProtocol, TMultiplexedProtocol
        from thriftpy2.thrift import TClient
        from thriftpy2.transport import TCyBufferedTransport, TSocket

        self._socket = socket.create_connection((host, port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        protocol = TCyBinaryProtocol(TCyBufferedTransport(TSocket(sock=self._socket)))
        self._clients = {
            name: TClient(getattr(interface(), name), TMultiplexedProtocol(protocol, name)) for name in SERVICES
        }

    @classmethod
    def to_ready_switch(cls, port: int) -> ThriftConnection:
        """Connect to a switch that has registered its services. Raise ConnectionError if it only listens so far."""
        connection = cls("127.0.0.1", port)
        try:
            connection.call("simple_switch", "get_time_elapsed_us")
        except BaseException:
            connection.close()
            raise
        return connection

    def call(self, service: str, method: str, *arguments: Any) -> Any:
        """Call a method with positional arguments and return its result, or None for void.

        Raise Refusal, ThriftError, ValueError for an argument that does not fit, and OSError if the connection is gone.
        """
        from thriftpy2.protocol.cybin import ProtocolError
        from thriftpy2.thrift import TApplicationException, TDecodeException, TException

        if self._socket.fileno() < 0:
            raise ThriftError(f"{method}: the connection was closed after an error")
        try:
            return getattr(self._clients[service], method)(*arguments)
        except interface().Refusal as refusal:
            raise Refusal(refusal.code) from None
        except TDecodeException as error:
            raise ValueError(str(error)) from None
        except TApplicationException as error:
            raise ThriftError(f"{method}: {error.message or error}") from None
        except (TException, ProtocolError) as error:
            self.close()
            raise ThriftError(f"{method}: {error}") from None
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def __enter__(self) -> ThriftConnection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
