# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finding what a run left: by its state folder, and processes by its id, user and start time, never by a name."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from command.app import main
from testbed.errors import UsageError
from testbed.system import run_ids
from testbed.system.cleanup import end_processes
from testbed.system.run_ids import RUN_VARIABLE, is_alive, known_runs, new_run_id, processes_of

SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]


def _sleeper(run_id: str | None) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **({RUN_VARIABLE: run_id} if run_id else {})}
    child = subprocess.Popen(SLEEPER, env=environment, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


@pytest.fixture(autouse=True)
def state_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A state root of the test's own."""
    root = tmp_path / "state"
    monkeypatch.setattr(run_ids, "STATE_ROOT", root)
    return root


def test_processes_are_found_by_run_id_alone() -> None:
    """The run's process is found and ended, one of another run and one of none are left alone."""
    mine, other = _claimed(), _claimed()
    children = [_sleeper(mine), _sleeper(other), _sleeper(None)]
    try:
        found = processes_of(mine)
        assert [process.pid for process in found] == [children[0].pid]
        assert known_runs() == sorted((mine, other))
        end_processes(found)
        assert children[0].wait(10) != 0
        assert [child.poll() for child in children[1:]] == [None, None]
    finally:
        for child in children:
            _end(child)


def test_a_process_older_than_the_run_is_none_of_its(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its environment says."""
    run_id = new_run_id()
    child = _sleeper(run_id)
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    try:
        monkeypatch.setattr(run_ids, "_started_ticks", lambda process: ticks + (process.pid == os.getpid()))
        run_ids.claim_state_directory(run_id)
        assert processes_of(run_id) == []
    finally:
        _end(child)


def _claimed() -> str:
    run_id = new_run_id()
    run_ids.claim_state_directory(run_id)
    return run_id


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    assert child.stdout is not None
    child.stdout.close()


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../..",
        "/etc",
        "68a1b2c3-0123456",
        "68a1b2c3-01234567\n",
        "68A1B2C3-01234567",
        "٦٨a1b2c3-01234567",
    ],
)
def test_a_run_id_has_one_form(name: str, state_root: Path) -> None:
    """Nothing that leads elsewhere, is empty, or only looks like one."""
    assert run_ids.is_run_id(new_run_id())
    assert not run_ids.is_run_id(name)
    with pytest.raises(ValueError, match="no run id"):
        run_ids.claim_state_directory(name)
    run_ids.remove_state_directory(name)
    assert not state_root.exists()


def test_state_is_private_whatever_the_umask(state_root: Path) -> None:
    """Root, run's folder and what names its owner; a root that was made wider becomes private again."""
    state_root.mkdir(mode=0o777)
    state_root.chmod(0o777)
    before = os.umask(0)
    try:
        folder = run_ids.claim_state_directory(new_run_id())
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in (state_root, folder, folder / "owner")]
    assert modes == [0o700, 0o700, 0o600]


def test_a_folder_that_was_never_finished_is_removed(
    state_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its runner was killed between making and naming it; what only has such a name stays."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", killed)
        run_id = new_run_id()
        with pytest.raises(KeyboardInterrupt):
            run_ids.claim_state_directory(run_id)
    victim = tmp_path / "victim"
    (victim / "kept").mkdir(parents=True)
    others = ["x.new", "..new", f"{run_id}.new.new", "00000000-00000000.new", "00000000-00000001.new"]
    for name in others[:3]:
        (state_root / name).mkdir()
    (state_root / others[3]).symlink_to(victim)
    (state_root / others[4]).mkdir()
    (state_root / others[4]).chmod(0o777)
    living = _claimed()
    assert main(["clean"]) == 0
    said = capsys.readouterr().out
    assert f"{run_id}.new: removed; its runner was killed before the run began\n" in said
    assert said.count("removed") == 1 and said.count("left alone") == 6
    assert sorted(path.name for path in state_root.iterdir()) == sorted([*others, living])
    assert (victim / "kept").exists()


def test_one_that_is_being_made_is_no_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    """`clean` passes it by, also where it becomes a run's while being looked at."""
    removed: list[str] = []
    rename, flock = os.rename, fcntl.flock

    def rename_late(old: str, new: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        removed.extend(run_ids.remove_unfinished())
        rename(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "rename", rename_late)
    run_id = _claimed()
    assert known_runs() == [run_id] and removed == []

    def lock_late(folder: int, operation: int) -> None:
        """The name is another's by the time that the lock is there."""
        rename(run_ids.STATE_ROOT / unfinished, run_ids.STATE_ROOT / late)
        flock(folder, operation)

    late = new_run_id()
    unfinished = f"{late}.new"
    (run_ids.STATE_ROOT / unfinished).mkdir(mode=0o700)
    (run_ids.STATE_ROOT / unfinished / "owner").touch()
    monkeypatch.setattr(fcntl, "flock", lock_late)
    assert run_ids.remove_unfinished() == []
    assert (run_ids.STATE_ROOT / late / "owner").exists()


def test_one_that_clean_took_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the making of the folder and its lock."""
    open_folder = os.open
    taken: list[str] = []

    def open_late(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if str(path).endswith(".new") and not taken:
            taken.append(path)
            os.rmdir(path, dir_fd=dir_fd)
        return open_folder(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", open_late)
    run_id = _claimed()
    assert taken and known_runs() == [run_id]


def test_removal_follows_no_link(state_root: Path, tmp_path: Path) -> None:
    """Neither in place of the run's folder nor within it; links themselves go with the folder."""
    victim = tmp_path / "victim"
    (victim / "kept").mkdir(parents=True)
    folder = run_ids.claim_state_directory(new_run_id())
    (folder / "deeper").mkdir()
    for place in (folder, folder / "deeper"):
        (place / "link").symlink_to(victim)
    link = state_root / new_run_id()
    link.symlink_to(victim)
    for name in (folder.name, link.name):
        run_ids.remove_state_directory(name)
    assert (victim / "kept").exists()
    assert [path.name for path in state_root.iterdir()] == [link.name]


def test_only_ones_own_state_root_is_trusted(state_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a link nor another user's folder is used."""
    state_root.symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        run_ids.claim_state_directory(new_run_id())
    state_root.unlink()
    state_root.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    with pytest.raises(UsageError, match="another user's"):
        run_ids.claim_state_directory(new_run_id())


def test_an_owner_is_read_from_the_runs_own_file(tmp_path: Path) -> None:
    """Not through a link, and not from other words than claiming writes."""
    run_id = _claimed()
    owner = run_ids.STATE_ROOT / run_id / "owner"
    words = owner.read_text()
    elsewhere = tmp_path / "owner"
    elsewhere.write_text(words)
    assert run_ids.owner_of(run_id) is not None
    for wrong in (words * 2, words.strip(), "", f"-{words}", f"{2**40} 1\n"):
        owner.write_text(wrong)
        assert run_ids.owner_of(run_id) is None
    owner.unlink()
    owner.symlink_to(elsewhere)
    assert run_ids.owner_of(run_id) is None
    owner.unlink()
    os.mkfifo(owner)
    assert run_ids.owner_of(run_id) is None


def test_a_zombie_is_gone() -> None:
    """Nobody may ever reap it: ending it does not wait for that."""
    child = subprocess.Popen(["true"])
    zombie = psutil.Process(child.pid)
    while zombie.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert not is_alive(zombie)
    end_processes([zombie])
    assert child.wait() == 0


def test_a_run_is_its_owners_until_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pid and start time together name the owner; setting the machine's clock meanwhile changes neither."""
    run_id = new_run_id()
    folder = run_ids.claim_state_directory(run_id)
    owner = run_ids.owner_of(run_id)
    assert owner is not None and owner.pid == os.getpid()
    boot_s = psutil.boot_time()
    for module in (psutil, psutil._pslinux):
        monkeypatch.setattr(module, "boot_time", lambda: boot_s + 3_600)
    assert run_ids.owner_of(run_id) == owner
    pid, ticks = (folder / "owner").read_text().split()
    assert int(ticks) == int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    (folder / "owner").write_text(f"{pid} {int(ticks) + 1}\n")
    assert run_ids.owner_of(run_id) is None
    assert run_ids.owner_of(new_run_id()) is None
