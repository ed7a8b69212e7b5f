# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the forwarding pipeline config: its actions, its answers, and wrong configs."""

import json
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import grpc
import pytest

from softswitch.build import BuildError
from softswitch.p4runtime.messages import config, tmp, v1
from softswitch.p4runtime.pipeline import Config
from softswitch.p4runtime.session import NO_CONFIG
from softswitch.p4runtime.status import Refusal
from softswitch_tests.codegen.documents import changed
from softswitch_tests.p4runtime.controller import (
    INSERT,
    Controller,
    Names,
    connected,
    exact,
    pipeline_config,
    refused,
    update,
)
from softswitch_tests.p4runtime.frames import EXACT, arrives, frame
from softswitch_tests.p4runtime.other_server import VARIABLE
from softswitch_tests.p4runtime.running import Served, served
from softswitch_tests.pipeline.harness import PROGRAMS

FAILED_PRECONDITION = 9
MANY = 4_000
"""Almost as many entries as the table has places."""
CONTROLLED = (PROGRAMS / "controlled.json").read_bytes()


def test_without_a_config_requests_are_refused() -> None:
    with served() as server:
        with connected(server.address) as client:
            client.send(packet={"payload": b"x"})
            error = client.next("error")
            assert (error.canonical_code, NO_CONFIG in error.message) == (FAILED_PRECONDITION, True)
            for call in (client.get_pipeline, client.write, lambda: client.read(table_entry={})):
                assert refused(call) == ["FAILED_PRECONDITION"]
            assert refused(client.call_set, "COMMIT") == ["NOT_FOUND"]
        assert server.stop() == (0, "")


def test_a_config_is_read_as_it_was_set(primary: Controller, names: Names) -> None:
    wrapped = tmp.P4DeviceConfig(reassign=True, device_data=CONTROLLED).SerializeToString()
    primary.set_pipeline("controlled", p4_device_config=wrapped, cookie={"cookie": 77})
    answers = {kind: primary.get_pipeline(kind) for kind in ("ALL", "COOKIE_ONLY", "P4INFO_AND_COOKIE")}
    assert answers["ALL"].p4_device_config == wrapped
    assert answers["P4INFO_AND_COOKIE"].p4info == answers["ALL"].p4info == names.p4info
    assert not answers["P4INFO_AND_COOKIE"].p4_device_config
    assert answers["COOKIE_ONLY"] == v1.ForwardingPipelineConfig(cookie={"cookie": 77})
    answer = primary.get_pipeline("DEVICE_CONFIG_AND_COOKIE")
    assert (answer.p4_device_config, answer.HasField("p4info")) == (wrapped, False)
    primary.set_pipeline("controlled")
    assert not primary.get_pipeline("COOKIE_ONLY").HasField("cookie")


@pytest.mark.parametrize("start", [b" \n", b"// made by hand\n", b"/* two\nlines */", b"\xef\xbb\xbf"])
def test_json_may_begin_as_the_reader_of_bmv2_accepts_it(start: bytes, primary: Controller) -> None:
    primary.set_pipeline("controlled", "VERIFY", p4_device_config=start + CONTROLLED)


def test_a_commit_empties_the_switch_and_may_change_the_program(
    server: Served, primary: Controller, names: Names
) -> None:
    entry = names.entry("In.exact_match", [exact(1)], names.action("In.forward", 2))
    primary.insert(table_entry=entry)
    primary.set_pipeline("controlled", "VERIFY")
    assert arrives(server, 2, EXACT, 1)
    primary.set_pipeline("controlled")
    server.send(1, frame(EXACT, 1))
    request = v1.TableEntry(table_id=entry.table_id)
    assert primary.read(table_entry=request) == []
    primary.set_pipeline("l3")
    assert refused(primary.insert, table_entry=entry) == ["INVALID_ARGUMENT"]
    primary.set_pipeline("controlled")
    primary.insert(table_entry=entry)
    assert arrives(server, 2, EXACT, 1)
    assert server.process.poll() is None


def test_a_saved_config_takes_writes_until_its_commit(server: Served, primary: Controller, names: Names) -> None:
    old = names.entry("In.exact_match", [exact(1)], names.action("In.forward", 2))
    new = names.entry("In.exact_match", [exact(2)], names.action("In.forward", 3))
    primary.insert(table_entry=old)
    primary.set_pipeline("controlled", "VERIFY_AND_SAVE")
    request = v1.TableEntry(table_id=old.table_id)
    assert primary.read(table_entry=request) == []
    primary.insert(table_entry=new)
    assert arrives(server, 2, EXACT, 1)
    assert refused(primary.call_set, "COMMIT", config={"p4_device_config": b"x"}) == ["INVALID_ARGUMENT"]
    primary.call_set("COMMIT")
    assert primary.read(table_entry=request) == [new]
    assert arrives(server, 3, EXACT, 2)
    primary.delete(table_entry=new)
    assert refused(primary.call_set, "COMMIT") == ["NOT_FOUND"]


