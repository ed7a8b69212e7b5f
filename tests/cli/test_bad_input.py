# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for bad arguments and bad input files: status 2, one line that names the error, and nothing is created."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.cli.app import main
from sfc_testbed.testbed.sweep.sweep import jobs_of, read_sweep
from tests.conftest import Refused
from tests.testbed.running import outcome_of
from tests.tree import ROOT

PLAIN = ("run", "incast", "--clock", "virtual")
RUN = (*PLAIN, "--set", "degree=2", "--set", "message_bytes=2000")
SWEEP = "name: small\nscenario: incast\nschemes: [irn]\nsettings: {message_bytes: 2000}\n"
HEADER = "src,dst,size_bytes,start_ns,tag\n"
WAITS = "src,dst,size_bytes,start_ns,tag,after\n"


def _bomb() -> str:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 7)]
    return "\n".join(rows) + "\n"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("degree=" + "9" * 5000, "degree"),
        ("degree=" + "[" * 100_000, "degree"),
        ("degree=1e999", "degree"),
        ("degree=true", "degree: must be a whole number, not True"),
        ("degree=2.5", "degree: must be a whole number, not 2.5"),
        ('degree="2"', "degree: must be a whole number"),
        ("message_bytes=0", "message_bytes: must be at least 1 B, not 0"),
        ("window_us=1e9", "window_us: must be at most 1000000 us, not 1000000000"),
        ("window_us=true", "window_us: must be a number, not True"),
        ("receiver=7", "receiver: must be text, not 7"),
        ("topology.host_delay_ns=-1", "host_delay_ns: must be at least 0 ns, not -1"),
        ("topology.host_rates_bps=[true]", "host_rates_bps.0: must be a whole number"),
        ("switch.pfc=1", "pfc: must be true or false, not 1"),
        ("switch.q_th_bdp=1e300", "q_th_bdp"),
        ("switch.bfc_queues=0", "bfc_queues: must be at least 1, not 0"),
        ("switch.bfc_queues=129", "bfc_queues: must be at most 128, not 129"),
        ("switch.bfc_queues=8", "bfc_queues: must be null with flow_control sfc, whose hosts ignore the pauses, not 8"),
        ("transport.flow_control=bfc", "flow_control: bfc needs switches with bfc_queues"),
        ("switch.bfc_queues=many", "bfc_queues: must be a whole number, not 'many'"),
        ("transport.line_rate_bps=Infinity", "line_rate_bps"),
        ("transport.line_rate_bps=1" + "0" * 30, "line_rate_bps: must be at most 25600000000000 bit/s"),
        ("transport.bdp_bytes=0", "bdp_bytes: must be at least 1 B, not 0"),
        ('transport.verify="no"', "verify: must be true or false, not 'no'"),
        ("transport.ack_every=2.5", "ack_every: must be a whole number, not 2.5"),
        ("transport.program_dscp=9999", "program_dscp: must be at most 63, not 9999"),
        ("transport.rto_ns=-5", "rto_ns: must be at least 1 ns, not -5"),
        ("transport.payload_bytes=100000", "payload_bytes: must be at most"),
        ("transport.congestion=5", "congestion: must be text, not 5"),
        ("transport.congestion_parameters=5", "congestion_parameters: must be a mapping, not 5"),
        ('transport.congestion_parameters={"window_bytes": true}', "window_bytes: must be a whole number, not True"),
        ('transport.congestion_parameters={"window_ns": -1}', "window_ns: must be at least 0 ns, not -1"),
        ('transport.loss_recovery_parameters={"held_packets": 0}', "held_packets: must be at least 1, not 0"),
    ],
    ids=lambda value: value[:60],
)
def test_a_wrong_setting_is_refused(setting: str, expected: str, refused: Refused) -> None:
    refused([*PLAIN, "--set", setting], expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--scheme", "sfc+"], "unknown congestion control ''"),
        (["--scheme", "sfc++none"], "unknown congestion control '+none'"),
        (["--pcap", "h1,,h2"], "--pcap"),
        (["--pcap", "flow:9"], "--pcap: no flow '9' in this run, which has flows 1 to 2"),
        (["--dilation", "\u0664\u0662"], "--dilation"),
        (["--dilation", "9" * 5000], "--dilation"),
        (["--dilation", "10000001"], "--dilation"),
        (["--seed", "9" * 5000], "--seed"),
        (["--duration", "inf"], "--duration"),
        (["--set", "a\x1b[31m=1"], "a\\x1b[31m"),
        (["--set", "degree=1\udcff"], "UTF-8"),
        (["--topology", "a\udcffb"], "UTF-8"),
        (
            ["--hosts", "docker:debian"],
            "--hosts needs --clock real: applications in containers cannot run in virtual time",
        ),
        (["--hosts", "podman:debian"], "--hosts is docker:IMAGE, such as docker:debian:12, not 'podman:debian'"),
        (["--hosts", "docker:"], "--hosts is docker:IMAGE, such as docker:debian:12, not 'docker:'"),
        (["--hosts", ""], "--hosts is docker:IMAGE"),
        (["--hosts", "docker:-v /:/host"], "--hosts is docker:IMAGE"),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "backslashreplace").decode(),
)
def test_a_wrong_option_is_refused(words: list[str], expected: str, refused: Refused) -> None:
    refused([*RUN, *words], expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["fly"], "fly"),
        (["run"], "no scenario: give one that `list` shows, or a flow list with --flows FILE"),
        (["compare"], "no scenario: give one that `list` shows, or a flow list with --flows FILE"),
        (["run", "incast", "--bogus"], "--bogus"),
        (["run", "incast", "--clock", "wall"], "unknown clock 'wall'"),
        (["run", "incast", "--dilation", "0"], "--dilation"),
        (["run", "incast", "--seed", "pi"], "--seed"),
        (["run", "incast", "--clock", "virtual", "--retry"], "--retry: the virtual clock is never late"),
        (
            ["run", "incast", "--clock", "virtual", "--exchange", "udp"],
            "unknown exchange 'udp'; choose from memory, mpi",
        ),
        (["run", "incast", "--clock", "virtual", "--exchange", "mpi", "--workers", "2"], "mpirun -n sets the number"),
        (["run", "--clock", "virtual", "--flows", "no\nsuch\x1b[31mfile"], "no\\nsuch\\x1b[31mfile"),
        (["compare", "incast", "--clock", "virtual", "--retry"], "--retry: the virtual clock is never late"),
        (["compare", "incast", "--clock", "virtual", "--strict"], "--strict needs claims: add --claims"),
        (["compare", "incast", "--schemes", "sfc,,irn"], "unknown scheme ''"),
        (["report", "no-such-folder"], "no-such-folder"),
        (["export", ".", "--format", "chrome"], "--format: no format 'chrome'; choose from hpcc, networkx, perfetto"),
        (["trace", "1"], "no runs in runs; use --run FOLDER"),
        (["doctor", "--force"], "--force needs --calibrate"),
        (["cli", "--topology", "torus"], "unknown topology 'torus'"),
        (["cli", "--dilation", "1" + "0" * 30], "--dilation"),
        (["validate", "incast", "--flows", "mine.csv"], "No such option: --flows"),
        (["validate", "incast", "--schemes", "sfc, sfc"], "--schemes: 'sfc' is given twice"),
        (["compare", "incast", "--schemes", "irn,sfc,irn"], "--schemes: 'irn' is given twice"),
        (["validate", "incast", "--out", ""], "--out: a folder name is required"),
        (["validate", "testbed-hol", "--switch", "bmv2"], "testbed-hol pfc+dcqcn: --switch bmv2 cannot do pfc"),
        (["validate", "incast", "sfc"], "unexpected extra argument"),
        (["reproduce", "nothing"], "unknown experiment 'nothing'; choose from all, signaling"),
        (["reproduce", "theory", "--scale", "huge"], "has no scale 'huge'"),
        (["reproduce", "theory", "--set", "arrivals_us=1000"], "arrivals_us: there is no such setting"),
        (["reproduce", "all", "--set", "arrival_us=1"], "no experiment has such a setting; nearest: arrivals_us"),
        (["reproduce", "all", "--set", "arrivals_us"], "--set 'arrivals_us' is not of the form key=value"),
        (["reproduce", "all", "--set", "colour.red=1"], "a key is NAME or one of"),
        (["reproduce", "all", "--set", "switch.colour=1"], "switch: colour: there is no such setting"),
        (["reproduce", "nothing", "--show"], "unknown experiment 'nothing'; choose from all, signaling"),
        (
            ["reproduce", "theory", "--show", "--scale", "huge"],
            "--scale: unknown 'huge'; choose from ci, laptop, paper",
        ),
        (
            ["reproduce", "theory", "--show", "--preset", "mix"],
            "--preset: unknown 'mix'; choose from run.py, mix/config",
        ),
        (["reproduce", "theory", "--show", "--arrivals", "1ms"], "no results are stored for theory, arrivals of 1 ms"),
        (["reproduce", "theory", "--show", "--seeds", "99"], "theory, scale paper, has no seed 99; stored: 1, 2, 3"),
        (["reproduce", "theory", "--show", "--set", "joiners=2", "--strict"], "--set, --strict: --show starts no run"),
        (["reproduce", "all", "--show", "--full"], "--full: name an experiment"),
        (["reproduce", "theory", "--preset", "run.py"], "--preset: only with --show"),
    ],
    ids=lambda value: " ".join(value).encode("ascii", "backslashreplace").decode() if isinstance(value, list) else "",
)
def test_wrong_arguments_of_a_verb_are_refused(words: list[str], expected: str, refused: Refused) -> None:
    refused(words, expected)


