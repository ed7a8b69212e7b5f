# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A P4Runtime client for tests, over a real gRPC channel, and names for the objects of a P4Info."""

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import grpc
from google.protobuf import text_format

from softswitch.p4runtime.byte_strings import encoded
from softswitch.p4runtime.messages import client_calls, config, rpc, v1
from softswitch.p4runtime.status import DETAILS_KEY
from softswitch_tests.pipeline.harness import PROGRAMS

PATIENCE_S = 30.0
INSERT, MODIFY, DELETE = v1.Update.INSERT, v1.Update.MODIFY, v1.Update.DELETE
DEVICE_ID = 3
_CHANNEL_OPTIONS = (("grpc.max_metadata_size", 1 << 20), ("grpc.use_local_subchannel_pool", 1))


class Names:
    """The ids of a P4Info by name."""

    def __init__(self, program: str) -> None:
        text = (PROGRAMS / f"{program}.p4info.txtpb").read_text()
        self.p4info = text_format.Parse(text, config.P4Info())
        kinds = ["tables", "actions", "action_profiles", "counters", "meters", "registers", "digests", "value_sets"]
        items = [item for kind in kinds for item in getattr(self.p4info, kind)]
        self.ids: dict[str, int] = {item.preamble.name: item.preamble.id for item in items}

    def __getitem__(self, name: str) -> int:
        return self.ids[name]

    def action(self, name: str, *args: int) -> Any:
        message = v1.Action(action_id=self[name])
        for number, value in enumerate(args, start=1):
            message.params.add(param_id=number, value=encoded(value))
        return message

    def entry(self, table: str, match: Sequence[Any] = (), action: Any = None, **fields: Any) -> Any:
        """Return a table entry; `action` is the message of an action, or a TableAction."""
        entry = v1.TableEntry(table_id=self[table], match=match, **fields)
        if isinstance(action, v1.TableAction):
            entry.action.CopyFrom(action)
        elif action is not None:
            entry.action.action.CopyFrom(action)
        return entry


def exact(value: int, field: int = 1) -> Any:
    return v1.FieldMatch(field_id=field, exact={"value": encoded(value)})


def lpm(value: int, prefix: int, field: int = 1) -> Any:
    return v1.FieldMatch(field_id=field, lpm={"value": encoded(value), "prefix_len": prefix})


def ternary(value: int, mask: int, field: int = 1) -> Any:
    return v1.FieldMatch(field_id=field, ternary={"value": encoded(value), "mask": encoded(mask)})


def optional(value: int, field: int = 2) -> Any:
    return v1.FieldMatch(field_id=field, optional={"value": encoded(value)})


def between(low: int, high: int, field: int = 3) -> Any:
    return v1.FieldMatch(field_id=field, range={"low": encoded(low), "high": encoded(high)})


def update(kind: int, **entity: Any) -> Any:
    return v1.Update(type=kind, entity=v1.Entity(**entity))


def pipeline_config(program: str, **fields: Any) -> Any:
    """Return the config of a program of the tests, with these fields instead of its own."""
    if "p4_device_config" not in fields:
        fields["p4_device_config"] = (PROGRAMS / f"{program}.json").read_bytes()
    return v1.ForwardingPipelineConfig(**{"p4info": Names(program).p4info, **fields})


