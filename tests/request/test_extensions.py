# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of extensions: files of users that add rows to the tables of names."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from sfc_testbed import extend
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.extension import Extension, read_extension
from sfc_testbed.request.extensions import load, load_installed, loaded, use
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.topologies.shapes import SHAPES
from tests.extended import write_extension

pytestmark = pytest.mark.usefixtures("no_extensions")

HEAD = "import sfc_testbed as sfc\n"
CONTROL = HEAD + "@sfc.congestion_control({name!r})\nclass A(sfc.CongestionControl):\n    'A.'\n"


def test_a_file_adds_rows_of_every_kind_and_requests_name_it(tmp_path: Path) -> None:
    before = RunSpec("incast")
    [extension] = use(write_extension(tmp_path))
    assert "half-bdp" in CONGESTION_CONTROLS and "half-bdp" in RATE_CONTROLS
    assert {"deaf", "cached"} <= set(SCHEMES)
    assert "rounds" in SCENARIOS and "line" in SHAPES
    assert RATE_CONTROLS["half-bdp"].summary == "A window of half a BDP"
    assert set(extension.files) == {"mine.py", "helper.py"}
    assert (before.uses, RunSpec("incast").uses) == ((), (extension,))


def test_another_process_executes_the_text_that_was_read(tmp_path: Path) -> None:
    """The files may have changed, or may not exist there."""
    [extension] = use(write_extension(tmp_path))
    text = TypeAdapter(Extension).dump_json(extension).decode()
    for path in tmp_path.iterdir():
        path.unlink()
    script = (
        "import sys; from pydantic import TypeAdapter\n"
        "from sfc_testbed.request.extensions import Extension, load\n"
        "load([TypeAdapter(Extension).validate_json(sys.stdin.read())])\n"
        "from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS as table\n"
        "print(table['half-bdp'].__doc__)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], input=text, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("A window of half a BDP.\n", "")


def test_a_changed_file_replaces_its_rows(tmp_path: Path) -> None:
    path = write_extension(tmp_path, CONTROL.format(name="one"))
    [first] = use(path)
    assert use(path) == (first,)
    path.write_text(CONTROL.format(name="two"))
    [second] = use(path)
    assert (first.sha256 == second.sha256, "one" in RATE_CONTROLS, "two" in RATE_CONTROLS) == (False, False, True)
    assert loaded() == (second,)


def test_a_changed_module_beside_the_file_changes_the_digest(tmp_path: Path) -> None:
    path = write_extension(tmp_path)
    before = read_extension(str(path)).sha256
    (tmp_path / "helper.py").write_text("FACTOR = 0.25\n")
    assert read_extension(str(path)).sha256 != before


def test_files_of_the_same_name_in_two_folders_do_not_mix(tmp_path: Path) -> None:
    for name, factor in (("one", 1.0), ("two", 2.0)):
        (tmp_path / name).mkdir()
        text = CONTROL.format(name=name) + "    from .helper import FACTOR\n"
        write_extension(tmp_path / name, text)
        (tmp_path / name / "helper.py").write_text(f"FACTOR = {factor}\n")
    use(tmp_path / "one" / "mine.py", tmp_path / "two" / "mine.py")
    assert [vars(CONGESTION_CONTROLS[name])["FACTOR"] for name in ("one", "two")] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def x(:\n", "SyntaxError: invalid syntax (mine.py, line 1)"),
        (HEAD + "1 / 0\n", "line 2: ZeroDivisionError: division by zero"),
        (HEAD + "raise SystemExit(3)\n", "line 2: SystemExit: 3"),
        ("import helper\n", "line 1: ModuleNotFoundError: No module named 'helper'; it is beside the file"),
        ("x = 1\n", "the file adds nothing to the testbed"),
        (CONTROL.format(name="hpcc"), "line 2: congestion control 'hpcc': the testbed has one with this name"),
        (CONTROL.format(name="A+b"), "line 2: congestion control 'A+b': a name has lowercase letters"),
        (HEAD + "@sfc.topology('t')\nclass A:\n    pass\n", "line 2: topology 't': 'A' is not a subclass of Shape"),
        (
            HEAD + "@sfc.topology('t')\nclass A(sfc.Shape):\n    pass\n",
            "line 2: topology 't': class A lacks the method build",
        ),
        (
            HEAD + "@sfc.scenario('t')\nclass A(sfc.Workload):\n    pass\n",
            "line 2: scenario 't': class A lacks the method flows",
        ),
        (
            HEAD + "@sfc.topology\nclass A(sfc.Shape):\n    pass\n",
            'line 2: @sfc.topology needs a name: write @sfc.topology("my-name")',
        ),
        (
            HEAD + "@sfc.collective_algorithm('all-reduce', 'ring')\nclass A(sfc.CollectiveAlgorithm):\n"
            "    def add_messages(self, schedule, call):\n        pass\n",
            "line 2: algorithm of all-reduce 'ring': the testbed has one with this name",
        ),
        (
            HEAD + "@sfc.collective_algorithm('all-reduc', 'a')\nclass A(sfc.CollectiveAlgorithm):\n    pass\n",
            "line 2: unknown collective 'all-reduc'; choose from all-reduce",
        ),
        (HEAD + "from .gone import x\n", "line 2: ModuleNotFoundError: there is no gone.py beside mine.py"),
        (
            CONTROL.format(name="a") + "    on_akc = None\n",
            "line 2: congestion control a: nothing calls A.on_akc; nearest: on_ack",
        ),
        (
            CONTROL.format(name="a") + "    Parameters = dict\n",
            "line 2: congestion control a: Parameters is not",
        ),
        (
            CONTROL.format(name="a") + "    def __init__(self, *arguments):\n        pass\n",
            "line 2: congestion control a: AttributeError: ",
        ),
        (HEAD + "from .helper import broken\n", "line 2: ImportError: cannot import name 'broken'"),
    ],
)
def test_an_error_is_one_line_with_its_place_and_leaves_nothing(tmp_path: Path, text: str, message: str) -> None:
    path = write_extension(tmp_path, text)
    with pytest.raises(UsageError) as error:
        use(path)
    assert str(error.value).startswith(f"--use {path}: {message}")
    assert "\n" not in str(error.value)
    assert loaded() == ()


