# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From the text of a fault to the fault."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

from scenarios.faults.fault import Fault, FaultError
from scenarios.faults.impairments import check_overlaps
from scenarios.faults.kinds import FAULTS
from topologies.model import Topology
from wire.input.nearest import nearest
from wire.input.validation import refusal, shown


def parse_faults(texts: Iterable[str], topology: Topology) -> tuple[Fault, ...]:
    """The faults of these texts in this network. FaultError, one line, for one that cannot be."""
    faults = tuple(map(parse_fault, texts))
    for fault in faults:
        fault.check(topology)
    check_overlaps(faults, topology)
    return faults


def parse_fault(text: str) -> Fault:
    """One fault, such as link:tor1-spine1,down=200us,up=500us."""
    kind, colon, rest = text.partition(":")
    if kind not in FAULTS:
        raise FaultError(f"no fault {shown(kind)}; there are {', '.join(FAULTS)}{nearest(kind, FAULTS)}")
    place, *words = rest.split(",")
    usage = FAULTS[kind].usage
    if not colon or not place:
        raise FaultError(f"a fault is written {usage}, not {shown(text)}")
    given: dict[str, object] = {"place": place}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not value:
            raise FaultError(f"{kind}:{place}: {shown(word)} is not NAME=VALUE; it is written {usage}")
        if name in given:
            raise FaultError(f"{kind}:{place}: {name} is given twice")
        given[name] = value
    try:
        return FAULTS[kind].model_validate(given)
    except ValidationError as error:
        raise FaultError(f"{kind}:{place}: {_said(error)}; it is written {usage}") from error


def _said(error: ValidationError) -> str:
    if error.errors()[0]["type"] == "missing":
        return f"{error.errors()[0]['loc'][-1]} is missing"
    return refusal(error)
