# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Docker images made from local programs and their libraries, without any registry."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import docker

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
