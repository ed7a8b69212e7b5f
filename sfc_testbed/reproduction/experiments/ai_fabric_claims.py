# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The claims of the experiment `ai-fabric`, from the SFC, REPS and LetFlow papers, and the runs that they compare.

The claims were written before the first run of the experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from sfc_testbed.analysis.formatting import format_ratio, format_us
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.reproduction.model.claims import Judged, worst_of
from sfc_testbed.reproduction.model.experiment import (
    Evidence,
    Measured,
    NotMeasured,
    Results,
    config_of,
)
from sfc_testbed.reproduction.model.quantities import (
    CORE_QUEUE,
    ITERATION_TIME,
    PEAK_BUFFER,
    Quantity,
    mean_slowdown,
    slowdown,
)
from sfc_testbed.request.load_balancing import LOAD_BALANCINGS
from sfc_testbed.telemetry.reader import answer

BALANCINGS = tuple(LOAD_BALANCINGS)
ALONE = ("irn", "irn+hpcc", "irn+swift")
"""IRN without flow control, with a window of one BDP or a congestion control."""
SFC_OF = {"sfc": "irn", "sfc+hpcc": "irn+hpcc"}
"""The schemes with SFC, and the same scheme without flow control."""
SCHEMES = (*ALONE, *SFC_OF, "ndp", "bfc")
REFUSED = (("ndp", "conga"),)
"""The pairs that the program refuses: the path of a header that returns to its sender would confuse CONGA."""
OF_EACH_PACKET = ("spray", "round-robin", "drill", "adaptive", "oblivious", "reps")
"""The load balancings that send the packets of a flow over all paths."""

FABRICS: Mapping[str, Mapping[str, Any]] = {
    "healthy": {},
    "slow link": {"faults": ("link:tor1-spine1,rate=25%",)},
    "failed link": {"faults": ("link:tor1-spine1,down=20us,detect=1ms",)},
}
"""The links of the fabric. Routes change 1 ms after a failure, so that the load balancing has to notice it before."""
FAILED_AT_US = 20.0
_REACTION_US = 100.0

ALL_TO_ALL, RING, HADOOP = ({"workload": name} for name in ("all-to-all", "ring", "hadoop"))
HEALTHY, SLOW, FAILED = ({"fabric": name} for name in FABRICS)


class Where(NamedTuple):
    """The scheme and the place of a run."""

    scheme: str
    place: Mapping[str, str]

    def __str__(self) -> str:
        return ", ".join((self.scheme, *(self.place[axis] for axis in ("load balancing", "fabric"))))


def _at(scheme: str, workload: Mapping[str, str], balancing: str, fabric: Mapping[str, str] = HEALTHY) -> Where:
    return Where(scheme, {**workload, "load balancing": balancing, **fabric})


def _uplinks(run: Run) -> tuple[int, ...]:
    """Return tor1's uplinks. The first one leads to spine1."""
    [uplinks] = config_of(run).equal_cost_ports["tor1"]
    return uplinks


def _slow_link_share(run: Run) -> float:
    uplinks = _uplinks(run)
    chosen = (pl.col("switch") == "tor1") & pl.col("port").is_in(uplinks)
    sent = answer(run.links.lazy().filter(chosen).group_by("port").agg(pl.col("sent_bytes").sum()))
    total = sent["sent_bytes"].sum()
    if not total:
        raise NotMeasured("tor1 sent nothing to spines")
    return float(sent.filter(pl.col("port") == min(uplinks))["sent_bytes"].sum()) * len(uplinks) / float(total)


def _failed_link_us(run: Run) -> float:
    of_link = (pl.col("switch") == "tor1") & (pl.col("port") == min(_uplinks(run)))
    last = answer(run.queues.lazy().filter(of_link).select(pl.col("time_us").max()))["time_us"].item()
    return max(0.0, float(last or 0.0) - FAILED_AT_US)


SLOW_LINK_SHARE = Quantity("bytes over the slow link, over the mean of tor1's uplinks", _slow_link_share)
FAILED_LINK_TIME = Quantity("time for which packets wait for the failed link", _failed_link_us, format_us)
MEAN_SLOWDOWN = mean_slowdown(above_bytes=0)