def test_without_mpi4py_one_line_names_the_package_extra(
    refused: Refused, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line is printed by the first of the processes on a machine."""
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    refused([*RUN, "--exchange", "mpi"], ".venv/bin/pip install '.[mpi]'")
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1")
    assert main([*RUN, "--exchange", "mpi"]) == 0
    assert capsys.readouterr() == ("", "")
    assert not list(Path.cwd().iterdir())


@pytest.mark.parametrize("factor", ["1", "10000000"])
def test_the_smallest_and_the_largest_dilation_work(factor: str, tmp_path: Path) -> None:
    """The scheme has no mechanism that counts in wall time."""
    assert main([*RUN, "--scheme", "irn", "--dilation", factor]) == 0
    [run] = (tmp_path / "runs").iterdir()
    result = read_result(run)
    assert (result.verdict, result.flows.completed, result.unexplained_loss) == ("faithful", 2, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SWEEP + "axes: {degree: []}\n", "axes.degree"),
        (SWEEP + "dilation: -5\n", "dilation: must be at least 1, not -5"),
        (SWEEP + "dilation: 1000000000000\n", "dilation: must be at most 10000000, not"),
        (SWEEP + "seeds: [true]\n", "seeds.0: must be a whole number, not True"),
        (SWEEP + "duration_ms: .nan\n", "duration_ms"),
        (SWEEP + "7: [1]\n", "7"),
        (SWEEP + "axes: {7: [1]}\n", "axes"),
        (SWEEP + "? [a]\n: b\n", "YAML"),
        (SWEEP + "axes: {degree: " + "[" * 5000 + "]" * 5000 + "}\n", "nested"),
        (SWEEP + "axes: " + "{a: " * 5000 + "}" * 5000 + "\n", "nested"),
        (SWEEP + _bomb() + "axes: {degree: *a6}\n", "alias"),
        (SWEEP + "axes: &a {degree: *a}\n", "alias"),
        (SWEEP + "axes: {degree: [2, 3]}\naxes: {degree: [4]}\n", "axes is defined twice"),
        (SWEEP + "axes: {degree: [2020-01-01]}\n", "axes.degree"),
        (SWEEP + "axes: {degree: [.inf]}\n", "degree"),
        (SWEEP + "axes: {degree: [" + "9" * 5000 + "]}\n", "YAML"),
        (SWEEP + "axes: {degree: !!set {a, b}}\n", "axes.degree"),
        (SWEEP + "axes: {a: &b " + str(list(range(1000))) + ", c: *b, d: *b}\n", "jobs"),
        (SWEEP + "axes: {degree: [[" + "x" * 200_000 + "]]}\n", "degree"),
        (SWEEP + "axes: {degree: [2]}\n\x00", "YAML"),
    ],
    ids=lambda value: value.removeprefix(SWEEP)[:40].encode("ascii", "backslashreplace").decode(),
)
def test_a_bad_sweep_file_is_refused(text: str, expected: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "sweep.yaml").write_text(text)
    refused(["sweep", "sweep.yaml"], expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEADER, "no flows"),
        ("0\n", "no flows"),
        (HEADER + "h1,h2,1000,0," + "x" * 200_000 + "\n", "line 2 has more than"),
        (HEADER + "h1,h2,1000,0,a\x1bb\n", "tag"),
        (HEADER + "h1,h2,1000,inf,a\n", "start_ns: must be a whole number, not 'inf'"),
        (HEADER + "h1,h2,1000,1" + "0" * 26 + ",a\n", "start_ns: must be at most 3600000000000 ns"),
        (HEADER + "h1,h2,1_000,0,a\n", "size_bytes: must be a whole number, not '1_000'"),
        (HEADER + "h1,h2,\u0661,0,a\n", "size_bytes: must be a whole number"),
        (HEADER + "h1,h2," * 50_000 + "\n", "line 2 has more than"),
        ("# measured_window_us=nan,inf\n" + HEADER + "h1,h2,1000,0,a\n", "measured_window_us"),
        ("# measured_window_us=0,inf\n" + HEADER + "h1,h2,1000,0,a\n", "measured_window_us"),
        ("# measured_window_us=-1,5\n" + HEADER + "h1,h2,1000,0,a\n", "measured_window_us"),
        ("# measured_window_us=9,1\n" + HEADER + "h1,h2,1000,0,a\n", "measured_window_us"),
        ("# measured_window_us=1\n" + HEADER + "h1,h2,1000,0,a\n", "measured_window_us"),
        (WAITS + "h1,h2,1000,0,a,2\nh2,h1,1000,0,a,1\n", "circle: flow 1 waits for flow 2 waits for flow 1"),
        (WAITS + "h1,h2,1000,0,a,9\n", "flow 1 waits for flow 9, which does not exist"),
        (WAITS + "h1,h2,1000,0,a,one\n", "after: must be a whole number, not 'one'"),
        ("1\n0 1 3 100 1000 inf\n", "line 2"),
        ("1\n0 1 3 100 1000 1e26\n", "must be at most"),
        ("1\n" + "9" * 5000 + " 1 3 100 1000 2\n", "line 2"),
        ("9" * 5000 + "\n0 1 3 100 1000 2\n", "line 1"),
        ("\u0661\n0 1 3 100 1000 2\n", "first row"),
    ],
    ids=lambda value: value[:70].encode("ascii", "backslashreplace").decode(),
)
def test_a_bad_flow_list_is_refused(text: str, expected: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "flows").write_text(text)
    refused(["run", "--flows", "flows", "--clock", "virtual"], expected)


SIZES = b"size_bytes,cumulative_percent,steps\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "at least one row"),
        (SIZES + b"0,0,1\n1\x000,100,1\n", "not a row of three numbers"),
        (SIZES + b'0,0,1\n"' + b"x" * 200_000 + b'",100,1\n', "not a row of three numbers"),
        (SIZES + b"0,0,1\n" + b"9" * 15 + b",100,1\n", "largest size must be 1 B to 10000000000 B"),
        (SIZES + b"0,0,1\n5,nan,1\n10,100,1\n", "5,nan,1"),
        (SIZES + b"-5,0,1\n10,100,1\n", "-5,0,1"),
        (SIZES + b"1,0,1000000000\n5,100,1\n", "at most 100000 points"),
        (b"0 0\ninf 100\n", "inf 100"),
        (b"0 0\n5 nan\n10 100\n", "5 nan"),
        (b"0 0\n1e308 100\n", "1e308"),
        (b"0 0\n0 100\n", "largest size"),
        (b"0 0\n1_0 100\n", "1_0 100"),
        ("0 0\n\u0661 100\n".encode(), "not `size share`"),
        (b"0 0\n\x1b[31mx 100\n", "not `size share`"),
        (b"\xff\xfe0 0\n1 100\n", "not UTF-8"),
        (b"0 0\n" + b"1 1\n" * 3_000_000, "more than 10000000 B"),
    ],
    ids=lambda value: str(value[:50]),
)
def test_a_bad_size_file_is_refused(content: bytes, expected: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "sizes").write_bytes(content)
    refused(["run", "datacentre", "--clock", "virtual", "--set", "sizes=sizes"], expected)


DATACENTRE = ("run", "datacentre", "--clock", "virtual")


@pytest.mark.parametrize(
    "words",
    [
        (*DATACENTRE, "--set", "sizes={}"),
        (*DATACENTRE, "--flows", "{}"),
        (*DATACENTRE, "--topology", "./{}"),
        ("run", "trace", "--clock", "virtual", "--set", "file={}"),
        ("sweep", "{}"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("folder", "not a regular file"),
        ("pipe", "not a regular file"),
        ("endless", "not a regular file"),
        ("loop", "cannot be read"),
        ("x" * 300, "cannot be read"),
    ],
)
def test_an_input_that_is_not_a_regular_file_is_refused(
    name: str, expected: str, words: tuple[str, ...], refused: Refused
) -> None:
    """The command neither waits for a pipe nor reads an endless file."""
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("endless").symlink_to("/dev/zero")
    Path("loop").symlink_to("loop")
    refused([word.format(name) for word in words], expected)


@pytest.mark.root
@pytest.mark.parametrize("options", ["size=32k", "size=16m"])
def test_a_full_file_system_for_output_is_refused(options: str, tmp_path: Path) -> None:
    place = tmp_path / "full"
    place.mkdir()
    script = f'mount -t tmpfs -o {options} none "{place}" && "$@"; status=$?; ls -A "{place}"; exit $status'
    command = ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, str(ROOT / "runner.py"), *RUN]
    done = outcome_of([*command, "--out", str(place)], cwd=tmp_path)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no file system of its own: {done.stderr.strip()}")
    assert done.returncode == 2, done.stderr
    assert "--out" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["[red]x[/blue]", "a b'\"$(id);c", "[/]"])
def test_a_name_with_brackets_blanks_or_quotes_is_a_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*RUN, "--out", name]) == 0
    assert f"{name}/incast-sfc-" in capsys.readouterr().out
    [run] = list((tmp_path / name).iterdir())
    assert main(["export", str(run)]) == 0
    assert f"{name}/" in capsys.readouterr().out
    assert main(["report", str(run)]) == 0
    assert main(["report", str(run), str(run), "--out", f"{name}/both"]) == 0
    assert f"{name}/both" in capsys.readouterr().out
    assert main(["compare", *RUN[1:], "--schemes", "irn,sfc", "--out", name]) == 0
    assert f"report: {name}/incast-compare-" in capsys.readouterr().out


PLACES = ("", "loop", "dangling", "x" * 300, "a/" * 2040, "/proc/runs", "file", "file/x", "\udcff")


@pytest.mark.parametrize("verb", ["run", "compare", "report", "export"])
@pytest.mark.parametrize("place", PLACES)
def test_an_unusable_folder_for_output_is_refused(place: str, verb: str, folder: Path, refused: Refused) -> None:
    Path("loop").symlink_to("loop")
    Path("dangling").symlink_to("nowhere")
    Path("file").touch()
    inputs = {"report": [folder, folder], "export": [folder]}.get(verb, RUN[1:])
    refused([verb, *inputs, "--out", place], "UTF-8" if place == "\udcff" else "--out")


def test_a_folder_with_the_name_of_the_page_is_refused(folder: Path, tmp_path: Path, refused: Refused) -> None:
    for name in (folder, "both"):
        page = tmp_path / name / "report.html"
        page.unlink(missing_ok=True)
        page.mkdir(parents=True)
    refused(["report", folder], "report.html")
    refused(["report", folder, folder, "--out", "both"], "report.html")


@pytest.mark.parametrize(
    ("verb", "name"), [("report", "reproduction.json"), ("report", "config.json"), ("export", "config.json")]
)
def test_a_deeply_nested_stored_file_is_refused(name: str, verb: str, folder: Path, refused: Refused) -> None:
    """The nesting is deeper than Python's stack."""
    (folder / name).write_text("[" * 100_000 + "]" * 100_000)
    refused([verb, folder], "nested")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a": ' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ('{"seed": ' + "9" * 5000 + "}", "not readable as JSON"),
        (" " * 64_000_001, "more than 64000000 B"),
        (None, "not a regular file"),
    ],
    ids=["lists", "mappings", "digits", "long", "pipe"],
)
def test_a_malformed_result_is_refused_by_every_verb(
    content: str | None, expected: str, folder: Path, tmp_path: Path, refused: Refused
) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP + "axes: {degree: [2]}\n")
    [job] = jobs_of(read_sweep(tmp_path / "sweep.yaml"))
    job_result = tmp_path / "runs" / "small" / "jobs" / job.name / "result.json"
    job_result.parent.mkdir(parents=True)
    job_result.touch()
    for path in (folder / "result.json", job_result):
        path.unlink()
        if content is None:
            os.mkfifo(path)
        else:
            path.write_text(content)
    for words in (["report", folder], ["report", folder, folder], ["export", folder], ["sweep", "sweep.yaml"]):
        refused(words, expected)
    refused(["sweep", "sweep.yaml"], "remove that job's folder to run it again")


