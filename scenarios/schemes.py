# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Schemes: named bundles of switch and host settings, each combined with a congestion control by a `+name` suffix.

A scheme overrides defaults of `SwitchSettings` and `TransportSettings` and nothing else; adding one is adding a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class UnknownScheme(KeyError):
    """No such scheme or congestion control; the text lists what there is."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Scheme:
    """What a scheme sets on switches and hosts."""

    name: str
    summary: str
    switch: Mapping[str, Any] = field(default_factory=dict)
    transport: Mapping[str, Any] = field(default_factory=dict)


_IRN = {"loss_recovery": "irn"}
_SFC = {"flow_control": "sfc", "loss_recovery": "irn"}

SCHEMES: Mapping[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("gbn", "no flow control, go-back-N: RoCEv2 as it is", transport={"loss_recovery": "go-back-n"}),
        Scheme("irn", "no flow control, selective retransmission", transport=_IRN),
        Scheme("ingress-bts", "BTS from the congested switch's ingress, no cache", {"bts": "ingress"}, _SFC),
        Scheme("sfc", "ingress BTS and the pause cache at the ToRs", {"bts": "ingress", "pause_cache": True}, _SFC),
    )
}

# Suffix -> the host's congestion control. Without a suffix: the static one-BDP window.
CONGESTION_SUFFIXES: Mapping[str, str] = {"none": "none", "window": "window"}
DEFAULT_CONGESTION = "window"


def resolve_scheme(text: str) -> Scheme:
    """The scheme that a text such as `sfc` or `sfc+none` names, its congestion control filled in."""
    base, _, suffix = text.partition("+")
    if base not in SCHEMES:
        raise UnknownScheme(f"no scheme {base!r}; there are {', '.join(SCHEMES)}")
    if suffix and suffix not in CONGESTION_SUFFIXES:
        known = ", ".join(f"+{name}" for name in CONGESTION_SUFFIXES)
        raise UnknownScheme(f"no congestion control {suffix!r} for a scheme; there are {known}")
    congestion = CONGESTION_SUFFIXES.get(suffix, DEFAULT_CONGESTION)
    scheme = SCHEMES[base]
    return Scheme(text, scheme.summary, scheme.switch, {**scheme.transport, "congestion": congestion})
