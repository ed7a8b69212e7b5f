# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The methods of the P4Runtime service, as gRPC calls them. Methods have the names of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NoReturn

from grpc import StatusCode

from softswitch.p4runtime import messages
from softswitch.p4runtime.arbitration import Client
from softswitch.p4runtime.session import Session
from softswitch.p4runtime.status import DETAILS_KEY, Refusal, batch_status, refuse, refusing

API_VERSION = "1.4.1"
_MOST_WAITING = 4096
"""The maximum number of unread messages of a stream, above which packets and notifications are dropped."""
_ENTITIES_PER_ANSWER = 256


class Service:
    """The P4Runtime service of one device."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._streams: set[asyncio.Queue[Any]] = set()

    def end_streams(self) -> None:
        """End the streams of all clients, so that the server can stop."""
        for outgoing in self._streams:
            outgoing.put_nowait(None)

    async def Write(self, request: Any, context: Any) -> Any:
        results: list[Refusal | None] = []
        try:
            self._session.check_device(request.device_id)
            self._session.arbitration.check_primary(request)
            if request.atomicity != messages.v1.WriteRequest.CONTINUE_ON_ERROR:
                refuse(StatusCode.UNIMPLEMENTED, "the only atomicity is CONTINUE_ON_ERROR")
            results = self._session.write(request.updates)
        except Refusal as refusal:
            await _abort(context, refusal)
        if any(results):
            await _abort_batch(context, results, "updates")
        return messages.v1.WriteResponse()

    async def Read(self, request: Any, context: Any) -> AsyncIterator[Any]:
        results: list[Refusal | None] = []
        try:
            self._session.check_device(request.device_id)
            _ = self._session.pipeline
        except Refusal as refusal:
            await _abort(context, refusal)
        for part in request.entities:
            entities, result = self._read(part)
            results.append(result)
            for first in range(0, len(entities), _ENTITIES_PER_ANSWER):
                yield messages.v1.ReadResponse(entities=entities[first : first + _ENTITIES_PER_ANSWER])
        if any(results):
            await _abort_batch(context, results, "requests")

    async def SetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:
        try:
            self._session.check_device(request.device_id)
            self._session.arbitration.check_primary(request)
            config = request.config if request.HasField("config") else None
            await self._session.set_pipeline(request.action, config)
        except Refusal as refusal:
            await _abort(context, refusal)
        return messages.v1.SetForwardingPipelineConfigResponse()

    async def GetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:
        types = messages.v1.GetForwardingPipelineConfigRequest
        try:
            self._session.check_device(request.device_id)
            config = self._session.pipeline.config.message
        except Refusal as refusal:
            await _abort(context, refusal)
        answer = messages.v1.GetForwardingPipelineConfigResponse()
        if config.HasField("cookie"):
            answer.config.cookie.CopyFrom(config.cookie)
        if request.response_type in (types.ALL, types.P4INFO_AND_COOKIE):
            answer.config.p4info.CopyFrom(config.p4info)
        if request.response_type in (types.ALL, types.DEVICE_CONFIG_AND_COOKIE):
            answer.config.p4_device_config = config.p4_device_config
        answer.config.SetInParent()
        return answer

    async def StreamChannel(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        outgoing: asyncio.Queue[Any] = asyncio.Queue()
        client = Client(lambda message: _enqueue(outgoing, message))
        reading = asyncio.ensure_future(self._read_stream(requests, client, outgoing))
        self._streams.add(outgoing)
        try:
            while (message := await outgoing.get()) is not None:
                yield message
            refusal = reading.result() if reading.done() else None
            if refusal is not None:
                await _abort(context, refusal)
        finally:
            reading.cancel()
            self._streams.discard(outgoing)
            self._session.arbitration.leave(client)

    async def Capabilities(self, request: Any, context: Any) -> Any:
        if request.device_id:
            try:
                self._session.check_device(request.device_id)
            except Refusal as refusal:
                await _abort(context, refusal)
        return messages.v1.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    def _read(self, part: Any) -> tuple[list[Any], Refusal | None]:
        """Return the entities that a part of a request selects, or why it is refused."""
        try:
            with refusing():
                return list(self._session.read(part)), None
        except Refusal as refusal:
            return [], refusal

    async def _read_stream(
        self, requests: AsyncIterator[Any], client: Client, outgoing: asyncio.Queue[Any]
    ) -> Refusal | None:
        """Handle a client's messages until its stream ends; return the refusal that ends it, if one does."""
        try:
            async for message in requests:
                self._session.handle(client, message)
        except Refusal as refusal:
            return refusal
        finally:
            asyncio.get_running_loop().call_soon(outgoing.put_nowait, None)  # after this task is done
        return None


def _enqueue(outgoing: asyncio.Queue[Any], message: Any) -> None:
    if outgoing.qsize() < _MOST_WAITING or message.WhichOneof("update") == "arbitration":
        outgoing.put_nowait(message)


async def _abort(context: Any, refusal: Refusal) -> NoReturn:
    await context.abort(refusal.code, str(refusal))
    raise AssertionError("abort raises")


async def _abort_batch(context: Any, results: list[Refusal | None], parts: str) -> NoReturn:
    """End a call with the result of each of its parts."""
    refusals = [refusal for refusal in results if refusal is not None]
    text = f"{len(refusals)} of {len(results)} {parts} refused, the first one because: {refusals[0]}"
    details = batch_status(results, text).SerializeToString()
    await context.abort(StatusCode.UNKNOWN, text, trailing_metadata=((DETAILS_KEY, details),))
    raise AssertionError("abort raises")
