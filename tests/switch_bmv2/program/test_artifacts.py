# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The committed artifacts are those of the committed source, and P4 repeats wire/constants.py rightly."""

from __future__ import annotations

import json
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from tests.switch_bmv2.program.recompile import needs_p4c
from tools.compile_p4 import PROGRAMS, ROOT, SOURCES, compiler_command, source_hash, without_indentation
from tools.counters import DOCUMENT, P4_FILE, document_text, p4_text
from wire import constants
from wire.counters import COUNTERS, EVENT_BITS, PEAKS, Counter, Peak
from wire.roce.packets import ACKNOWLEDGE

ARTIFACTS = ROOT / SOURCES / "artifacts"
INCLUDE = ROOT / SOURCES / "include"
CONSTANTS = (INCLUDE / "constants.p4").read_text() + (INCLUDE / "sizes.p4").read_text()
REGISTERS = {each["name"]: each for each in json.loads((ARTIFACTS / "sfc.json").read_text())["register_arrays"]}


def test_artifacts_were_compiled_from_this_source() -> None:
    """`make p4` has run since the last change of any P4 file."""
    assert (ARTIFACTS / "sources.sha256").read_text().strip() == source_hash()


@needs_p4c
@pytest.mark.parametrize("program", PROGRAMS)
def test_compiling_again_gives_the_same_program(program: str, tmp_path: Path) -> None:
    """The JSON is what p4c makes of the source without a warning, whatever its version says of itself."""
    command = compiler_command(tmp_path, program)
    assert command is not None
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert "warning" not in done.stdout + done.stderr
    fresh, committed = (json.loads((folder / f"{program}.json").read_text()) for folder in (tmp_path, ARTIFACTS))
    for each in (fresh, committed):
        each.pop("__meta__")
    assert fresh == committed


