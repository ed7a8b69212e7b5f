# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs packet tests of many P4 programs on softswitch, and the failed ones on BMv2: `python -m tools.packet_tests`.

The tests of PROGRAM.p4 are in PROGRAM.stf beside it, or with `--generate`, P4Testgen makes them. Needs `p4c-bm2-ss` on
the PATH, `p4testgen` for `--generate`, and for the comparison all that the tests of BMv2 need. Results go to a CSV file
with a row per test. Programs in that file are skipped, so an interrupted command continues where it was.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from softswitch.p4c import COMPILER, CompileError, program_json
from softswitch.stf.program import ProgramNames
from softswitch.stf.runner import TestFailure, run
from softswitch.stf.statements import CommandRefused, StfError, parse
from tools import bmv2_target

PASSED, FAILED, REFUSED, CRASHED, LATE = "passed", "failed", "refused", "crashed", "late"
NO_TESTS, NO_PROGRAM, NOT_RUN = "no tests", "no program", ""
_STATUSES = {0: PASSED, 1: FAILED, 2: REFUSED}
GENERATOR = "p4testgen"
SEED = 1000
"""The seed of P4Testgen. The compiler's own test suite uses the same seed."""
_ERROR = re.compile(r"(?<!overlimit\] )error: (?!In file)|syntax error|Unimplemented .* support|Bug:")
"""A message of P4Testgen or the compiler. `In file` is followed by a place in their own sources."""
_MOST_TESTS = 5
_INTERRUPTED = 130
_GENERATE_S = 120
_TESTS_S = 300


@dataclass(frozen=True)
class Row:
    """The result of a test, or of a program without tests."""

    program: str
    test: str
    softswitch: str
    bmv2: str = NOT_RUN
    reason: str = ""


class BadInputError(Exception):
    """The command cannot do its work; the message is one line with the reason."""


class NoTestsError(Exception):
    """A program has no tests; the message is the reason in one line."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the tests of the programs that the result file does not have, and print a summary of the file."""
    options = _parser().parse_args(words)
    try:
        return _run(options)
    except (OSError, BadInputError) as error:
        print(f"packet_tests: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"packet_tests: interrupted; the same command continues {options.out}", file=sys.stderr)
        return _INTERRUPTED


def _run(options: argparse.Namespace) -> int:
    rows = _read(options.out)
    done = {row.program for row in rows}
    programs = [program for path in options.programs for program in programs_of(path, options.generate is not None)]
    left = [program for program in programs if program.name not in done]
    _check(left, options.generate is not None)
    with options.out.open("a", newline="", encoding="utf-8") as file, ThreadPoolExecutor(options.jobs) as pool:
        writer = csv.writer(file)
        if not rows:
            writer.writerow(field.name for field in fields(Row))
        try:
            for future in as_completed([pool.submit(results, program, options.generate) for program in left]):
                writer.writerows(map(astuple, future.result()))
                file.flush()
                rows += future.result()
        finally:  # after Ctrl-C the other programs wait for the next time
            pool.shutdown(wait=False, cancel_futures=True)
    print(summary(rows))
    return 0


def _check(programs: Sequence[Path], generate: bool) -> None:
    """Raise BadInputError if a file or a program for the tests is missing."""
    for program in programs:
        if not program.is_file():
            raise BadInputError(f"there is no program {program}")
    is_needed = {COMPILER: any(program.suffix == ".p4" for program in programs), GENERATOR: generate}
    for name in (name for name, needed in is_needed.items() if needed):
        if shutil.which(name) is None:
            raise BadInputError(f"no {name} on the PATH; it is built from the sources of the P4 compiler")


def programs_of(path: Path, generate: bool) -> list[Path]:
    """Return a program, or the v1model programs in a folder; without `generate`, only those with a test beside them."""
    if not path.is_dir():
        return [path]
    programs = [program for program in sorted(path.glob("*.p4")) if b"v1model.p4" in program.read_bytes()]
    return [program for program in programs if generate or program.with_suffix(".stf").exists()]


def results(program: Path, tests_per_program: int | None) -> list[Row]:
    """Return the results of a program's tests; P4Testgen makes this number of tests unless it is None."""
    with tempfile.TemporaryDirectory(prefix="packet-tests-") as folder:
        try:
            tests = [program.with_suffix(".stf")]
            if tests_per_program is not None:
                tests = generated_tests(program, Path(folder), tests_per_program)
            json_path = program_json(program)
        except NoTestsError as error:
            return [Row(program.name, "", NO_TESTS, reason=str(error))]
        except CompileError as error:
            return [Row(program.name, "", NO_PROGRAM, reason=str(error))]
        return list(_compared(program.name, json_path, tests))


def generated_tests(program: Path, folder: Path, most: int) -> list[Path]:
    """Let P4Testgen write at most this number of tests into a folder. Raise NoTestsError if it writes none."""
    words = [GENERATOR, "--target", "bmv2", "--arch", "v1model", "--test-backend", "STF", "--seed", str(SEED)]
    words += ["--max-tests", str(most), "--out-dir", str(folder), str(program)]
    reason = "no path through the program gives a test"
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_GENERATE_S, check=False)
        if done.returncode != 0:
            reason = _error_line(done.stderr)
    except subprocess.TimeoutExpired:
        reason = f"P4Testgen takes more than {_GENERATE_S} s"
    tests = sorted(folder.glob("*.stf"))
    if not tests:
        raise NoTestsError(reason)
    return tests


