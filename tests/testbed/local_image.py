# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Docker images made from local programs and their libraries, without any registry."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import pytest

from sfc_testbed.testbed.system.containers import missing_engine
from sfc_testbed.testbed.targets.bmv2.container import IMAGE_VARIABLE
from sfc_testbed.testbed.targets.bmv2.installation import simple_switch_on_path

_LOADED = re.compile(r"(?:^|=> )\s*(/\S+) \(0x", re.MULTILINE)


@contextmanager
def image_of(programs: Mapping[str, str], *changes: str) -> Iterator[str]:
    """Create an image with these programs (path in the image -> local path) and yield its name. Remove it at the end.

    `changes` are lines of a Dockerfile.
    """
    name = f"sfc-testbed-test-{uuid.uuid4().hex[:12]}"
    with closing(docker.from_env()) as client:
        client.api.import_image_from_data(_archive(programs), repository=name, tag="local", changes=list(changes))
        try:
            yield f"{name}:local"
        finally:
            client.images.remove(f"{name}:local", force=True)


@contextmanager
def image_of_bmv2(patch: pytest.MonkeyPatch) -> Iterator[str]:
    """Create an image with the simple_switch on the PATH, which runs then use instead of the local program."""
    local = simple_switch_on_path()
    if missing_engine() is not None:
        pytest.skip(f"no Docker: {missing_engine()}")
    if local is None or not libraries_of(local):
        pytest.skip("no simple_switch on the PATH to make an image of")
    tools = {name: str(shutil.which(name)) for name in ("chrt", "mount", "nsenter", "sh")}
    with image_of({f"usr/bin/{name}": path for name, path in {**tools, "simple_switch": local}.items()}) as image:
        patch.setenv(IMAGE_VARIABLE, image)
        hide_bmv2(patch)
        yield image


def hide_bmv2(patch: pytest.MonkeyPatch) -> None:
    """Take the folder with the local simple_switch from the PATH."""
    folders = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
    patch.setenv("PATH", ":".join(folder for folder in folders if not Path(folder, "simple_switch").exists()))


def containers_of(image: str) -> list[str]:
    """Return the IDs of all containers of an image, including ended ones."""
    with closing(docker.from_env()) as client:
        return [container.id for container in client.containers.list(all=True, filters={"ancestor": image})]


def libraries_of(executable: str) -> list[str]:
    """Return the paths of the libraries that an executable loads, including the loader. A script has none."""
    output = subprocess.run(["ldd", executable], capture_output=True, text=True, check=False).stdout
    return _LOADED.findall(output)


def _archive(programs: Mapping[str, str]) -> bytes:
    """Return a root file system as a tar archive. Links are resolved, so that each file is at the requested path."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", dereference=True) as archive:
        for target, source in programs.items():
            archive.add(Path(source).resolve(), target)
        for library in sorted({library for source in programs.values() for library in libraries_of(source)}):
            archive.add(library, library.lstrip("/"))
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        archive.addfile(folder)
    return content.getvalue()
