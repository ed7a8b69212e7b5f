# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Parser of fault specifications."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

from sfc_testbed.request.checks import refusal
from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.scenarios.faults.fault import Fault, FaultError
from sfc_testbed.scenarios.faults.impairments import Impairment, check_overlaps
from sfc_testbed.scenarios.faults.kinds import FAULTS
from sfc_testbed.topologies.model import Topology


def parse_faults(texts: Iterable[str], topology: Topology) -> tuple[Fault, ...]:
    """Parse fault specifications and check them against a network. FaultError, one line, for an invalid fault."""
    faults = tuple(map(parse_fault, texts))
    for fault in faults:
        fault.check(topology)
    check_overlaps(faults, topology)
    for place, fault in enumerate(faults):
        if any(_are_same(fault, other) for other in faults[:place]):
            raise FaultError(f"{fault.kind}:{fault.place}: two such faults overlap in time; leave one of them out")
    return faults


def _are_same(fault: Fault, other: Fault) -> bool:
    """Whether two faults of one kind affect the same place at the same time, so that one would end the other."""
    places = [sorted(each.place.split("-")) for each in (fault, other)]  # a link has two names
    if type(fault) is not type(other) or places[0] != places[1] or isinstance(fault, Impairment):
        return False
    first, second = sorted((fault.spans()[0], other.spans()[0]), key=lambda span: span.begin_ns)
    return first.end_ns is None or second.begin_ns < first.end_ns


def parse_fault(text: str) -> Fault:
    """Parse one fault, such as link:tor1-spine1,down=200us,up=500us."""
    kind, colon, rest = text.partition(":")
    if kind not in FAULTS:
        raise FaultError(f"unknown fault {shown(kind)}; choose from {', '.join(FAULTS)}{nearest(kind, FAULTS)}")
    place, *words = rest.split(",")
    usage = FAULTS[kind].usage
    if not colon or not place:
        raise FaultError(f"a fault is written {usage}, not {shown(text)}")
    parameters: dict[str, object] = {"place": place}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not value:
            raise FaultError(f"{kind}:{place}: {shown(word)} is not NAME=VALUE; it is written {usage}")
        if name in parameters:
            raise FaultError(f"{kind}:{place}: {name} is given twice")
        parameters[name] = value
    try:
        return FAULTS[kind].with_parameters(parameters).model_validate(parameters)
    except ValidationError as error:
        raise FaultError(f"{kind}:{place}: {_describe(error)}; it is written {usage}") from error


def _describe(error: ValidationError) -> str:
    if error.errors()[0]["type"] == "missing":
        return f"{error.errors()[0]['loc'][-1]} is missing"
    return refusal(error)
