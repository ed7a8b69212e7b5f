# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The state of a P4Runtime device: its pipelines, its clients, and the notifications to them.

It must not know gRPC. All of it runs in one thread; only compilation runs in others.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from grpc import StatusCode

from os_helpers.temporary import temporary_folder
from softswitch.control import CommandError
from softswitch.p4runtime import messages
from softswitch.p4runtime.arbitration import Arbitration, Client
from softswitch.p4runtime.device import MOST_FRAME_BYTES, Device, DeviceError
from softswitch.p4runtime.pipeline import Config, Pipeline, SavedPipeline
from softswitch.p4runtime.portions import portions
from softswitch.p4runtime.reconciliation import copy_entities
from softswitch.p4runtime.status import Refusal, invalid, not_found, number, refuse
from softswitch.sockets import TEMPORARY

NO_CONFIG = "No forwarding pipeline config set for this device"
"""Clients such as finsy recognise this text."""
_MOST_COPIED_BYTES = 10_000
"""The size of a message above which an error about it has no copy of it. Packets of jumbo frames are shorter."""
_POLL_S = 0.02
_SLOW_POLL_S = 0.1


class Session:
    """A device with its clients. `on_program` receives the JSON of the program after each commit."""

    def __init__(self, device: Device, device_id: int, on_program: Callable[[bytes], None]) -> None:
        self.device = device
        self.device_id = device_id
        self.arbitration = Arbitration(device_id, self._forget_sent)
        self._on_program = on_program
        self._committed: Pipeline | None = None
        self._saved: SavedPipeline | None = None
        self._changing = asyncio.Lock()
        self.state = asyncio.Lock()
        """Held by a Write, a Read and the replacement of the switch, so that a Read is answered from one state."""

    # Pipeline

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline that reads and writes refer to. Raise Refusal if there is none."""
        if self._saved is not None:
            return self._saved.pipeline
        if self._committed is None:
            refuse(StatusCode.FAILED_PRECONDITION, NO_CONFIG)
        return self._committed

    def check_device(self, device_id: int) -> None:
        if device_id != self.device_id:
            raise not_found(f"no device {device_id}; the device of this switch is {self.device_id}")

    async def set_pipeline(self, action: int, message: Any | None) -> None:
        """Carry out an action of SetForwardingPipelineConfig; `message` is its config, if it has one."""
        actions = messages.v1.SetForwardingPipelineConfigRequest
        async with self._changing:
            if action == actions.COMMIT:
                if message is not None:
                    raise invalid("COMMIT takes no config")
                await self._commit_saved()
                return
            if message is None:
                raise invalid("the action needs a config")
            config = await asyncio.to_thread(Config, message)
            if action == actions.VERIFY:
                await self._executable(config)
            elif action == actions.VERIFY_AND_SAVE:
                self._save(await self._prepared(config))
            elif action == actions.VERIFY_AND_COMMIT:
                await self._commit(config)
            elif action == actions.RECONCILE_AND_COMMIT:
                await self._reconcile(config)
            else:
                raise invalid("the action is not set or unknown")

    def close(self) -> None:
        self._save(None)
        self.device.close()

    async def _prepared(self, config: Config) -> SavedPipeline:
        """Return a saved pipeline whose executable is compiled too, so that the commit is short."""
        await self._executable(config)
        await asyncio.to_thread(config.library)
        return SavedPipeline(config, self.device.is_up)

    async def _executable(self, config: Config) -> Path:
        return await asyncio.to_thread(config.executable, logs=self.device.logs_packets)

    def _save(self, saved: SavedPipeline | None) -> None:
        if self._saved is not None:
            self._saved.close()
        self._saved = saved

    async def _commit(self, config: Config) -> None:
        await self._start(config)
        self._save(None)
        self._use(Pipeline(config, self.device.control, self.device.is_up))

    async def _commit_saved(self) -> None:
        if self._saved is None:
            raise not_found("no config was saved")
        saved = self._saved
        with temporary_folder(TEMPORARY) as folder:
            commands = Path(folder, "commands")
            commands.write_text(saved.commands, encoding="ascii")
            await self._start(saved.pipeline.config, commands)
        self._saved = None
        self._use(saved.commit(self.device.control))

    async def _reconcile(self, config: Config) -> None:
        prepared = await self._prepared(config)
        try:
            if self._saved is not None or self._committed is not None:
                copy_entities(self.pipeline, prepared.pipeline)
        except Refusal as refusal:
            prepared.close()
            raise invalid(f"the forwarding state does not fit the new config: {refusal}") from None
        self._save(prepared)
        await self._commit_saved()

    async def _start(self, config: Config, commands: Path | None = None) -> None:
        """Replace the switch; the new one runs a file of commands before its first frame."""
        executable = await self._executable(config)
        async with self.state:
            self._committed = None
            try:
                await self.device.start(executable, commands)
            except DeviceError as error:
                raise Refusal(StatusCode.INTERNAL, f"the switch does not start: {error}") from None

    def _use(self, pipeline: Pipeline) -> None:
        self._committed = pipeline
        self._on_program(pipeline.config.source)

    # Entities

    def write(self, updates: Any) -> list[Refusal | None]:
        """Apply updates in order and return the refusal of each, or None."""
        return self.pipeline.entities.write_all(updates)

    def read(self, request: Any) -> Iterator[Any]:
        """Yield the entities that a part of a read request selects."""
        return self.pipeline.entities.read(request)

    # Clients

    def handle(self, client: Client, message: Any) -> None:
        """Handle a message of a client's stream. Raise Refusal to end the stream."""
        kind = message.WhichOneof("update")
        if kind == "arbitration":
            self.arbitration.update(client, message.arbitration)
            return
        error = messages.v1.StreamError()
        try:
            if kind == "packet":
                error.packet_out.SetInParent()
                self._check_primary(client)
                _copy_short(message.packet, error.packet_out.packet_out)
                self._send_packet(message.packet)
            elif kind == "digest_ack":
                error.digest_list_ack.SetInParent()
                self._check_primary(client)
                _copy_short(message.digest_ack, error.digest_list_ack.digest_list_ack)
                self._send_digests(time.monotonic())  # what the client acknowledges covers digests that wait already
                self.pipeline.entities.digests.acknowledge(message.digest_ack)
            else:
                error.other.SetInParent()
                self._check_primary(client)
                refuse(StatusCode.UNIMPLEMENTED, "an unknown message on the stream")
        except Refusal as refusal:
            error.canonical_code, error.message = number(refusal.code), str(refusal)
            client.send(messages.v1.StreamMessageResponse(error=error))

    def _check_primary(self, client: Client) -> None:
        if not self.arbitration.is_primary(client):
            refuse(StatusCode.PERMISSION_DENIED, "Not primary")

    def _send_packet(self, message: Any) -> None:
        pipeline = self._committed
        if pipeline is None:
            refuse(StatusCode.FAILED_PRECONDITION, NO_CONFIG)
        if self.device.cpu_port is None:
            refuse(StatusCode.FAILED_PRECONDITION, "the switch has no CPU port; start it with -- --cpu-port N")
        frame = pipeline.headers.frame(message)
        if len(frame) > MOST_FRAME_BYTES:
            text = f"the packet with its header has {len(frame)} bytes; the limit is {MOST_FRAME_BYTES}"
            refuse(StatusCode.INVALID_ARGUMENT, text)
        if not self.device.send(frame):
            refuse(StatusCode.RESOURCE_EXHAUSTED, "the switch is busy")

    # Notifications

    def receive_packets(self) -> None:
        """Pass frames that left the CPU port to the primaries."""
        while (frame := self.device.receive()) is not None:
            packet = None if self._committed is None else self._committed.headers.packet_in(frame)
            if packet is not None:
                self._tell(messages.v1.StreamMessageResponse(packet=packet))

    async def watch(self) -> None:
        """Send digests and idle timeouts and follow the states of ports, until the task is cancelled."""
        next_slow_s = 0.0
        while True:
            now_s = time.monotonic()
            with suppress(Refusal, CommandError, OSError):  # the server notices by itself that the switch has ended
                self._send_digests(now_s)
                if now_s >= next_slow_s:
                    next_slow_s = now_s + _SLOW_POLL_S
                    self._send_idle()
                    self._follow_ports()
            await asyncio.sleep(_POLL_S)

    def _send_digests(self, now_s: float) -> None:
        if self._committed is None or not self._committed.entities.digests.is_enabled:
            return
        for digest in self._committed.entities.digests.lists(now_s):
            self._tell(messages.v1.StreamMessageResponse(digest=digest))

    def _send_idle(self) -> None:
        if self._committed is None or not self._committed.entities.tables.has_timeouts:
            return
        for entries in portions(self._committed.entities.tables.newly_idle()):
            answer = messages.v1.StreamMessageResponse()
            answer.idle_timeout_notification.timestamp = time.time_ns()
            answer.idle_timeout_notification.table_entry.extend(entries)
            self._tell(answer)

    def _follow_ports(self) -> None:
        if self._committed is not None and self._committed.entities.profiles.watches_ports:
            self._committed.entities.profiles.follow_ports()

    def _tell(self, message: Any) -> None:
        for client in self.arbitration.primaries():
            client.send(message)

    def _forget_sent(self) -> None:
        if self._committed is not None:
            self._committed.entities.digests.forget_sent()


def _copy_short(message: Any, copy: Any) -> None:
    """Copy a message into an error about it, unless the copies of long messages would fill the memory."""
    if message.ByteSize() <= _MOST_COPIED_BYTES:
        copy.CopyFrom(message)