def test_an_unexpected_error_prints_one_line_and_saves_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("one\ntwo\x1b[31m")

    monkeypatch.setattr("sfc_testbed.testbed.plan.plan.scheme_with", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main([*RUN]) == 1
    output = capsys.readouterr()
    [saved] = tmp_path.iterdir()
    assert output.out == ""
    [line] = output.err.splitlines()
    assert line.isprintable()
    for part in ("KeyError", str(saved), "report"):
        assert part in line
    assert saved.stat().st_mode & 0o777 == 0o600
    assert "Traceback" in saved.read_text()
    assert saved.read_text().startswith("runner.py run incast ")


def test_an_unexpected_error_is_one_line_if_no_file_can_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here the error itself also fails to give its text."""

    class NamelessError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def fail(*_: object) -> None:
        raise NamelessError

    monkeypatch.setattr("sfc_testbed.testbed.plan.plan.scheme_with", fail)
    monkeypatch.setattr("tempfile.tempdir", "/proc")
    assert main([*RUN]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "NamelessError" in line
    assert "could not be saved" in line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--set", "degree=3"), "--set degree: given twice"),
        (("--clock", "virtual"), "--clock: given 2 times"),
        (("--seed", "1", "--seed", "2", "--seed", "3"), "--seed: given 3 times"),
        (("--pcap", "h1", "--pcap", "h2"), "--pcap: given 2 times; separate its values by commas"),
        (("--duration", "4m"), "must be a time such as 20us or 1.5ms, not '4m'"),
        (("--set", "window_us=2KB"), "--set window_us: must be a time such as 20us or 1.5ms, not '2KB'"),
        (("--set", 'transport.congestion_parameters={"a": 1, "a": 2}'), "a is given twice"),
    ],
)
def test_a_value_that_another_would_replace_silently_is_refused(
    words: Sequence[str], expected: str, refused: Refused
) -> None:
    refused([*RUN, *words], expected)


def test_quantities_have_units(tmp_path: Path) -> None:
    sized = ("--set", "message_bytes=2KB", "--set", "topology.host_rate_bps=400G", "--duration", "500us")
    assert main([*PLAIN, *sized, "--set", "topology.host_rates_bps=[]"]) == 0
    config = json.loads(next(tmp_path.glob("runs/*/config.json")).read_text())
    assert config["workload"]["message_bytes"] == 2_000
    assert config["topology_parameters"]["host_rate_bps"] == 400_000_000_000
    assert config["duration_ms"] == 0.5


@pytest.mark.parametrize("text", ["2e0", "2", "20e-1"])
def test_a_whole_number_may_have_an_exponent(text: str, tmp_path: Path) -> None:
    assert main([*PLAIN, "--set", "message_bytes=2000", "--set", f"degree={text}"]) == 0
    assert '"degree": 2,' in next(tmp_path.glob("runs/*/config.json")).read_text()