@pytest.mark.skipif(VARIABLE in os.environ, reason="network interfaces lose packets between two programs")
def test_no_packet_meets_a_program_without_its_entries(server: Served, primary: Controller, names: Names) -> None:
    """Packets arrive all the time while the switch is replaced by one with other entries, the needed one being last."""

    def forwarding(key: int, port: int) -> Any:
        return update(INSERT, table_entry=names.entry("In.exact_match", [exact(key)], names.action("In.forward", port)))

    primary.write(forwarding(1, 2))
    primary.set_pipeline("controlled", "VERIFY_AND_SAVE")
    primary.write(*(forwarding(key, 2) for key in range(2, MANY)), forwarding(1, 3))
    is_committed = threading.Event()

    def send() -> int:
        n_sent = 0
        while not is_committed.wait(0.001):
            server.send(1, frame(EXACT, 1))
            n_sent += 1
        return n_sent

    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send)
        primary.call_set("COMMIT")
        is_committed.set()
    assert drained(server, 2) + drained(server, 3) == sending.result()


def drained(server: Served, port: int) -> int:
    """Return the number of frames that wait at a port, and remove them."""
    n_frames = 0
    while not server.nothing_at(port):
        n_frames += 1
    return n_frames


def unsupported_program() -> bytes:
    document = json.loads(CONTROLLED)
    document["parsers"][0]["parse_states"][0]["parser_ops"] = [{"op": "no_such_op", "parameters": []}]
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "source", [b"", b"neither", b"{", b"{}", b"[1, 2]", (PROGRAMS / "l3.json").read_bytes(), unsupported_program()]
)
def test_wrong_configs_leave_the_switch_as_it_was(
    server: Served, primary: Controller, names: Names, source: bytes
) -> None:
    entry = names.entry("In.exact_match", [exact(1)], names.action("In.forward", 2))
    primary.insert(table_entry=entry)
    for action in ("VERIFY", "VERIFY_AND_SAVE", "VERIFY_AND_COMMIT", "RECONCILE_AND_COMMIT"):
        assert refused(primary.set_pipeline, "controlled", action, p4_device_config=source) == ["INVALID_ARGUMENT"]
    assert arrives(server, 2, EXACT, 1)
    assert primary.read(table_entry=v1.TableEntry(table_id=entry.table_id)) == [entry]


SECRET = "root:x:0:0"
"""A part of a file that the C compiler would quote if a name of a program could include the file."""
INCLUDING = ("zz\r#include </etc/passwd>\r", 'zz\n#include "/etc/passwd"\n', "zz*/\n#include </etc/passwd>\n/*")


@pytest.mark.parametrize("name", INCLUDING)
def test_a_name_cannot_make_the_compiler_read_a_file(name: str, primary: Controller) -> None:
    assert SECRET in Path("/etc/passwd").read_text()
    document = json.loads(CONTROLLED)
    for item in (*document["actions"], *document["header_types"][2:], *document["counter_arrays"]):
        item["name"] += name
    try:
        primary.set_pipeline("controlled", "VERIFY", p4_device_config=json.dumps(document).encode())
    except grpc.RpcError as error:
        assert SECRET not in str(error)
        assert "include <" not in error.details()


def test_no_text_of_a_compiler_reaches_a_client(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the reason for which a build fails, it is in the server's log."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise BuildError(f"cc failed:\npipeline.c:1: error: {SECRET}")

    monkeypatch.setattr("softswitch.p4runtime.pipeline.build_library", fail)
    with pytest.raises(Refusal) as caught:
        Config(pipeline_config("controlled")).library()
    assert str(caught.value) == "cannot build the switch: the server's log has the reason"
    assert SECRET in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("header_types", 2, "fields", 0, 1), 1 << 40, "the width is 1099511627776; the limits are 0 and 2048"),
        (("register_arrays", 0, "bitwidth"), 1 << 33, "the width is 8589934592"),
        (("register_arrays", 0, "size"), 1 << 40, "the size of register"),
        (("actions", 0, "name"), "\ud800", "is not valid Unicode"),
    ],
)
def test_sizes_are_refused_with_their_path(place: tuple[str | int, ...], value: Any, words: str) -> None:
    document = changed(json.loads(CONTROLLED), place, value)
    with pytest.raises(Refusal, match=words) as caught:
        Config(pipeline_config("controlled", p4_device_config=json.dumps(document).encode()))
    assert f" at $.{place[0]}[" in str(caught.value)


def mutated(generator: random.Random) -> Any:
    """Return a config with a changed or removed value in its JSON."""
    document = json.loads(CONTROLLED)
    parent: Any = document
    while True:
        keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        key = generator.choice(keys)
        if not isinstance(parent[key], (dict, list)) or not parent[key] or generator.random() < 0.2:
            break
        parent = parent[key]
    if generator.random() < 0.3:
        del parent[key]
    else:
        parent[key] = generator.choice([None, 0, -1, "x", [], {}, 1 << 40, True, [None]])
    return pipeline_config("controlled", p4_device_config=json.dumps(document).encode())


def test_mutated_programs_are_accepted_or_refused() -> None:
    generator = random.Random(36)
    n_accepted = 0
    for _ in range(30):
        with suppress(Refusal):
            Config(mutated(generator))
            n_accepted += 1
    assert 3 < n_accepted < 27


def test_a_malformed_p4info_is_refused(primary: Controller, names: Names) -> None:
    broken = config.P4Info()
    broken.CopyFrom(names.p4info)
    broken.tables[0].action_refs[0].id = 1
    assert refused(primary.set_pipeline, "controlled", p4info=broken) == ["INVALID_ARGUMENT"]
    assert refused(primary.call_set, "VERIFY_AND_COMMIT") == ["INVALID_ARGUMENT"]
    assert refused(primary.set_pipeline, "controlled", "UNSPECIFIED", p4info=broken) == ["INVALID_ARGUMENT"]
    assert primary.get_pipeline("P4INFO_AND_COOKIE").p4info == names.p4info
