# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The methods of the P4Runtime service, as gRPC calls them. Methods have the names of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NoReturn

from grpc import StatusCode

from softswitch.p4runtime import messages
from softswitch.p4runtime.answers import Answers, WaitingBytes
from softswitch.p4runtime.arbitration import Client
from softswitch.p4runtime.batches import Batch
from softswitch.p4runtime.outbox import Outbox, UnreadBytes
from softswitch.p4runtime.session import Session
from softswitch.p4runtime.status import DETAILS_KEY, Refusal, refuse, refusing

API_VERSION = "1.4.1"
_PAUSE_S = 0.001
"""The time for other calls between two portions of a long answer."""
MOST_STREAMS = 64
"""The maximum number of open streams of all roles, whether they have sent an arbitration or not."""


class Service:
    """The P4Runtime service of one device, for clients that accept `metadata_bytes` of metadata."""

    def __init__(self, session: Session, metadata_bytes: int) -> None:
        self._session = session
        self._metadata_bytes = metadata_bytes
        self._waiting = WaitingBytes()
        self._unread = UnreadBytes()
        self._streams: set[Outbox] = set()

    def end_streams(self) -> None:
        """End the streams of all clients, so that the server can stop."""
        for outbox in self._streams:
            outbox.end()

    async def Write(self, request: Any, context: Any) -> Any:
        try:
            self._session.check_device(request.device_id)
            self._session.arbitration.check_primary(request)
            _ = self._session.pipeline
            if request.atomicity != messages.v1.WriteRequest.CONTINUE_ON_ERROR:
                refuse(StatusCode.UNIMPLEMENTED, "the only atomicity is CONTINUE_ON_ERROR")
            batch = Batch(request.updates, "updates", self._metadata_bytes)
        except Refusal as refusal:
            await _abort(context, refusal)
        async with self._session.state:
            for updates in batch.slices():
                batch.results += self._session.write(updates)
        await _abort_refused(context, batch)
        return messages.v1.WriteResponse()

    async def Read(self, request: Any, context: Any) -> AsyncIterator[bytes]:
        try:
            self._session.check_device(request.device_id)
            _ = self._session.pipeline
            batch = Batch(request.entities, "requests", self._metadata_bytes)
        except Refusal as refusal:
            await _abort(context, refusal)
        answers = Answers(self._waiting)
        try:
            async with self._session.state:
                for parts in batch.slices():
                    batch.results += [await self._read(part, answers) for part in parts]
            for answer in answers.taken():  # only now, because Writes may change what was not read yet
                yield answer
        finally:
            answers.close()
        await _abort_refused(context, batch)

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
        if len(self._streams) >= MOST_STREAMS:
            text = f"the switch has {MOST_STREAMS} streams already"
            await _abort(context, Refusal(StatusCode.RESOURCE_EXHAUSTED, text))

        def leave() -> None:
            reading.cancel()
            self._session.arbitration.leave(client)

        def leave_soon() -> None:  # not while the clients of the role are being notified
            asyncio.get_running_loop().call_soon(leave)

        outbox = Outbox(leave_soon, self._unread)
        client = Client(outbox.put)
        reading = asyncio.ensure_future(self._read_stream(requests, client, outbox))
        self._streams.add(outbox)
        try:
            async for message in outbox.messages():
                yield message
            if outbox.refusal is not None:
                await _abort(context, outbox.refusal)
        finally:
            leave()
            self._streams.discard(outbox)
            outbox.forget()

    async def Capabilities(self, request: Any, context: Any) -> Any:
        if request.device_id:
            try:
                self._session.check_device(request.device_id)
            except Refusal as refusal:
                await _abort(context, refusal)
        return messages.v1.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    async def _read(self, part: Any, answers: Answers) -> Refusal | None:
        """Read the entities that a part of a request selects; return why it is refused, or None.

        Calls other than Writes go on between the portions of a long answer.
        """
        try:
            with refusing():
                for _ in answers.add(self._session.read(part)):
                    await asyncio.sleep(_PAUSE_S)
        except Refusal as refusal:
            return refusal.kept()
        return None

    async def _read_stream(self, requests: AsyncIterator[Any], client: Client, outbox: Outbox) -> None:
        """Handle a client's messages until its stream ends or one of them is refused."""
        try:
            async for message in requests:
                self._session.handle(client, message)
        except Refusal as refusal:
            outbox.end(refusal.kept())
        finally:
            outbox.end()


async def _abort(context: Any, refusal: Refusal) -> NoReturn:
    await context.abort(refusal.code, str(refusal))
    raise AssertionError("abort raises")


async def _abort_refused(context: Any, batch: Batch) -> None:
    """End a call with the report on its parts if one of them was refused."""
    report = batch.report()
    if report is None:
        return
    details = () if report.details is None else ((DETAILS_KEY, report.details.SerializeToString()),)
    await context.abort(report.code, report.text, trailing_metadata=details)