def test_a_file_that_fails_late_leaves_no_rows(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="line 5: ZeroDivisionError"):
        use(write_extension(tmp_path, CONTROL.format(name="late") + "1 / 0\n"))
    assert "late" not in RATE_CONTROLS
    assert "late" not in CONGESTION_CONTROLS


def test_two_files_cannot_add_the_same_name(tmp_path: Path) -> None:
    first = write_extension(tmp_path, CONTROL.format(name="same"), "first.py")
    second = write_extension(tmp_path, CONTROL.format(name="same"), "second.py")
    with pytest.raises(UsageError, match=r"congestion control 'same': .*first.py has one with this name"):
        use(first, second)


def test_names_are_added_by_loaded_files_only() -> None:
    """Otherwise agents and jobs would not know the names."""
    with pytest.raises(UsageError, match="names are added by files that --use or"):
        extend.scheme("typed-here")


@pytest.mark.parametrize("word", ["gone.py", "no_such_module_here", "numpy", "a/b"])
def test_what_is_no_extension_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match=f"^--use .?{word}"):
        use(word)


def _install(folder: Path, module: str) -> None:
    """Write the metadata of an installed package whose extension is a module."""
    info = folder / "lab-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[sfc_testbed.extensions]\nours = {module}\n")


def test_an_installed_package_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path, "lab_controls.one")
    package = tmp_path / "lab_controls"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text(CONTROL.format(name="from-lab"))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_installed() == []
    [extension] = loaded()
    assert (extension.word, extension.files, "from-lab" in RATE_CONTROLS) == ("lab_controls.one", {}, True)
    (package / "one.py").write_text(CONTROL.format(name="other"))
    stale = Extension(extension.word, extension.path + "x", extension.sha256)
    with pytest.raises(UsageError, match="its files differ from those that the request was made with"):
        load([stale])


def test_stored_files_name_an_extension_without_its_text(tmp_path: Path) -> None:
    from sfc_testbed.testbed.plan.plan import plan_run

    [extension] = use(write_extension(tmp_path))
    config = plan_run(RunSpec("rounds", "irn+half-bdp", clock="virtual")).config
    assert json.loads(config.to_json())["uses"] == [
        {"word": extension.word, "path": extension.path, "sha256": extension.sha256}
    ]
    assert config.command.endswith(f"--use {extension.word}")


def test_a_broken_package_is_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody typed its name, so the command goes on."""
    _install(tmp_path, "lab_broken")
    monkeypatch.syspath_prepend(str(tmp_path))
    [problem] = load_installed()
    assert problem.endswith("lab_broken: no file of this name, and no installed module lab_broken")
    (tmp_path / "lab_broken.py").write_text(HEAD + "1 / 0\n")
    importlib.invalidate_caches()
    [problem] = load_installed()
    assert problem.startswith("an installed package's extension is left out: lab_broken: line 2: ZeroDivisionError")


def test_what_a_file_prints_does_not_spoil_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    use(write_extension(tmp_path, CONTROL.format(name="loud") + "print('hello')\n"))
    assert tuple(capsys.readouterr()) == ("", "hello\n")


def test_a_link_to_a_file_stands_for_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.py").symlink_to(write_extension(tmp_path / "real"))
    [extension] = use(tmp_path / "link.py")
    assert extension.path == str(tmp_path / "real" / "mine.py")