def _worst(
    claim: str,
    paper: str,
    of: Quantity,
    pairs: Iterable[tuple[Where, Where]],
    at_most: float,
    *,
    is_ours: bool = False,
) -> Judged:
    """Return a claim about the ratio of a quantity in the two runs of every pair. The highest ratio decides."""
    pairs = tuple(pairs)

    def check(results: Results) -> Measured:
        ratios = []
        for where, base in pairs:
            value, divisor = (of.measure(results.at(*run)) for run in (where, base))
            if not divisor:
                raise NotMeasured(f"{of.name} of {base} is zero")
            ratios.append((value / divisor, f"{where} vs. {base}", f"{of.write(value)} vs. {of.write(divisor)}"))
        return _highest(ratios, at_most)

    return Judged(claim, paper, check, is_ours=is_ours)


def _limited(claim: str, paper: str, of: Quantity, runs: Iterable[Where], at_most: float) -> Judged:
    """Return a claim that a quantity is limited in every run."""
    runs = tuple(runs)

    def check(results: Results) -> Measured:
        return _highest([(of.measure(results.at(*where)), str(where), "") for where in runs], at_most, of.write)

    return Judged(claim, paper, check)


def _highest(
    rows: list[tuple[float, str, str]], at_most: float, write: Callable[[float], str] = format_ratio
) -> Measured:
    """Return the finding of the highest value. A row has a value, its runs and the values that it compares."""
    highest, point, values = max(rows)
    fails = sum(value > at_most for value, *_ in rows)
    evidence = Evidence(values, "", worst_of(len(rows), fails), point)
    return Measured(highest, not fails, write(highest), write, evidence)


def _against(
    workload: Mapping[str, str], fabric: Mapping[str, str], balancing: str, others: Iterable[str]
) -> list[tuple[Where, Where]]:
    """Return the pairs of a load balancing and each of some others, under every scheme without flow control."""
    return [
        (_at(scheme, workload, balancing, fabric), _at(scheme, workload, other, fabric))
        for scheme, other in product(ALONE, others)
    ]


def _with_and_without(
    workload: Mapping[str, str], balancings: Iterable[str] = BALANCINGS, schemes: Mapping[str, str] = SFC_OF
) -> list[tuple[Where, Where]]:
    """Return the pairs of a scheme with SFC and its base, under every load balancing in a healthy fabric."""
    return [
        (_at(scheme, workload, balancing), _at(base, workload, balancing))
        for balancing, (scheme, base) in product(balancings, schemes.items())
    ]


_SFC = "SFC, abstract"
_REPS = "REPS, abstract"
_REPS_1 = "REPS, abstract of version 1"
_LETFLOW = "LetFlow, abstract"
_NOT_REPS = tuple(name for name in BALANCINGS if name != "reps")