def test_by_docker_the_artifacts_are_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is mounted is a folder by its whole path, which is all that Docker takes; the rest is below the first."""
    monkeypatch.setattr("tools.compile_p4.shutil.which", {"docker": "docker"}.get)
    for output, mounted in ((SOURCES / "artifacts", []), (tmp_path, [f"{tmp_path}:{tmp_path}"])):
        command = compiler_command(output)
        assert command is not None
        volumes = [word for option, word in pairwise(command) if option == "--volume"]
        assert volumes == [f"{ROOT}:/work", *mounted]
        assert command[command.index("-o") + 1] == str(output / "sfc.json")


@pytest.mark.parametrize("program", PROGRAMS)
def test_artifacts_have_lines_that_show_what_changed(program: str) -> None:
    """As p4c lays them out, but for the blanks that would be half of them."""
    text = (ARTIFACTS / f"{program}.json").read_text()
    assert text == without_indentation(text)
    assert max(map(len, text.splitlines())) < 1000


def _p4_number(name: str) -> int:
    """A constant's value or a macro's; sums and shifts of numbers and of other names are worked out."""
    found = re.search(rf"(?:const \S+ {name} =|#define {name}) ([^;/\n]+)", CONSTANTS)
    assert found is not None, f"no constant {name}"
    parts = re.split(r"(\+|<<)", found.group(1).strip("() "))
    numbers = [int(part, 0) if part.strip()[0].isdigit() else _p4_number(part.strip()) for part in parts[::2]]
    for sign, number in zip(parts[1::2], numbers[1:], strict=True):
        numbers[0] = numbers[0] + number if sign == "+" else numbers[0] << number
    return numbers[0]


@pytest.mark.parametrize(
    ("p4_name", "value"),
    [
        ("ETHERTYPE_IPV4", constants.ETHERTYPE_IPV4),
        ("ETHERTYPE_MAC_CONTROL", constants.ETHERTYPE_MAC_CONTROL),
        ("PROTOCOL_UDP", constants.IP_PROTOCOL_UDP),
        ("ROCE_UDP_PORT", constants.ROCE_UDP_PORT),
        ("BTS_UDP_PORT", constants.BTS_UDP_PORT),
        ("ROCE_ACKNOWLEDGE", ACKNOWLEDGE),
        ("BTS_VERSION", constants.BTS_VERSION),
        ("INT_UDP_PORT", constants.INT_UDP_PORT),
        ("PAUSE_ADDRESS", constants.PFC_DESTINATION_MAC),
        ("PFC_OPCODE", constants.PFC_OPCODE),
        ("PFC_MAX_QUANTA", constants.PFC_MAX_QUANTA),
        ("PFC_FRAME_BYTES", constants.PFC_FRAME_BYTES),
        ("BTS_DSCP", constants.DSCP_BTS),
        ("TRIMMED_DSCP", constants.DSCP_TRIMMED),
        ("RETURNED_DSCP", constants.DSCP_RETURNED),
        ("BTS_TTL", constants.IPV4_TTL),
        ("BTS_UDP_BYTES", 8 + constants.BTS_PAYLOAD_BYTES),
        ("BTS_IPV4_BYTES", 28 + constants.BTS_PAYLOAD_BYTES),
        ("BTS_FRAME_BYTES", constants.BTS_FRAME_BYTES),
        ("TRIMMED_UDP_BYTES", constants.TRIMMED_IPV4_BYTES - 20),
        ("TRIMMED_IPV4_BYTES", constants.TRIMMED_IPV4_BYTES),
        ("TRIMMED_FRAME_BYTES", constants.TRIMMED_FRAME_BYTES),
        ("BTS_MIRROR_SESSION", constants.BTS_MIRROR_SESSION),
        ("PAUSE_MIRROR_SESSION", constants.PAUSE_MIRROR_SESSION),
        ("INT_MAX_HOPS", constants.INT_MAX_HOPS),
        ("INT_RECORD_BYTES", constants.INT_RECORD_BYTES),
        ("INT_ECHO", constants.INT_FLAG_ECHO),
        ("CLASS_BITS", constants.CLASS_BITS),
        ("CACHE_RING", constants.CACHE_RING_PLACES),
    ],
)
def test_p4_constant_equals_the_wires(p4_name: str, value: int) -> None:
    """A number that two parts share is one number."""
    assert _p4_number(p4_name) == value


def test_p4_causes_equal_the_wires() -> None:
    """The same members with the same numbers (P4's `none` aside)."""
    body = re.search(r"enum bit<\d+> bts_cause_t \{([^}]*)\}", CONSTANTS)
    assert body is not None
    found = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", body.group(1)) if name != "none"}
    assert found == {member.name.lower(): member.value for member in constants.BtsCause}


def test_counters_are_declared_as_wire_has_them() -> None:
    """`make p4` has run since the last change of wire/counters.py: P4 has its numbers, the document its meanings."""
    assert P4_FILE.read_text() == p4_text()
    assert DOCUMENT.read_text() == document_text(DOCUMENT.read_text())


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
def test_every_event_has_a_cell_of_its_own_and_a_line_that_counts_it(counter: Counter) -> None:
    """Numbers fit the index, differ, and no row is dead."""
    assert all(0 <= event < 1 << EVENT_BITS for event in counter.events)
    assert len(counter.events.__members__) == len(set(counter.events))
    controls = "".join(path.read_text() for path in sorted((INCLUDE / "control").rglob("*.p4")))
    assert [e.name for e in counter.events if f"{counter.enum}.{e.label}" not in controls] == []


@pytest.mark.parametrize("peak", PEAKS, ids=lambda peak: peak.register)
def test_every_peak_is_a_cell_of_a_register(peak: Peak) -> None:
    """The control plane reads what there is."""
    assert peak.index < REGISTERS[peak.register]["size"]


def test_a_cache_key_has_the_layout_that_the_prompt_decodes() -> None:
    """Address, DSCP and two zero bits."""
    assert REGISTERS["cache_key"]["bitwidth"] == 32 + constants.CACHE_KEY_ADDRESS_SHIFT
    assert _p4_number("DSCP_BITS") + constants.CACHE_KEY_DSCP_SHIFT == constants.CACHE_KEY_ADDRESS_SHIFT
