# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A file that describes a network, as a request names it. Its text travels with the request. Nothing is parsed here."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from base64 import b85decode, b85encode
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, PlainSerializer, TypeAdapter, ValidationInfo
from pydantic.dataclasses import dataclass

from sfc_testbed.request.bounded_file import read_named_text
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.shown import shown

MOST_BYTES = 64_000_000
SETTING = "topology.file"
"""The setting that names a file in the axes of a sweep."""


def _packed(text: str) -> str:
    return b85encode(zlib.compress(text.encode())).decode()


def _unpacked(text: str, info: ValidationInfo) -> str:
    if info.mode != "json":
        return text
    try:
        return zlib.decompress(b85decode(text)).decode()
    except zlib.error as error:
        raise ValueError(f"not a packed text ({error})") from error


Packed = Annotated[str, PlainSerializer(_packed, when_used="json"), BeforeValidator(_unpacked)]
"""A text that is compressed to about a tenth in JSON, because each job of a sweep and each config.json contains it."""


@dataclass(frozen=True, config=ConfigDict(defer_build=True))
class NetworkFile:
    """A file that describes a network."""

    word: str
    """The argument of `--topology` as typed."""
    sha256: str
    """The SHA-256 of the text, in hexadecimal."""
    text: Packed = field(repr=False)

    @property
    def name(self) -> str:
        """The name of the file without folders, for tables and messages."""
        name = Path(self.word).name
        return name if name.isprintable() else shown(name)


def read_network_file(topology: str | None, settings: Mapping[str, Any]) -> NetworkFile | None:
    """Return the file that `--topology` or the setting `topology.file` names, or None if both name none.

    A word is a file if it contains `.` or `/`, which no name of a topology does. UsageError if it cannot be read.
    """
    word = settings.get(SETTING)
    if word is None:
        if not isinstance(topology, str) or not ("." in topology or os.sep in topology):
            return None
        word, option = topology, f"--topology {_in_message(topology)}"
    else:
        option = f"--set {SETTING}={_in_message(word)}"
        if topology is not None:
            raise UsageError(
                f"{option} and --topology {_in_message(topology)} both name a network; leave one of them out"
            )
        if not isinstance(word, str):
            raise UsageError(f"--set {SETTING}: must be the path of a file, not {shown(word)}")
    text = read_named_text(option, Path(word), MOST_BYTES)
    return NetworkFile(word, hashlib.sha256(text.encode()).hexdigest(), text)


def with_texts(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of config.json with the text of its network file as text. ValueError if it is damaged."""
    file = content.get("network_file")
    if not isinstance(file, dict):
        return content
    return {**content, "network_file": TypeAdapter(NetworkFile).validate_json(json.dumps(file))}


def _in_message(word: object) -> str:
    return word if isinstance(word, str) and word.isprintable() else shown(word)