CLAIMS = (
    *(
        _worst(
            f"All-to-all, IRN, {name}: with {label}, the deepest queue between switches is at most half as deep as "
            "with ECMP",
            f'"core network congestion can be handled by multi-path load balancing schemes" {cited} '
            "(SFC, footnote in 3.3)",
            CORE_QUEUE,
            [(_at("irn", ALL_TO_ALL, balancing, fabric), _at("irn", ALL_TO_ALL, "ecmp", fabric))],
            0.5,
        )
        for (balancing, label, cited), (name, fabric) in product(
            (("plb", "PLB", "[plb]"), ("spray", "NDP's spraying", "[ndp]")),
            (("healthy fabric", HEALTHY), ("slow link", SLOW)),
        )
    ),
    _worst(
        "Hadoop with incasts: under every load balancing, SFC at least halves the peak buffer",
        f'"the peak switch buffer usage by 2-3x" ({_SFC})',
        PEAK_BUFFER,
        _with_and_without(HADOOP),
        0.5,
    ),
    _worst(
        "Hadoop with incasts: under every load balancing, SFC's P99 FCT slowdown is at least 1.2 times lower",
        f'"the 99th-percentile flow completion times by 1.2-6x" ({_SFC})',
        slowdown(99),
        _with_and_without(HADOOP),
        1 / 1.2,
    ),
    _worst(
        "Hadoop with incasts: the pause cache lowers the peak buffer under every load balancing that sprays packets",
        '"the cache is effective except for when the incast senders are perfectly synchronized" (SFC, 3.3)',
        PEAK_BUFFER,
        _with_and_without(HADOOP, OF_EACH_PACKET, {"sfc": "ingress-bts"}),
        1.0,
    ),
    *(
        _worst(
            f"{name}: under every load balancing, SFC makes an iteration at most 5 % longer",
            f'"avoiding the head-of-line blocking problem" ({_SFC})',
            ITERATION_TIME,
            _with_and_without(workload),
            1.05,
        )
        for name, workload in (("All-to-all", ALL_TO_ALL), ("Ring all-reduce", RING))
    ),
    _worst(
        "All-to-all: REPS takes at most 0.9 times as long as ECMP",
        f'"ECMP [...] struggle to maintain high network utilization" ({_REPS})',
        ITERATION_TIME,
        _against(ALL_TO_ALL, HEALTHY, "reps", ["ecmp"]),
        0.9,
    ),
    _worst(
        "All-to-all: REPS does not take longer than oblivious spraying",
        f'"oblivious packet spraying (OPS), struggle to maintain high network utilization" ({_REPS})',
        ITERATION_TIME,
        _against(ALL_TO_ALL, HEALTHY, "reps", ["oblivious"]),
        1.0,
    ),
    _limited(
        "All-to-all, slow link: REPS sends at most half as many bytes over this link as over the mean uplink",
        f'"reroutes packets around congested hotspots" ({_REPS_1})',
        SLOW_LINK_SHARE,
        [_at(scheme, ALL_TO_ALL, "reps", SLOW) for scheme in ALONE],
        0.5,
    ),
    _worst(
        "All-to-all, slow link: REPS takes at most 0.8 times as long as spraying by hosts and by switches",
        f'"significantly outperforms traditional packet spraying" ({_REPS_1})',
        ITERATION_TIME,
        _against(ALL_TO_ALL, SLOW, "reps", ["oblivious", "spray"]),
        0.8,
    ),
    *(
        _worst(
            f"All-to-all, {name}: REPS does not take longer than any other load balancing",
            f'"and other state-of-the-art solutions" ({_REPS_1})',
            ITERATION_TIME,
            _against(ALL_TO_ALL, fabric, "reps", _NOT_REPS),
            1.0,
        )
        for name, fabric in (("slow link", SLOW), ("failed link", FAILED))
    ),
    _limited(
        "All-to-all, failed link: from 100 us after the failure, no packet of REPS waits for this link",
        f'"re-routes traffic away from it in less than 100 microseconds" ({_REPS})',
        FAILED_LINK_TIME,
        [_at(scheme, ALL_TO_ALL, "reps", FAILED) for scheme in ALONE],
        _REACTION_US,
    ),
    _worst(
        "Hadoop: LetFlow's mean FCT slowdown is at most 1.2 times CONGA's",
        f'"average flow completions time within 10-20% of CONGA in testbed experiments" ({_LETFLOW})',
        MEAN_SLOWDOWN,
        _against(HADOOP, HEALTHY, "flowlet", ["conga"]),
        1.2,
    ),
    _worst(
        "Hadoop, slow link: LetFlow's mean FCT slowdown is at most 2 times CONGA's",
        f'"2x of CONGA in simulated topologies with large asymmetry and heavy traffic load" ({_LETFLOW})',
        MEAN_SLOWDOWN,
        _against(HADOOP, SLOW, "flowlet", ["conga"]),
        2.0,
    ),
    _worst(
        "Hadoop, slow link: LetFlow's mean FCT slowdown is at most 0.9 times that of ECMP, spraying and round-robin",
        f'"significantly better than other traffic oblivious schemes like WCMP and Presto in asymmetric scenarios" '
        f"({_LETFLOW})",
        MEAN_SLOWDOWN,
        _against(HADOOP, SLOW, "flowlet", ["ecmp", "spray", "round-robin"]),
        0.9,
    ),
    _limited(
        "Hadoop, slow link: LetFlow sends at most half as many bytes over this link as over the mean uplink",
        f'"their size changes automatically based on traffic conditions on their path" ({_LETFLOW})',
        SLOW_LINK_SHARE,
        [_at(scheme, HADOOP, "flowlet", SLOW) for scheme in ALONE],
        0.5,
    ),
    *(
        _worst(
            f"{name}: under every load balancing, SFC makes an iteration shorter",
            "not stated",
            ITERATION_TIME,
            _with_and_without(workload),
            1.0,
            is_ours=True,
        )
        for name, workload in (("All-to-all", ALL_TO_ALL), ("Ring all-reduce", RING))
    ),
    _worst(
        "All-to-all: with HPCC, every load balancing takes at most 1.2 times as long as ECMP",
        "not stated",
        ITERATION_TIME,
        [
            (_at("irn+hpcc", ALL_TO_ALL, name), _at("irn+hpcc", ALL_TO_ALL, "ecmp"))
            for name in BALANCINGS
            if name != "ecmp"
        ],
        1.2,
        is_ours=True,
    ),
)
