# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Docker images of programs on this machine and the libraries that they load, nothing else: no registry is asked."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import docker

_LOADED = re.compile(r"(?:^|=> )\s*(/\S+) \(0x", re.MULTILINE)


@contextmanager
def image_of(programs: Mapping[str, str], *changes: str) -> Iterator[str]:
    """The name of a new image with these programs, path there -> path here; it goes with the body. `changes` are lines
    of a Dockerfile."""
    name = f"sfc-testbed-test-{uuid.uuid4().hex[:12]}"
    client = docker.from_env()
    try:
        client.api.import_image_from_data(_archive(programs), repository=name, tag="local", changes=list(changes))
        try:
            yield f"{name}:local"
        finally:
            client.images.remove(f"{name}:local", force=True)
    finally:
        client.close()


def containers_of(image: str) -> list[str]:
    """The ids of all containers of an image, ended ones too."""
    client = docker.from_env()
    try:
        return [each.id for each in client.containers.list(all=True, filters={"ancestor": image})]
    finally:
        client.close()


def libraries_of(executable: str) -> list[str]:
    """The files that the loader maps for it, its loader among them; none of a script."""
    found = subprocess.run(["ldd", executable], capture_output=True, text=True, check=False).stdout
    return _LOADED.findall(found)


def _archive(programs: Mapping[str, str]) -> bytes:
    """A tar of a root file system: links are followed, so that each file stands where it is looked for."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", dereference=True) as archive:
        for there, here in programs.items():
            archive.add(Path(here).resolve(), there)
        for library in sorted({library for here in programs.values() for library in libraries_of(here)}):
            archive.add(library, library.lstrip("/"))
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        archive.addfile(folder)
    return content.getvalue()
