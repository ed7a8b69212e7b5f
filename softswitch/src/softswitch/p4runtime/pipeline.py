# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A forwarding pipeline config: its check, its compilation, and the entities of the program in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from grpc import StatusCode

from os_helpers.cache import CacheRefused
from os_helpers.temporary import temporary_folder
from softswitch.build import BuildError, build_executable, build_library
from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.source import CodegenError
from softswitch.codegen.load.document import read_document
from softswitch.codegen.load.program import load_program
from softswitch.control import CommandError, Commands
from softswitch.line_log import LineLog
from softswitch.p4runtime import messages
from softswitch.p4runtime.entities import Entities
from softswitch.p4runtime.info import Info
from softswitch.p4runtime.packets import PacketHeaders
from softswitch.p4runtime.status import Refusal, invalid
from softswitch.sockets import TEMPORARY

_NAME = "pipeline.json"
_MOST_SAVED_BYTES = 256 << 20
"""The maximum memory of the commands that are recorded until a commit."""
_BYTES_OF_A_LINE = 60
_READING = ("table_dump ", "table_ages ", "table_num_entries ", "counter_read ", "meter_get_rates ", "register_read ")
"""The commands that change nothing, which a commit need not repeat."""
_LOG = LineLog("simple_switch_grpc")


class Config:
    """A config that a switch can run. Raise Refusal if the switch cannot run it."""

    def __init__(self, message: Any) -> None:
        if not message.HasField("p4info") or not message.p4_device_config:
            raise invalid("the forwarding pipeline config needs a p4info and a p4_device_config")
        self.message = message
        self.source = _json_of(message.p4_device_config)
        with _refusing_programs():
            self.program: Program = load_program(read_document(self.source, "the device config"), _NAME)
        self.info = Info(message.p4info, self.program)
        self.headers = PacketHeaders(self.info)

    def executable(self, *, logs: bool) -> Path:
        """Return the path of the compiled switch; this takes seconds unless the cache has it.

        With `logs` the switch can log the way of every packet.
        """
        return self._built(partial(build_executable, logs=logs))

    def library(self) -> Path:
        """Return the path of the compiled switch as a library."""
        return self._built(build_library)

    def _built(self, build: Callable[[Path], Path]) -> Path:
        with temporary_folder(TEMPORARY) as folder:
            path = Path(folder, _NAME)
            path.write_bytes(self.source)
            try:
                with _refusing_programs():
                    return build(path)
            except (BuildError, CacheRefused, OSError) as error:
                # A compiler quotes its input, and paths say where files of root are. Neither is for a client.
                _LOG.write(f"cannot build the switch: {error}")
                reason = error.strerror if isinstance(error, OSError) else "the server's log has the reason"
                raise Refusal(StatusCode.INTERNAL, f"cannot build the switch: {reason}") from None


class Pipeline:
    """A config with the entities of a switch that runs it."""

    def __init__(self, config: Config, control: Commands, is_up: Callable[[int], bool | None]) -> None:
        self.config = config
        self.entities = Entities(control, config.info, is_up)
        self.headers = config.headers


class SavedPipeline:
    """A pipeline that is not committed: requests go to a switch in this process, which records their commands."""

    def __init__(self, config: Config, is_up: Callable[[int], bool | None]) -> None:
        from softswitch.engine import SwitchEngine  # needs numpy, which would delay the start of every switch

        self._engine = SwitchEngine(config.library())
        self._lines: list[str] = []
        self._n_bytes = 0
        self.pipeline = Pipeline(config, self, is_up)

    def command(self, line: str) -> str:
        if line.startswith(_READING):
            return self._engine.command(line)
        if self._n_bytes > _MOST_SAVED_BYTES:
            raise CommandError(f"the list of writes before a commit is full: it has {self._n_bytes} bytes; commit")
        answer = self._engine.command(line)
        self._lines.append(line)
        self._n_bytes += len(line) + _BYTES_OF_A_LINE
        return answer

    @property
    def commands(self) -> str:
        """The lines of a commands file that brings a new switch into the state of this pipeline."""
        return "".join(f"{line}\n" for line in self._lines)

    def commit(self, control: Commands) -> Pipeline:
        """Return the pipeline on the switch that now runs the program, and has run the commands."""
        self.pipeline.entities.use(control)
        self.close()
        return self.pipeline

    def close(self) -> None:
        self._engine.close()


@contextmanager
def _refusing_programs() -> Iterator[None]:
    """Raise Refusal for a program that the generator does not support."""
    try:
        yield
    except CodegenError as error:
        raise invalid(f"softswitch does not support the program: {error}") from None


def _json_of(device_config: bytes) -> bytes:
    """Return the JSON in a device config, which is the JSON itself or a p4.tmp.P4DeviceConfig around it.

    The JSON may begin with a comment or a byte order mark; no protobuf message begins with their first bytes.
    """
    if device_config.lstrip().startswith((b"{", b"/", b"\xef\xbb\xbf")):
        return device_config
    try:
        wrapped: bytes = messages.tmp.P4DeviceConfig.FromString(device_config).device_data
    except DecodeError:
        raise invalid("the device config is neither BMv2 JSON nor a p4.tmp.P4DeviceConfig") from None
    return wrapped
