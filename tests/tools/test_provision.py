# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""tools/provision.sh on simulated machines: a folder in place of /, and stubs of apt, wget and Docker."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sfc_testbed.testbed.targets.bmv2.container import USUAL_IMAGE
from sfc_testbed.testbed.targets.bmv2.installation import OLDEST
from tools import compile_p4

TOOLS = Path(__file__).resolve().parents[2] / "tools"
P4_SCRIPT = TOOLS / "provision-p4.sh"

REAL = "awk bash cat cp cut dirname dpkg env grep install ldd ln mkdir mktemp mv rm sh sleep tail tar tee tr"
APT_GET = """
for word; do
    case $word in
        p4lang-bmv2) ln -s "$MACHINE/image/bin/simple_switch" "$MACHINE/bin/simple_switch" ;;
        p4lang-p4c) ln -s "$MACHINE/image/bin/p4c-bm2-ss" "$MACHINE/bin/p4c-bm2-ss" ;;
        podman) [ ! -e "$MACHINE/podman" ] || mv "$MACHINE/podman" "$MACHINE/bin/podman" ;;
    esac
done
"""
ENGINE = """
case $1 in
    info) ;;
    image) exit 1 ;;
    pull) ;;
    run) shift 7; cd /; PATH=$MACHINE/image/bin:$PATH exec sh "${@//\\/usr\\/local\\/share/$MACHINE/image/share}" ;;
esac
"""
"""Stub of a container engine: runs the command on this machine, with the image's programs first on the PATH."""


class Machine:
    """A machine with a folder in place of / and a PATH with only the commands in REAL and the stubs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "root"
        for name in REAL.split(" "):
            self._link(name, folder / "bin" / name)
        # Bash represents the programs of the image: its version is new enough, and it has shared libraries.
        for name in ("simple_switch", "p4c-bm2-ss"):
            copy = folder / "image" / "bin" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(_real("bash"), copy)
        include = folder / "image" / "share" / "p4c" / "p4include"
        include.mkdir(parents=True)
        (include / "v1model.p4").write_text("// v1model\n")
        (folder / "bin" / "id").write_text("#!/bin/sh\necho 0\n")
        (folder / "bin" / "id").chmod(0o755)
        self.stub("apt-get", APT_GET)
        self.stub("wget", "exit 4")

    def is_release(self, name: str, version: str) -> None:
        file = self.root / "etc" / "os-release"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'ID={name}\nVERSION_ID="{version}"\nPRETTY_NAME="{name.title()} {version}"\n')

    def has_packages(self, bmv2: str, p4c: str) -> None:
        """Let the P4 project's repository have these versions for the release; an empty text means no package.

        The stub of apt prints German unless LC_ALL is C.
        """
        self.stub("wget", 'for word; do case $word in --output-document=*) echo key > "${word#*=}" ;; esac; done')
        versions = {"p4lang-bmv2": bmv2, "p4lang-p4c": p4c}
        lines = "\n".join(f'{name}) echo "  Candidate: {text or "(none)"}" ;;' for name, text in versions.items())
        in_german = "output=${output//Candidate/Installationskandidat}"
        script = f'output=$(case $2 in\n{lines}\nesac)\n[ "${{LC_ALL-}}" = C ] || {in_german}\necho "$output"'
        self.stub("apt-cache", script)

    def stub(self, name: str, script: str) -> None:
        """Add a command that logs its call and then runs the script."""
        self.write(self.folder / "bin" / name, script)

    def write(self, path: Path, script: str) -> None:
        """Write such a command to any path."""
        calls = self.folder / "calls"
        path.write_text(f'#!/bin/bash\nMACHINE={self.folder}\necho "{path.name} $*" >> {calls}\n{script}\n')
        path.chmod(0o755)

    def take_calls(self) -> str:
        """Return the calls of the stubs so far, and clear the log."""
        file = self.folder / "calls"
        text = file.read_text() if file.exists() else ""
        file.unlink(missing_ok=True)
        return text

    def provision(self, *words: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder / 'bin'}:{self.root / 'usr/local/bin'}"
        environment = {"PATH": path, "PROVISION_ROOT": str(self.root), "TMPDIR": str(self.folder)}
        return subprocess.run(
            [TOOLS / "provision.sh", *words], env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    def _link(self, name: str, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(_real(name))


def _real(name: str) -> str:
    path = shutil.which(name)
    assert path is not None, name
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a Debian 13 for which the P4 project has no packages, without Docker and Podman."""
    debian = Machine(tmp_path)
    debian.is_release("debian", "13")
    debian.stub("wget", "exit 8")
    return debian


def test_packages_are_installed_if_the_release_has_them(machine: Machine) -> None:
    """The repository's key is valid only for its own source. A second call runs no command."""
    machine.is_release("ubuntu", "24.04")
    machine.has_packages("1.15.4-1", "1.2.5.9-1")
    done = machine.provision("p4")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "reading the lists of packages",
        "installing p4lang-bmv2",
        "simple_switch: package p4lang-bmv2 1.15.4-1",
        "installing p4lang-p4c",
        "p4c-bm2-ss: package p4lang-p4c 1.2.5.9-1",
    ]
    source = (machine.root / "etc/apt/sources.list.d/p4lang.sources").read_text().splitlines()
    assert source == [
        "Types: deb",
        "URIs: https://download.opensuse.org/repositories/home:/p4lang/xUbuntu_24.04/",
        "Suites: ./",
        "Signed-By: /etc/apt/keyrings/p4lang.asc",
    ]
    assert (machine.root / "etc/apt/keyrings/p4lang.asc").read_text() == "key\n"
    machine.take_calls()
    again = machine.provision("p4")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert machine.take_calls() == ""