class Controller:
    """A client with a stream; use `close` to end it."""

    def __init__(self, address: str, election_id: int | None = 1, role: str = "") -> None:
        self.channel = grpc.insecure_channel(address, options=_CHANNEL_OPTIONS)
        self.calls = client_calls(self.channel)
        self.election_id = election_id
        self.role = role
        self.ended: queue.Queue[grpc.RpcError | None] = queue.Queue()
        self._requests: queue.Queue[Any] = queue.Queue()
        self._answers: queue.Queue[Any] = queue.Queue()
        self.stream = self.calls["StreamChannel"](iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read_stream, daemon=True)
        self._reader.start()

    def _read_stream(self) -> None:
        try:
            for message in self.stream:
                self._answers.put(message)
            self.ended.put(None)
        except grpc.RpcError as error:
            self.ended.put(error)

    def send(self, **message: Any) -> None:
        self._requests.put(v1.StreamMessageRequest(**message))

    def arbitrate(self, device_id: int = DEVICE_ID, **more: Any) -> Any:
        """Send an arbitration message and return the answer."""
        self.send_arbitration(device_id, **more)
        return self.next("arbitration")

    def send_arbitration(self, device_id: int = DEVICE_ID, **more: Any) -> None:
        message = v1.MasterArbitrationUpdate(device_id=device_id, **more)
        if self.election_id is not None:
            message.election_id.CopyFrom(self._election())
        if self.role:
            message.role.name = self.role
        self.send(arbitration=message)

    def next(self, kind: str) -> Any:
        """Return the next message of the stream, which must be of this kind."""
        message = self._answers.get(timeout=PATIENCE_S)
        assert message.WhichOneof("update") == kind, message
        return getattr(message, kind)

    def end(self) -> Any:
        """Return the error that ended the stream."""
        return self.ended.get(timeout=PATIENCE_S)

    @property
    def is_silent(self) -> bool:
        return self._answers.empty()

    def set_pipeline(self, program: str, action: str = "VERIFY_AND_COMMIT", **fields: Any) -> None:
        """Set a program of the tests; `fields` replace those of its config."""
        self.call_set(action, config=pipeline_config(program, **fields))

    def call_set(self, action: str, **fields: Any) -> None:
        number = v1.SetForwardingPipelineConfigRequest.Action.Value(action)
        self.calls["SetForwardingPipelineConfig"](
            self._signed("SetForwardingPipelineConfigRequest", action=number, **fields)
        )

    def get_pipeline(self, response_type: str = "ALL") -> Any:
        number = v1.GetForwardingPipelineConfigRequest.ResponseType.Value(response_type)
        request = v1.GetForwardingPipelineConfigRequest(device_id=DEVICE_ID, response_type=number)
        return self.calls["GetForwardingPipelineConfig"](request).config

    def write(self, *updates: Any, **fields: Any) -> None:
        self.calls["Write"](self._signed("WriteRequest", updates=updates, **fields))

    def insert(self, **entity: Any) -> None:
        self.write(update(INSERT, **entity))

    def modify(self, **entity: Any) -> None:
        self.write(update(MODIFY, **entity))

    def delete(self, **entity: Any) -> None:
        self.write(update(DELETE, **entity))

    def read(self, **entity: Any) -> list[Any]:
        """Return the messages of the entities that a request selects."""
        [kind] = entity
        answers = self.calls["Read"](v1.ReadRequest(device_id=DEVICE_ID, entities=[v1.Entity(**entity)]))
        return [getattr(item, kind) for answer in answers for item in answer.entities]

    def close(self) -> None:
        self._requests.put(None)
        self.channel.close()
        self._reader.join(PATIENCE_S)

    def _signed(self, kind: str, **fields: Any) -> Any:
        request = getattr(v1, kind)(device_id=DEVICE_ID, role=self.role, **fields)
        if self.election_id is not None:
            request.election_id.CopyFrom(self._election())
        return request

    def _election(self) -> Any:
        assert self.election_id is not None
        return v1.Uint128(high=self.election_id >> 64, low=self.election_id & (1 << 64) - 1)


@contextmanager
def connected(address: str, program: str | None = None) -> Iterator[Controller]:
    """Yield a primary client, which has set a program of the tests if one is given."""
    with closing(Controller(address)) as controller:
        assert controller.arbitrate().status.code == 0
        if program is not None:
            controller.set_pipeline(program)
        yield controller


def codes(error: grpc.RpcError) -> list[str]:
    """Return the names of the canonical codes of a batch, one for each part."""
    [details] = [value for key, value in error.trailing_metadata() if key == DETAILS_KEY]
    names = {code.value[0]: code.name for code in grpc.StatusCode}
    result = []
    for detail in rpc.Status.FromString(details).details:
        part = v1.Error()
        assert detail.Unpack(part)
        result.append(names[part.canonical_code])
    return result


def refused(call: Any, *arguments: Any, **fields: Any) -> list[str]:
    """Return the codes of a call that must be refused: one for the whole call, or one for each part of a batch."""
    try:
        call(*arguments, **fields)
    except grpc.RpcError as error:
        return codes(error) if error.code() is grpc.StatusCode.UNKNOWN else [error.code().name]
    raise AssertionError("the call was accepted")
