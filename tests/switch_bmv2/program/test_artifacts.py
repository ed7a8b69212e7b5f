# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that the committed artifacts belong to the committed P4 source, and that P4's constants equal wire's."""

from __future__ import annotations

import json
import re
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import SOURCES, source_hash
from sfc_testbed.wire import constants, int_slots
from sfc_testbed.wire.counters import COUNTERS, EVENT_BITS, PEAKS, Counter, Peak
from sfc_testbed.wire.roce.packets import ACKNOWLEDGE
from tests.switch_bmv2.program.recompile import needs_p4c
from tools.compile_p4 import PROGRAMS, as_stored, compiler_command, without_indentation
from tools.counters import DOCUMENT, P4_FILE, document_text, p4_text
from tools.p4_variants import FOLDER, VARIANTS, Variant, compiled, variants_hash, without_positions
from tools.p4_variants import HASH_FILE as VARIANTS_HASH_FILE

ARTIFACTS = ROOT / SOURCES / "artifacts"
INCLUDE = ROOT / SOURCES / "include"
CONSTANTS = (INCLUDE / "constants.p4").read_text() + (INCLUDE / "sizes.p4").read_text()
REGISTERS = {
    register["name"]: register for register in json.loads((ARTIFACTS / "sfc.json").read_text())["register_arrays"]
}


def test_artifacts_were_compiled_from_this_source() -> None:
    """If this fails, run `make p4`."""
    assert (ARTIFACTS / "sources.sha256").read_text().strip() == source_hash()


@needs_p4c
@pytest.mark.parametrize("program", PROGRAMS)
def test_compiling_again_gives_the_same_program(program: str, tmp_path: Path) -> None:
    """p4c gives no warning and the committed JSON. The metadata with the version of p4c is not compared."""
    command = compiler_command(tmp_path, program)
    assert command is not None
    process = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert "warning" not in process.stdout + process.stderr
    texts = as_stored((tmp_path / f"{program}.json").read_text()), (ARTIFACTS / f"{program}.json").read_text()
    fresh, committed = map(json.loads, texts)
    for document in (fresh, committed):
        document.pop("__meta__")
    assert fresh == committed


def test_variants_were_compiled_from_this_source() -> None:
    """If this fails, run `make p4`. If that fails, correct the changed place in tools/p4_variants.py."""
    assert (ROOT / VARIANTS_HASH_FILE).read_text().strip() == variants_hash()
    for variant in VARIANTS:
        assert (ROOT / FOLDER / f"{variant.name}.diff").read_text() == variant.diff()


@needs_p4c
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_compiling_a_variant_again_gives_the_same_program(variant: Variant, tmp_path: Path) -> None:
    fresh, committed = json.loads(compiled(variant, tmp_path)), _variant(variant.name)
    assert fresh.pop("__meta__") and committed.pop("__meta__")
    assert fresh == committed


def _variant(name: str) -> dict[str, Any]:
    program: dict[str, Any] = json.loads((ROOT / FOLDER / f"{name}.json").read_text())
    return program


def test_edited_json_of_the_page_has_the_actions_of_the_compiled_variant() -> None:
    """docs/data-plane.md doubles pauses with sed, except in p4c's copies for the limit of a pause."""
    [command] = re.findall(r"^tac .*", (ROOT / "docs" / "data-plane.md").read_text(), re.MULTILINE)
    edited = subprocess.run(
        ["bash", "-c", command.removesuffix(" > mine.json")], cwd=ROOT, check=True, capture_output=True, text=True
    )
    programs = [edited.stdout, (ARTIFACTS / "sfc.json").read_text()]
    ours, before = (json.loads(without_positions(text))["actions"] for text in programs)
    assert ours == _variant("long_pause")["actions"]
    assert ours != before


def test_page_describes_the_variants() -> None:
    page = (ROOT / "docs" / "data-plane.md").read_text()
    assert [f"| `{variant.name}` | {variant.meaning} |" in page for variant in VARIANTS] == [True] * len(VARIANTS)