def _error_line(text: str) -> str:
    """Return the first line with an error, or else the last line. Lines that only mark a place are left out."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip(" ^")] or ["no message"]
    return next((line for line in lines if _ERROR.search(line)), lines[-1])


def _compared(name: str, json_path: Path, tests: Sequence[Path]) -> Iterator[Row]:
    """Yield the results of the tests. BMv2 runs only the tests that softswitch does not pass."""
    if len(tests) > 1 and _on_softswitch(json_path, tests)[0] == PASSED:
        yield from (Row(name, test.name, PASSED) for test in tests)
        return
    for test in tests:  # each in a process of its own, because a failed assertion of the program ends the process
        status, reason = _on_softswitch(json_path, [test])
        theirs = NOT_RUN
        if status != PASSED and bmv2_target.missing() is None:
            theirs, their_reason = _on_bmv2(json_path, test)
            place = "not run on BMv2" if theirs == NOT_RUN else "BMv2"
            reason += f" | {place}: {their_reason}" if their_reason else ""
        yield Row(name, test.name, status, theirs, reason)


def _on_softswitch(json_path: Path, tests: Sequence[Path]) -> tuple[str, str]:
    """Return the status of all tests together, and the first line that the switch printed."""
    words = [sys.executable, "-m", "softswitch.stf", str(json_path), *map(str, tests)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_TESTS_S, check=False)
    except subprocess.TimeoutExpired:
        return LATE, f"no result within {_TESTS_S} s"
    first = next(iter((done.stdout + done.stderr).splitlines()), "")
    return _STATUSES.get(done.returncode, CRASHED), first.replace(f"{tests[0]}: ", "")


def _on_bmv2(json_path: Path, test: Path) -> tuple[str, str]:
    """Return the status of a test on BMv2, and the first line of the reason if it does not pass.

    A test or program that our own readers refuse is not run: BMv2 never sees it.
    """
    try:
        statements, names = parse(test.read_text(encoding="utf-8")), ProgramNames.load(json_path)
        with bmv2_target.Bmv2Target(json_path) as target:
            run(statements, names, target)
    except TestFailure as failure:
        return FAILED, str(failure).splitlines()[0]
    except CommandRefused as error:
        return REFUSED, str(error)
    except StfError as error:
        return NOT_RUN, str(error)
    except TimeoutError as error:
        return LATE, str(error)
    except ConnectionError as error:
        return CRASHED, " ".join(str(error).split())[-200:]
    return PASSED, ""


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def summary(rows: Sequence[Row]) -> str:
    """Return the number of programs and tests, and of the tests with each pair of results."""
    tests = [row for row in rows if row.test]
    lines = [f"{len({row.program for row in tests})} programs with {len(tests)} tests"]
    pairs = Counter((row.softswitch, row.bmv2) for row in rows)
    for (ours, theirs), number in sorted(pairs.items()):
        lines.append(f"{number:>6}  {ours}" + (f", BMv2: {theirs}" if theirs else ""))
    return "\n".join(lines)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.packet_tests", description=__doc__.split("\n")[0])
    parser.add_argument(
        "out", type=Path, metavar="RESULTS.csv", help="the file for the results; continued if it exists"
    )
    parser.add_argument(
        "programs", type=Path, nargs="+", metavar="PROGRAM", help="a .p4, a compiled .json, or a folder of .p4 files"
    )
    parser.add_argument(
        "--generate",
        type=_positive,
        nargs="?",
        const=_MOST_TESTS,
        metavar="N",
        help=f"let P4Testgen make at most N tests per program (default: {_MOST_TESTS})",
    )
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="programs at the same time (default: 1)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
