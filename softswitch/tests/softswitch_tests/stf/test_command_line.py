# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `python -m softswitch.stf`: exit status and output."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from softswitch_tests.pipeline.harness import PROGRAMS

AGAIN = PROGRAMS / "again.json"
ROUTER = PROGRAMS / "l3.json"
NOT_IPV4 = "000000000001 000000000002 1234"
NO_ROUTE = "000000000001 000000000002 0800 45000014 00004000 401126d7 0a000001 0a000002"


def stf(*arguments: Path | str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "softswitch.stf", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_passing_test_prints_nothing(tmp_path: Path) -> None:
    test = tmp_path / "good.stf"
    test.write_text("packet 2 00000000 aa\nexpect 1 00000000 aa $\n")
    assert stf(AGAIN, test) == (0, "", "")


def test_a_difference_is_shown_as_a_hex_diff(tmp_path: Path) -> None:
    test = tmp_path / "bad.stf"
    test.write_text("packet 2 00000000 aa\nexpect 1 00000000 ab\n")
    status, output, errors = stf(AGAIN, test)
    assert (status, errors) == (1, "")
    assert output.splitlines() == [
        f"{test}: line 2: port 1, after the packet of line 1: byte 4 is aa, not ab",
        "- 0000  00 00 00 00 ab",
        "+ 0000  00 00 00 00 aa",
        "                     ^",
    ]


def test_each_of_several_tests_begins_with_a_new_switch(tmp_path: Path) -> None:
    entries = "add routes dst:0x0a000000/8 route(port:2, next_hop:9)\nadd neighbours next_hop:9 rewrite(dst:1)\n"
    frames = f"packet 1 {NO_ROUTE}\nexpect 2\n"
    texts = {"good": entries + frames, "bad": frames, "wrong": "packet\n"}
    paths = {name: tmp_path / f"{name}.stf" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text)
    assert stf(ROUTER, paths["good"], paths["good"]) == (0, "", "")
    status, output, errors = stf(ROUTER, paths["good"], paths["bad"], paths["good"])
    assert (status, errors) == (1, "")
    assert output.startswith(f"{paths['bad']}: line 2: no frame came out of port 2\n")
    status, output, errors = stf(ROUTER, paths["wrong"], paths["bad"], tmp_path / "absent.stf")
    assert status == 2
    assert output.startswith(f"{paths['bad']}: line 2: ")
    assert [str(paths["wrong"]) in line for line in errors.splitlines()] == [True, False]
    assert "absent.stf" in errors.splitlines()[1]


@pytest.mark.parametrize(
    ("frame", "branch"), [(NOT_IPV4, "l3.p4:55 holds"), (NO_ROUTE, "table In.routes, l3.p4:55 does not hold")]
)
def test_failure_shows_where_and_why_a_packet_was_dropped(frame: str, branch: str, tmp_path: Path) -> None:
    test = tmp_path / "dropped.stf"
    test.write_text(f"packet 1 {frame}\nexpect 2 {frame}\n")
    status, output, errors = stf(ROUTER, test)
    assert (status, errors) == (1, "")
    assert output.splitlines() == [
        f"{test}: line 2: no frame came out of port 2",
        f"the packet of line 1 was dropped by the program in ingress (port 1), at l3.p4:32 ({branch})",
    ]


@pytest.mark.parametrize(
    ("program", "text", "complaint"),
    [
        (AGAIN, "packet 1 0", "line 1: packet data"),
        (AGAIN, "wait\nregister_read nothing 1", "line 2: refused: register_read nothing 1: "),
        ("absent.json", "wait", "absent.json"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, program: Path | str, text: str, complaint: str) -> None:
    test = tmp_path / "test.stf"
    test.write_text(text)
    status, output, errors = stf(program, test)
    assert (status, output, errors.count("\n")) == (2, "", 1)
    assert complaint in errors


def test_a_failed_assertion_of_the_program_ends_the_process(tmp_path: Path) -> None:
    """The place in the source is printed on stderr, as in BMv2; `assume` does the same."""
    for which, text in ((9, "assert failed: checked.p4:17"), (10, "assume failed: checked.p4:18")):
        test = tmp_path / "test.stf"
        test.write_text(f"packet 1 {which:02x}0000000000\n")
        status, _, errors = stf(PROGRAMS / "checked.json", test)
        assert status == -signal.SIGABRT
        assert text in errors


def test_usage_without_arguments() -> None:
    usage = "usage: python -m softswitch.stf PROGRAM.json TEST.stf...\n"
    assert stf() == (2, "", usage)
    assert stf(AGAIN) == (2, "", usage)