def test_p4c_in_docker_writes_to_the_requested_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Docker mounts only absolute paths. A relative output folder is inside the mounted source tree."""
    monkeypatch.setattr("tools.compile_p4.shutil.which", {"docker": "docker"}.get)
    for output, mounts in ((SOURCES / "artifacts", []), (tmp_path, [f"{tmp_path}:{tmp_path}"])):
        command = compiler_command(output)
        assert command is not None
        volumes = [word for option, word in pairwise(command) if option == "--volume"]
        assert volumes == [f"{ROOT}:/work", *mounts]
        assert command[command.index("-o") + 1] == str(output / "sfc.json")


@pytest.mark.parametrize("program", PROGRAMS)
def test_artifacts_have_short_lines_without_indentation(program: str) -> None:
    """Short lines make changes visible in a diff. Indentation would double the size."""
    text = (ARTIFACTS / f"{program}.json").read_text()
    assert text == without_indentation(text)
    assert max(map(len, text.splitlines())) < 1000


def _p4_number(name: str) -> int:
    """Return the value of a P4 constant or macro, evaluating sums and shifts of numbers and of other names."""
    definition = re.search(rf"(?:const \S+ {name} =|#define {name}) ([^;/\n]+)", CONSTANTS)
    assert definition is not None, f"no constant {name}"
    parts = re.split(r"(\+|<<)", definition.group(1).strip("() "))
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
        ("INT_STAMP", constants.INT_FLAG_STAMP),
        ("INT_COMPACT", constants.INT_FLAG_COMPACT),
        ("INT_PATH", constants.INT_FLAG_PATH),
        ("INT_PATH_FACTOR_SWITCH", constants.INT_PATH_FACTOR_SWITCH),
        ("INT_PATH_FACTOR_PORT", constants.INT_PATH_FACTOR_PORT),
        ("INT_SENT_SHIFT", (int_slots.SENT_UNIT_BYTES - 1).bit_length()),
        ("INT_QUEUE_RECIPROCAL", -(-(1 << 38) // int_slots.QUEUE_UNIT_BYTES)),
        ("INT_MOST_QUEUE", (1 << int_slots.QUEUE_BITS) - 1),
        ("ROUTES", constants.TABLE_SIZES["ipv4_lpm"]),
        ("NEXT_HOPS", constants.TABLE_SIZES["ecmp_members"]),
        ("WATCHED_DESTINATIONS", constants.TABLE_SIZES["watched_destination"]),
        ("CLASS_BITS", constants.CLASS_BITS),
        ("CACHE_RING", constants.CACHE_RING_PLACES),
    ],
)
def test_p4_constant_equals_the_constant_of_wire(p4_name: str, value: int) -> None:
    assert _p4_number(p4_name) == value


def test_p4_causes_equal_the_causes_of_wire() -> None:
    """P4's `none` is `unknown` in a received BTS."""
    body = re.search(r"enum bit<\d+> bts_cause_t \{([^}]*)\}", CONSTANTS)
    assert body is not None
    causes = {
        name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", body.group(1).replace("none", "unknown"))
    }
    assert causes == {member.name.lower(): member.value for member in constants.BtsCause}


def test_counter_declarations_and_document_equal_the_tables_of_wire() -> None:
    """If this fails after a change of sfc_testbed/wire/counters.py, run `make p4`."""
    assert P4_FILE.read_text() == p4_text()
    assert DOCUMENT.read_text() == document_text(DOCUMENT.read_text())


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
def test_every_event_has_a_cell_of_its_own_and_a_line_that_counts_it(counter: Counter) -> None:
    """The numbers fit the width of the index and differ, and the program counts every event."""
    assert all(0 <= event < 1 << EVENT_BITS for event in counter.events)
    assert len(counter.events.__members__) == len(set(counter.events))
    controls = "".join(path.read_text() for path in sorted((INCLUDE / "control").rglob("*.p4")))
    assert [event.name for event in counter.events if f"{counter.enum}.{event.label}" not in controls] == []


@pytest.mark.parametrize("peak", PEAKS, ids=lambda peak: peak.register)
def test_every_peak_is_a_cell_of_a_register(peak: Peak) -> None:
    assert peak.index < REGISTERS[peak.register]["size"]


def test_a_cache_key_has_the_layout_that_the_prompt_decodes() -> None:
    """A key consists of address, DSCP and two zero bits."""
    assert REGISTERS["cache_key"]["bitwidth"] == 32 + constants.CACHE_KEY_ADDRESS_SHIFT
    assert _p4_number("DSCP_BITS") + constants.CACHE_KEY_DSCP_SHIFT == constants.CACHE_KEY_ADDRESS_SHIFT
