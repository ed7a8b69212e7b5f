# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the verdict on a switch's behaviour, and of the display of differences."""

import pytest

from softswitch.stf.program import ProgramNames
from softswitch.stf.runner import TestFailure, first_difference, hex_diff, run
from softswitch.stf.statements import StfError, parse

NAMES = ProgramNames(
    {
        "header_types": [],
        "headers": [],
        "actions": [],
        "pipelines": [],
        "counter_arrays": [{"name": "In.c"}],
        "register_arrays": [{"name": "In.r"}],
    }
)


class Echo:
    """A switch that sends every frame out of the next port; frames that begin with 0xff also leave by port 9."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.dropped: list[str] = []

    def command(self, line: str) -> str:
        self.commands.append(line)
        answers = {"counter_read In.c 1": "c[1]= (20 bytes, 2 packets)", "register_read In.r 1": "In.r[1]= 7"}
        if line not in answers and not line.startswith("mirroring_add"):
            raise ValueError("no such cell")
        return answers.get(line, "")

    def send(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Return one departed frame or two; drop the frame 0xdd."""
        if frame == b"\xdd":
            self.dropped.append("by its own wish (port 1)")
            return []
        return [(port + 1, frame), (9, frame)] if frame[:1] == b"\xff" else [(port + 1, frame)]

    def drops(self) -> list[str]:
        reasons, self.dropped = self.dropped, []
        return reasons


def verdict(*lines: str) -> str | None:
    try:
        run(parse("\n".join(lines)), NAMES, Echo())
    except TestFailure as failure:
        return str(failure)
    return None


def test_frames_are_matched_in_order_on_each_port() -> None:
    assert (
        verdict("expect 2 01", "packet 1 01", "packet 1 ff 02", "expect 9 ff", "expect 2 f* 02 $", "no_packet") is None
    )


def test_a_missing_a_wrong_and_a_surplus_frame_are_failures() -> None:
    assert verdict("packet 1 01", "expect 3 01") == "line 2: no frame came out of port 3, but of 2"
    assert str(verdict("packet 1 0102", "expect 2 0103")).startswith(
        "line 2: port 2, after the packet of line 1: byte 1 is 02, not 03\n- 0000  01 03\n+ 0000  01 02\n"
    )
    assert str(verdict("packet 1 01")).startswith("the end: port 2 sent a frame that is not expected, after line 1\n")
    assert str(verdict("packet 1 01", "no_packet", "expect 2 01")).startswith("line 2: port 2 sent")


def test_missing_frame_is_reported_with_the_drops() -> None:
    """The report lists only drops since the last met expectation."""
    dropped = "the packet of line {} was dropped by its own wish (port 1)"
    missing = "line {}: no frame came out of port {}"
    assert verdict("packet 1 dd", "expect 2 dd") == f"{missing.format(2, 2)}\n{dropped.format(1)}"
    lines = ("packet 1 dd", "no_packet", "packet 1 01", "expect 2 01", "wait", "packet 3 dd", "expect 4")
    assert verdict(*lines) == f"{missing.format(7, 4)}\n{dropped.format(6)}"


def test_checks_compare_cells() -> None:
    """A refused command is bad input, not a failure."""
    assert (
        verdict("check_counter c(1) packets == 2", "check_counter c(1) bytes > 19", "check_register r(1) != 8") is None
    )
    assert verdict("check_counter In.c(1) packets < 2") == "line 1: In.c(1) is 2, wanted < 2"
    with pytest.raises(StfError, match=r"line 1: refused: counter_read In\.c 5: no such cell"):
        verdict("check_counter c(5)")
    with pytest.raises(StfError, match="line 1: no entry has the label 'a'"):
        verdict("check_counter c($a)")


def test_frame_that_the_switch_refuses_is_bad_input() -> None:
    class Refusing(Echo):
        def send(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
            raise ValueError(f"no port {port}")

    with pytest.raises(StfError, match="line 2: no port 510"):
        run(parse("\npacket 510 00"), NAMES, Refusing())


def test_control_commands_pass_unchanged() -> None:
    target = Echo()
    run(parse("mirroring_add 5  6"), NAMES, target)
    assert target.commands == ["mirroring_add 5 6"]


def test_longer_frames_match_unless_the_pattern_ends_in_a_dollar() -> None:
    """`$` requires the exact length; half a byte may be masked."""
    assert first_difference("0102", False, b"\x01\x02\x03") is None
    assert first_difference("0102", True, b"\x01\x02\x03") == "3 bytes are more than 2"
    assert first_difference("010203", False, b"\x01\x02") == "2 bytes are fewer than 3"
    assert first_difference("0*02", True, b"\x0f\x02") is None
    assert first_difference("*102", True, b"\x0f\x02") == "byte 0 is 0f, not *1"


def test_the_diff_marks_the_digits_that_differ() -> None:
    """Rows have sixteen bytes; rows without a difference appear once."""
    shown = hex_diff("00" * 16 + "11*2", bytes(16) + b"\x12\x22\x33").splitlines()
    assert shown == ["  0000  " + " ".join(["00"] * 16), "- 0010  11 *2", "+ 0010  12 22 33", "         ^    ^^"]
