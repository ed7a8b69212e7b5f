# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A Docker image of the `simple_switch` on this machine's PATH and the libraries that it loads, nothing else."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker

_LOADED = re.compile(r"(?:^|=> )\s*(/\S+) \(0x", re.MULTILINE)


@contextmanager
def image_of(executable: str) -> Iterator[str]:
    """The name of a new image with this `simple_switch`; it goes with the body."""
    name = f"sfc-testbed-test-{uuid.uuid4().hex[:12]}"
    client = docker.from_env()
    try:
        client.api.import_image_from_data(_archive(executable), repository=name, tag="local")
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


def _archive(executable: str) -> bytes:
    """A tar of a root file system: links are followed, so that each file stands where it is looked for."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", dereference=True) as archive:
        archive.add(Path(executable).resolve(), "usr/bin/simple_switch")
        for library in libraries_of(executable):
            archive.add(library, library.lstrip("/"))
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        archive.addfile(folder)
    return content.getvalue()
