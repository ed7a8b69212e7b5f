# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for finding a run's remains by its state folder, and its processes by run ID, user and start time."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.system import run_ids
from sfc_testbed.testbed.system.cleanup import end_processes
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE, is_alive, known_runs, new_run_id, processes_of

SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]


def _sleeper(run_id: str | None) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **({RUN_VARIABLE: run_id} if run_id else {})}
    child = subprocess.Popen(SLEEPER, env=environment, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


@pytest.fixture(autouse=True)
def state_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    root = tmp_path / "state"
    monkeypatch.setattr(run_ids, "STATE_ROOT", root)
    return root


def test_processes_are_found_by_run_id_alone() -> None:
    """The run's process is found and ended. Processes of another run and of no run are left alone."""
    mine, other = _claimed(), _claimed()
    children = [_sleeper(mine), _sleeper(other), _sleeper(None)]
    try:
        processes = processes_of(mine)
        assert [process.pid for process in processes] == [children[0].pid]
        assert known_runs() == sorted((mine, other))
        end_processes(processes)
        assert children[0].wait(10) != 0
        assert [child.poll() for child in children[1:]] == [None, None]
    finally:
        for child in children:
            _end(child)


def test_a_process_older_than_the_runner_is_not_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_names_of_another_form_are_no_run_ids(name: str, state_root: Path) -> None:
    assert run_ids.is_run_id(new_run_id())
    assert not run_ids.is_run_id(name)
    with pytest.raises(ValueError, match="not a run ID"):
        run_ids.claim_state_directory(name)
    run_ids.remove_state_directory(name)
    assert not state_root.exists()


def test_state_is_private_whatever_the_umask(state_root: Path) -> None:
    """The state root, the run's folder and its owner file are private. A root with more permissions is corrected."""
    state_root.mkdir(mode=0o777)
    state_root.chmod(0o777)
    umask = os.umask(0)
    try:
        folder = run_ids.claim_state_directory(new_run_id())
    finally:
        os.umask(umask)
    modes = [path.stat().st_mode & 0o777 for path in (state_root, folder, folder / "owner")]
    assert modes == [0o700, 0o700, 0o600]


def test_a_folder_that_was_never_finished_is_removed(
    state_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The runner was killed between creating and renaming the folder. Other entries with similar names remain."""
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
    output = capsys.readouterr().out
    assert f"{run_id}.new: removed; its runner was killed before the run began\n" in output
    assert output.count("removed") == 1 and output.count("left alone") == 6
    assert sorted(path.name for path in state_root.iterdir()) == sorted([*others, living])
    assert (victim / "kept").exists()


def test_clean_leaves_a_state_folder_during_its_creation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is renamed to a run's while `clean` examines it is left alone as well."""
    removed: list[str] = []
    rename, flock = os.rename, fcntl.flock

    def rename_late(old: str, new: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        removed.extend(run_ids.remove_unfinished())
        rename(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "rename", rename_late)
    run_id = _claimed()
    assert known_runs() == [run_id] and removed == []

    def lock_late(folder: int, operation: int) -> None:
        """Rename the folder before it can be locked."""
        rename(run_ids.STATE_ROOT / unfinished, run_ids.STATE_ROOT / late)
        flock(folder, operation)

    late = new_run_id()
    unfinished = f"{late}.new"
    (run_ids.STATE_ROOT / unfinished).mkdir(mode=0o700)
    (run_ids.STATE_ROOT / unfinished / "owner").touch()
    monkeypatch.setattr(fcntl, "flock", lock_late)
    assert run_ids.remove_unfinished() == []
    assert (run_ids.STATE_ROOT / late / "owner").exists()


def test_a_state_folder_removed_before_its_lock_is_created_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """`clean` may remove the folder between its creation and its lock."""
    open_folder = os.open
    removed_folders: list[str] = []

    def open_late(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if str(path).endswith(".new") and not removed_folders:
            removed_folders.append(path)
            os.rmdir(path, dir_fd=dir_fd)
        return open_folder(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", open_late)
    run_id = _claimed()
    assert removed_folders and known_runs() == [run_id]


def test_removal_follows_no_link(state_root: Path, tmp_path: Path) -> None:
    """A link in place of the run's folder remains. Links in the folder are removed and their targets remain."""
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


def test_a_state_root_that_is_a_link_or_another_users_is_refused(
    state_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_root.symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        run_ids.claim_state_directory(new_run_id())
    state_root.unlink()
    state_root.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    with pytest.raises(UsageError, match="belongs to another user"):
        run_ids.claim_state_directory(new_run_id())


def test_an_owner_file_that_is_malformed_a_link_or_a_pipe_is_ignored(tmp_path: Path) -> None:
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


def test_a_zombie_counts_as_ended() -> None:
    """`end_processes` does not wait until a zombie is reaped, which may never happen."""
    child = subprocess.Popen(["true"])
    zombie = psutil.Process(child.pid)
    while zombie.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert not is_alive(zombie)
    end_processes([zombie])
    assert child.wait() == 0


def test_a_runs_owner_is_identified_by_pid_and_start_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Setting the machine's clock during the run changes neither."""
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
