# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The committed artifacts are those of the committed source, and P4 repeats wire/constants.py rightly."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from enum import IntEnum
from pathlib import Path

import pytest

from wire import constants

ROOT = Path(__file__).resolve().parent.parent.parent
ARTIFACTS = ROOT / "switch-bmv2" / "artifacts"
CONSTANTS = (ROOT / "switch-bmv2" / "include" / "constants.p4").read_text()


def _compile_p4() -> object:
    spec = importlib.util.spec_from_file_location("compile_p4", ROOT / "tools" / "compile_p4.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_artifacts_were_compiled_from_this_source() -> None:
    """`make p4` has run since the last change of any P4 file."""
    assert (ARTIFACTS / "sources.sha256").read_text().strip() == _compile_p4().source_hash()  # type: ignore[attr-defined]


@pytest.mark.skipif(shutil.which("p4c-bm2-ss") is None, reason="p4c-bm2-ss is not on the PATH")
@pytest.mark.parametrize("program", _compile_p4().PROGRAMS)  # type: ignore[attr-defined]
def test_compiling_again_gives_the_same_program(program: str, tmp_path: Path) -> None:
    """The JSON is what p4c makes of the source, whatever its version says of itself."""
    command = _compile_p4().compiler_command(tmp_path, program)  # type: ignore[attr-defined]
    subprocess.run(command, cwd=ROOT, check=True)
    fresh, committed = (json.loads((folder / f"{program}.json").read_text()) for folder in (tmp_path, ARTIFACTS))
    for compiled in (fresh, committed):
        compiled.pop("__meta__")
    assert fresh == committed


def _p4_number(name: str) -> int:
    found = re.search(rf"const \S+ {name} = (\w+);", CONSTANTS)
    assert found is not None, f"no constant {name}"
    return int(found.group(1), 0)


@pytest.mark.parametrize(
    ("p4_name", "value"),
    [
        ("ETHERTYPE_IPV4", constants.ETHERTYPE_IPV4),
        ("ETHERTYPE_MAC_CONTROL", constants.ETHERTYPE_MAC_CONTROL),
        ("PROTOCOL_UDP", constants.IP_PROTOCOL_UDP),
        ("ROCE_UDP_PORT", constants.ROCE_UDP_PORT),
        ("BTS_UDP_PORT", constants.BTS_UDP_PORT),
        ("BTS_VERSION", constants.BTS_VERSION),
        ("INT_UDP_PORT", constants.INT_UDP_PORT),
        ("PAUSE_ADDRESS", constants.PFC_DESTINATION_MAC),
        ("PFC_OPCODE", constants.PFC_OPCODE),
        ("PFC_MAX_QUANTA", constants.PFC_MAX_QUANTA),
        ("PFC_FRAME_BYTES", constants.PFC_FRAME_BYTES),
        ("BTS_DSCP", constants.DSCP_BTS),
        ("BTS_TTL", constants.IPV4_TTL),
        ("BTS_UDP_BYTES", 8 + constants.BTS_PAYLOAD_BYTES),
        ("BTS_IPV4_BYTES", 28 + constants.BTS_PAYLOAD_BYTES),
        ("BTS_FRAME_BYTES", constants.BTS_FRAME_BYTES),
        ("BTS_MIRROR_SESSION", constants.BTS_MIRROR_SESSION),
    ],
)
def test_p4_constant_equals_the_wires(p4_name: str, value: int) -> None:
    """A number that two parts share is one number."""
    assert _p4_number(p4_name) == value


@pytest.mark.parametrize(
    ("p4_name", "members"),
    [
        ("bts_cause_t", constants.BtsCause),
        ("drop_reason_t", constants.DropReason),
        ("bts_event_t", constants.BtsEvent),
        ("pfc_event_t", constants.PfcEvent),
    ],
)
def test_p4_enum_equals_the_wires(p4_name: str, members: type[IntEnum]) -> None:
    """The closed sets have the same members with the same numbers (P4's `none` aside)."""
    body = re.search(rf"enum bit<\d+> {p4_name} \{{([^}}]*)\}}", CONSTANTS)
    assert body is not None
    found = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", body.group(1)) if name != "none"}
    assert found == {member.name.lower(): member.value for member in members}