def test_package_that_is_too_old_is_not_installed(machine: Machine) -> None:
    """An old simple_switch could hide a newer one on the PATH."""
    machine.is_release("ubuntu", "22.04")
    machine.has_packages("1.15.0-7", "1.2.4.2-2")
    machine.stub("docker", ENGINE)
    done = machine.provision("p4")
    assert done.returncode == 0, done.stderr
    first, second = _results(done.stdout)
    assert first == "p4c-bm2-ss: package p4lang-p4c 1.2.4.2-2"
    assert second.startswith("simple_switch: version ") and second.endswith(f"from {_default_image('BMV2')}")
    assert "--no-install-recommends p4lang-bmv2" not in machine.take_calls()


@pytest.mark.parametrize("engine", ["docker", "podman", "podman from the distribution"])
def test_programs_come_from_the_images_if_there_are_no_packages(engine: str, machine: Machine) -> None:
    """They run with the libraries and the loader of the image. No package source is left behind."""
    if engine == "podman from the distribution":
        machine.stub("docker", "exit 1")  # the engine does not run
        machine.write(machine.folder / "podman", ENGINE)
    else:
        machine.stub(engine, ENGINE)
    done = machine.provision("p4")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.partition(":")[0] for line in _results(done.stdout)] == ["simple_switch", "p4c-bm2-ss"]
    for name in ("simple_switch", "p4c-bm2-ss"):
        home = machine.root / "usr/local/lib/p4lang" / name
        assert {path.name.partition(".")[0] for path in home.iterdir()} >= {name, "libc", "libtinfo"}
        starter = machine.root / "usr/local/bin" / name
        show = 'while read -r line; do echo "$line"; done < /proc/self/maps'
        mapped = {line.split()[-1] for line in _output(starter, "-c", show).splitlines() if ".so" in line}
        assert mapped and all(Path(path).parent == home for path in mapped)
    include = machine.root / "usr/local/lib/p4lang/p4c-bm2-ss/p4include/v1model.p4"
    assert include.read_text() == "// v1model\n"
    assert not (machine.root / "etc/apt").exists()
    machine.take_calls()
    assert machine.provision("p4").returncode == 0
    assert machine.take_calls() == ""


def _results(output: str) -> list[str]:
    """Return the lines that name an installed program, without the announcements of long steps."""
    return [line for line in output.splitlines() if line.partition(":")[0] in ("simple_switch", "p4c-bm2-ss")]


def _output(*words: str | Path) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def _no_engine(machine: Machine) -> str:
    machine.stub("apt-get", 'case $* in *install*) echo "E: Unable to locate package podman" >&2; exit 100 ;; esac')
    return "no Docker engine answers, and Podman cannot be installed"


def _no_registry(machine: Machine) -> str:
    message = "Error response from daemon: no such host"
    machine.stub("docker", f"case $1 in info) ;; pull) echo '{message}' >&2; exit 1 ;; *) exit 1 ;; esac")
    return f"/behavioral-model:latest: {message}"


def _no_program(machine: Machine) -> str:
    (machine.folder / "image" / "bin" / "simple_switch").unlink()
    machine.stub("docker", ENGINE)
    return "/behavioral-model:latest: has no simple_switch"


@pytest.mark.parametrize("lack", [_no_engine, _no_registry, _no_program])
def test_unavailable_program_is_reported_in_one_line(lack: Callable[[Machine], str], machine: Machine) -> None:
    """The line names its use and the reason. The exit code is 77, and no files are left behind."""
    reason = lack(machine)
    done = machine.provision("p4")
    assert done.returncode == 77, done.stderr
    line = done.stderr.splitlines()[0]
    assert line.startswith("provision.sh: no simple_switch, --switch bmv2 cannot run: ")
    assert "the P4 project has no packages for Debian 13; " in line
    assert reason in line
    assert len(done.stderr.splitlines()) == 2 - (lack is _no_program)
    assert not (machine.root / "usr/local/lib/p4lang/simple_switch").exists()
    assert not (machine.root / "etc/apt").exists()


def test_missing_network_is_not_reported_as_missing_packages(machine: Machine) -> None:
    machine.stub("wget", "exit 4")
    done = machine.provision("p4")
    assert done.returncode == 77
    assert "no answer from https://download.opensuse.org" in done.stderr


def test_script_has_the_version_and_images_of_the_testbed() -> None:
    text = P4_SCRIPT.read_text()
    assert f"\noldest_bmv2={'.'.join(map(str, OLDEST))} " in text
    assert _default_image("BMV2") == f"docker.io/{USUAL_IMAGE}"
    assert _default_image("P4C") == f"docker.io/{compile_p4.IMAGE}"


def _default_image(name: str) -> str:
    return P4_SCRIPT.read_text().partition(f"SFC_TESTBED_{name}_IMAGE:-")[2].partition("}")[0]


def test_unknown_argument_installs_nothing(machine: Machine) -> None:
    done = machine.provision("lunch")
    assert (done.returncode, machine.take_calls()) == (2, "")
    assert done.stderr == "provision.sh: unknown argument 'lunch'; choose tests, fresh, emulator or p4\n"
