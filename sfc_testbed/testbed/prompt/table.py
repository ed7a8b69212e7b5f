# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of all verbs that this package adds to Mininet's prompt, and the possible values of their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.testbed.live.session import switches as reading
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.prompt import changing, following, hosts, judging, looking, pauses, traffic
from sfc_testbed.testbed.prompt.verb import Completions, Verb

VERBS: Mapping[str, Verb] = {
    **traffic.VERBS,
    **pauses.VERBS,
    **looking.VERBS,
    **following.VERBS,
    **changing.VERBS,
    **judging.VERBS,
    **hosts.VERBS,
}
_EXAMPLE_SIZES = ("1KB", "64KB", "250KB", "1MB", "10MB")


def completions(session: LiveSession) -> Completions:
    """Return the possible values of each placeholder on this network, for completion."""
    topology = session.topology
    names = [host.name for host in topology.hosts]

    def ports(words: Sequence[str]) -> Iterable[str]:
        return [str(port.number) for port in topology.ports.get(words[0], ())] if words else ()

    def tables(words: Sequence[str]) -> Iterable[str]:
        switch = session.switches.get(words[0]) if words else None
        full_names = [] if switch is None or not switch.is_up else [name for name, _ in reading.tables(switch)]
        return [reading.short_name(name, full_names) for name in full_names if not reading.is_compiler_made(name)]

    def commands(words: Sequence[str]) -> Iterable[str]:
        switch = session.switches.get(words[0]) if len(words) == 1 else None
        return (
            []
            if switch is None or not switch.is_up
            else [line.split()[0] for line in switch.command("help").splitlines() if line.strip()]
        )

    schemes = [*SCHEMES, *(f"{scheme}+{suffix}" for scheme in SCHEMES for suffix in RATE_CONTROLS)]
    return {
        **dict.fromkeys(("SRC", "DST", "HOST"), lambda words: names),
        "NODE": lambda words: [*names, *session.switches],
        "PEER": lambda words: changing.between(session, words[0]),
        "SWITCH": lambda words: list(session.switches),
        "PORT": ports,
        "TABLE": tables,
        "COMMAND": commands,
        "SCHEME": lambda words: schemes,
        "SCENARIO": lambda words: list(SCENARIOS),
        "SETTING": lambda words: ["ci", "laptop", "paper"],
        "SIZE": lambda words: _EXAMPLE_SIZES,
        "SYNC": lambda words: ("50us",),
        "N": lambda words: (str(len(names) - 1),),
        "GBPS": lambda words: ("10", "25", "40", "100"),
        "SECONDS": lambda words: ("5s",),
    }
