# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One kept connection to the three services of a `simple_switch` (`runtime.thrift`), multiplexed by name.

Owns the connection and turns thriftpy2's errors into ours; must not know what is asked.
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any

from softswitch.thrift.interface import SERVICES, interface

__all__ = ["Refusal", "ThriftConnection", "ThriftError", "interface"]


class ThriftError(ConnectionError):
    """The other side does not speak as expected, or does not know the method."""


class Refusal(Exception):
    """BMv2 understood and will not; its code is one of `errors`."""

    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class ThriftConnection:
    """Calls are answered in order; not thread-safe.

    A call that got no whole answer closes it: what came later would be taken for the answer to the next call.
    """

    def __init__(self, host: str, port: int, *, timeout_s: float = 10.0) -> None:
        """Raises OSError if nobody listens there."""
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
        """To a switch that knows all its services: it listens before. ConnectionError as long as it does not."""
        connection = cls("127.0.0.1", port)
        try:
            connection.call("simple_switch", "get_time_elapsed_us")
        except BaseException:
            connection.close()
            raise
        return connection

    def call(self, service: str, method: str, *arguments: Any) -> Any:
        """Calls a method with its arguments in order and returns its result, None for void.

        Raises Refusal, ValueError for an argument that does not fit, ThriftError, and OSError when the connection is
        gone.
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
        """Ends the connection."""
        self._socket.close()

    def __enter__(self) -> ThriftConnection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
