# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The cards and tables of the report pages, as formatted text without HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from sfc_testbed.analysis.formatting import (
    NOTHING,
    format_bytes,
    format_count,
    format_interval,
    format_number,
    format_ratio,
    format_share,
    format_us,
    format_wall,
)
from sfc_testbed.analysis.metrics.figures import Interval
from sfc_testbed.analysis.metrics.flows import CompletionFigures, SizeBinFigures, SlowdownFigures
from sfc_testbed.analysis.metrics.iterations import JobFigures
from sfc_testbed.analysis.report.data_table import DataTable
from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE, INVALID_ABOVE
from sfc_testbed.analysis.results.quantities import QUANTITIES, measured_in, with_unit
from sfc_testbed.analysis.results.result import LatenessFigures, RunResult, SpacingFigures, count_of, headline_class
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.request.spec import RunConfig

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.comparison import Comparison, ComparisonRow
    from sfc_testbed.analysis.results.completions import CompletionRow
    from sfc_testbed.analysis.results.iterations import IterationRow
    from sfc_testbed.analysis.results.over_seeds import Estimate


@dataclass(frozen=True)
class Card:
    """A key figure of a run, shown as a card at the top of its page."""

    name: str
    value: str
    detail: str = ""


def run_cards(result: RunResult) -> list[Card]:
    """Return the key figures of a run."""
    name = headline_class(result)
    slowdown = result.fct_slowdown.get(name)
    hottest = max(result.buffer_bytes, key=lambda switch: result.buffer_bytes[switch].max, default=None)
    bts, packets = result.bts, result.packets
    asked = bts.sent + bts.suppressed if bts else 0
    suppressed = f"{format_share(bts.suppressed / asked)} suppressed" if bts and asked else ""
    return [
        Card("Peak buffer", format_bytes(result.max_buffer_bytes), hottest or ""),
        Card(
            "P99 FCT slowdown",
            format_number(slowdown.p99 if slowdown else None),
            name + format_interval(slowdown.p99_interval if slowdown else None),
        ),
        Card("P50 FCT slowdown", format_number(slowdown.p50 if slowdown else None), name),
        Card("Flows completed", f"{result.flows.completed:,}", f"of {result.flows.total:,}"),
        Card("Throughput", f"{format_number(result.throughput_gbps)} Gb/s", "all receivers, model rate"),
        *(_completion_card(name, figures) for name, figures in result.dependent_completion.items()),
        *_link_cards(result),
        Card("Drops", format_count(result.dropped), f"of {packets.sent:,} packets" if packets else ""),
        Card(
            "Packets sent again",
            format_count(result.flows.packets_resent),
            ", ".join(f"{reason} {count:,}" for reason, count in result.resent_by_reason.items()),
        ),
        Card("BTS sent", format_count(count_of(bts, "sent")), suppressed),
        Card("Wall time", *format_wall(result.wall_s, result.packets_per_s)),
    ]


def _link_cards(result: RunResult) -> list[Card]:
    """Return the card of equal-cost links; no card without such links."""
    balance = result.link_balance
    if balance is None:
        return []
    jain = f"of equal-cost links; Jain's index {format_number(balance.jain_index)}"
    return [Card("Largest / mean link", format_number(balance.largest_over_mean), jain)]


def _took(figures: CompletionFigures | None) -> str:
    return NOTHING if figures is None else format_us(figures.took_us)


def _completion_card(tag: str, figures: CompletionFigures) -> Card:
    """Return the card with the total completion time of a tag's dependent messages."""
    took = _took(figures)
    slowdown = "" if figures.slowdown is None else f", slowdown {format_number(figures.slowdown)}"
    return Card(f"Completion of {tag}", took, f"ideal {format_us(figures.ideal_us)}{slowdown}")


def setting_rows(result: RunResult) -> list[tuple[str, str]]:
    """Return the settings that identify a run, as name and value."""
    window = result.measured_window_us
    return [
        ("scenario", result.scenario),
        ("scheme", ", ".join([result.scheme, *result.overridden])),
        *([] if result.load_balancing is None else [("load balancing", result.load_balancing)]),
        ("scale", result.scale),
        ("switch", result.switch),
        ("clock", result.clock),
        ("dilation", f"{result.dilation:,}" + (f", a retry of {result.retry_of}" if result.retry_of else "")),
        ("seed", str(result.seed)),
        ("base RTT", format_us(result.base_rtt_us)),
        ("flows measured", f"start between {format_us(window[0])} and {format_us(window[1])}" if window else "all"),
    ]


_AVERAGED = (
    ("p50_slowdown", "P50 slowdown"),
    ("p95_slowdown", "P95 slowdown"),
    ("p99_slowdown", "P99 slowdown"),
    ("max_buffer_bytes", "peak buffer"),
    ("incast_p50_slowdown", "incast, P50"),
    ("incast_last_slowdown", "incast, last flow"),
    ("throughput_gbps", "throughput, Gb/s"),
    ("link_jain_index", "equal-cost links, Jain's index"),
    ("link_largest_over_mean", "equal-cost links, largest / mean"),
    ("drops", "drops"),
    ("resent", "packets sent again"),
    ("bts_sent", "BTS sent"),
)


def seeds_table(comparison: Comparison) -> DataTable | None:
    """Return the means over seeds; None without several seeds."""
    schemes = comparison.over_seeds
    if not schemes:
        return None
    figures = [(name, title) for name, title in _AVERAGED if any(scheme.figures.get(name) for scheme in schemes)]
    return DataTable(
        "Means over seeds",
        (
            "figure",
            *(scheme.scheme for scheme in schemes),
            *(f"{scheme.scheme} / {schemes[0].scheme}" for scheme in schemes[1:]),
        ),
        [
            (
                "completed / flows",
                *(f"{scheme.flows_completed:,} / {scheme.flows_total:,}" for scheme in schemes),
                *(NOTHING for _ in schemes[1:]),
            ),
            *(
                (
                    title,
                    *(
                        _estimate(scheme.figures[name], format_bytes if name.endswith("_bytes") else format_number)
                        for scheme in schemes
                    ),
                    *(_estimate(scheme.ratios.get(name), format_number) for scheme in schemes[1:]),
                )
                for name, title in figures
            ),
        ],
        f"Slowdowns of {comparison.traffic_class} flows; seeds "
        f"{', '.join(str(seed) for seed in schemes[0].seeds)}. In parentheses: 95 % confidence interval of the mean "
        "(Student's t). Ratios are geometric means of the ratios per seed, on the same flows. A difference is "
        "significant if the interval of its ratio excludes 1. Without an interval: the same with every seed. "
        "The plots show the first seed.",
    )


def _estimate(
    estimate: Estimate | None, format_value: Callable[[float | None], str], single: float | None = None
) -> str:
    """Return a mean over the seeds, or else the value of a single run."""
    if estimate is None:
        return format_value(single)
    return format_value(estimate.mean) + _interval(estimate.interval, format_value)


def _interval(interval: Interval | None, format_value: Callable[[float | None], str] = format_number) -> str:
    return f" ({format_value(interval[0])} to {format_value(interval[1])})" if interval else ""


def _slowdown_cells(figures: SlowdownFigures) -> list[str]:
    return [
        f"{figures.completed:,} / {figures.flows:,}",
        format_number(figures.p50) + _interval(figures.p50_interval),
        format_number(figures.p95) + _interval(figures.p95_interval),
        format_number(figures.p99) + _interval(figures.p99_interval),
        format_number(figures.p99_9),
        format_number(figures.mean),
        format_number(figures.max),
    ]


_SLOWDOWN_HEADINGS = ("completed / flows", "P50", "P95", "P99", "P99.9", "mean", "max")


def slowdown_table(result: RunResult) -> DataTable:
    """Return the slowdown of every traffic class."""
    return DataTable(
        "FCT slowdown by traffic class",
        ("class", *_SLOWDOWN_HEADINGS, "below 1", "completion"),
        [
            (name, *_slowdown_cells(figures), f"{figures.below_one:,}", _took(result.completion.get(name)))
            for name, figures in result.fct_slowdown.items()
        ],
        "FCT over the ideal FCT of an idle network, not clamped. In parentheses: 95 % bootstrap interval. A flow that "
        f"did not finish is slower than all others. {NOTHING}: the figure depends on such a flow, or there are too few "
        "flows (P50 needs 2, P95 20, P99 100, P99.9 1000). Completion: time from the first start to the last finish, "
        "if all flows completed.",
    )


def iteration_table(result: RunResult) -> DataTable | None:
    """Return the iterations of the jobs; None without jobs."""
    if not result.jobs:
        return None
    descriptions = "; ".join(dict.fromkeys(job.description for job in result.jobs))
    stragglers = " ".join(job.sentence for job in result.jobs[:_MOST_STRAGGLERS])
    note = f"{descriptions}. {_ITERATIONS}\n\n{stragglers}"
    return DataTable("Iterations of jobs", ITERATION_HEADINGS, list(map(iteration_cells, result.jobs)), note)


_MOST_STRAGGLERS = 4
ITERATION_HEADINGS = (
    "job", "done", "min", "mean", "P99", "max", "ideal", "slowdown", "algbw", "busbw",
)  # fmt: skip
_ITERATIONS = (
    "Time from the first ready message of an iteration to the last receipt. The ideal is the least possible time in an "
    "otherwise idle network. algbw and busbw: algorithm and bus bandwidth over the mean time, in GB/s, as NCCL's tests "
    "define them."
)


def iteration_cells(job: JobFigures) -> tuple[str, ...]:
    """Return the row of a job in the table of iterations."""
    return (
        str(job.job),
        f"{job.finished}/{len(job.took_us)}",
        *map(format_us, (job.min_us, job.mean_us, job.p99_us, job.max_us, job.ideal_us)),
        *map(format_number, (job.slowdown, job.algbw_gbytes_per_s, job.busbw_gbytes_per_s)),
    )


def size_table(result: RunResult) -> DataTable:
    """Return the slowdown of the main traffic class by message size."""
    name = headline_class(result)
    bins = result.fct_slowdown_by_size.get(name, ())
    return DataTable(
        f"FCT slowdown by message size ({name})",
        ("size", *_SLOWDOWN_HEADINGS),
        [(_size_range(size_bin), *_slowdown_cells(size_bin)) for size_bin in bins],
        "At most ten bins with about the same number of flows.",
    )


def _size_range(size_bin: SizeBinFigures) -> str:
    if size_bin.low_bytes == 0:
        return f"up to {format_bytes(size_bin.high_bytes)}"
    return f"{format_bytes(size_bin.low_bytes)} to {format_bytes(size_bin.high_bytes)}"


def buffer_table(result: RunResult) -> DataTable:
    """Return the occupancy of every switch's shared buffer."""
    return DataTable(
        "Shared buffer by switch",
        ("switch", "max", "P99", "mean"),
        [
            (switch, format_bytes(figures.max), format_bytes(figures.p99), format_bytes(figures.mean))
            for switch, figures in result.buffer_bytes.items()
        ],
        "Max and P99 are of the high-water marks of the sampling intervals; the mean is over time.",
    )


def signal_table(result: RunResult) -> DataTable:
    """Return what hosts received and obeyed of BTS, PFC and the like."""
    signals = result.signals
    return DataTable(
        "Feedback delay of BTS by cause",
        ("cause", "received", "P50", "P95", "P99", "mean", "max"),
        [
            (cause, f"{delay.count:,}", *map(format_us, (delay.p50, delay.p95, delay.p99, delay.mean, delay.max)))
            for cause, delay in signals.feedback_delay_us.items()
        ],
        f"Hosts received {signals.received:,} BTS and obeyed {signals.obeyed:,}. Requested pause time: "
        f"{format_us(signals.pause_asked_us)}. Actual pause time: {format_us(signals.pause_obeyed_us)}. A newer BTS "
        "replaces the end time of an older pause.",
    )


def switch_table(result: RunResult) -> DataTable:
    """Return the counters of the switches."""
    bts = result.bts
    return DataTable(
        "Flow control in the switches",
        ("counter", "value"),
        [
            ("BTS sent", format_count(count_of(bts, "sent"))),
            ("BTS suppressed", format_count(count_of(bts, "suppressed"))),
            ("pause cache hits", format_count(count_of(bts, "cache_hits"))),
            ("suppression entries, max", format_count(count_of(bts, "max_suppression_entries"))),
            ("pause cache entries, max", format_count(count_of(bts, "max_cache_entries"))),
            ("PFC frames sent", format_count(count_of(result.pfc, "sent"))),
            *((event.replace("_", " "), f"{count:,}") for event, count in (result.switch_events or {}).items()),
        ],
    )


def packet_table(result: RunResult) -> DataTable:
    """Return the balance of packets."""
    packets = result.packets
    return DataTable(
        "Packet balance",
        ("packets", "count"),
        [
            ("sent by hosts", format_count(count_of(packets, "sent"))),
            ("generated by switches", format_count(count_of(packets, "switch_generated"))),
            *([("duplicated by links", f"{packets.link_duplicated:,}")] if packets and packets.link_duplicated else []),
            ("received by hosts", format_count(count_of(packets, "received"))),
            ("absorbed by switches", format_count(count_of(packets, "switch_absorbed"))),
            *((f"dropped: {reason}", f"{count:,}") for reason, count in (result.drops or {}).items()),
            ("in flight at the end", format_count(count_of(packets, "in_flight"))),
            ("unexplained loss", format_count(result.unexplained_loss)),
            ("dropped by the kernel", format_count(result.kernel_drops)),
            ("data packets sent again", format_count(result.flows.packets_resent)),
            *((f"sent again: {reason}", f"{count:,}") for reason, count in result.resent_by_reason.items()),
            *_reordering_rows(result),
            *((event.replace("_", " "), f"{count:,}") for event, count in (result.host_events or {}).items()),
        ],
        "Unexplained loss = sent + generated - received - absorbed - dropped - in flight. It must be zero.",
    )


def _reordering_rows(result: RunResult) -> list[tuple[str, str]]:
    """Return how far packets were overtaken; no rows if all arrived in order."""
    figures = result.reordering
    if figures is None:
        return []
    return [
        ("overtaken by later packets", f"{figures.packets:,}"),
        ("largest reordering distance", f"{figures.largest:,}"),
        ("mean reordering distance", format_number(figures.mean)),
    ]


def lateness_table(result: RunResult) -> DataTable:
    """Return the lateness of hosts and switches."""

    def cells(who: str, figures: LatenessFigures | None) -> tuple[str, ...]:
        if figures is None:
            return (who, *[NOTHING] * 4)
        times = map(format_us, (figures.p50_us, figures.p99_us, figures.max_us))
        return (who, *times, format_share(figures.p99_of_base_rtt))

    return DataTable(
        "Lateness",
        ("part", "P50", "P99", "max", "P99 / base RTT"),
        [cells("hosts", result.lateness.host), cells("switches", result.lateness.switch)],
        f"In model time. A faithful run stays within {format_share(DEGRADED_ABOVE)} of the base RTT; above "
        f"{format_share(INVALID_ABOVE)} a run is invalid. The virtual clock is never late.",
    )


def spacing_table(result: RunResult) -> DataTable:
    """Return the errors in the spacing of back-to-back frames."""

    def cells(who: str, figures: SpacingFigures | None) -> tuple[str, ...]:
        if figures is None:
            return (who, *[NOTHING] * 7)
        times = map(format_us, (figures.ideal_us, figures.p50_us, figures.p99_us, figures.max_us))
        shares = map(format_share, (figures.p99_of_ideal, figures.p99_of_base_rtt))
        return (who, f"{figures.pairs:,}", *times, *shares)

    return DataTable(
        "Spacing of back-to-back frames",
        ("part", "pairs", "ideal spacing", "error P50", "error P99", "error max", "P99 / ideal", "P99 / base RTT"),
        [cells("hosts", result.spacing.host), cells("switches", result.spacing.switch)],
        "Error of the measured time between the departures of two frames with no gap on the modelled wire, in model "
        "time. The ideal spacing is frame bytes / link rate. Frames that a switch sends in one call have the same "
        "departure time. The limits are the same as for lateness. Not measured for frames sent by BMv2.",
    )


def overview_table(comparison: Comparison) -> DataTable:
    """Return the main figures, one row per run."""
    optional = [column for column in _OPTIONAL_COLUMNS if any(column.has_value(row) for row in comparison.rows)]
    incast = ("incast, P50", "incast, last") if comparison.has_incast else ()
    return DataTable(
        "Overview",
        (
            comparison.label_heading,
            "verdict",
            "completed / flows",
            "P50",
            "P95",
            "P99",
            "ratio",
            "peak buffer",
            "ratio",
            *incast,
            "Gb/s",
            "drops / resent",
            *(column.heading for column in optional),
            "BTS sent",
            "PFC sent",
            "wall s",
        ),
        [_overview_row(row, optional, has_incast=comparison.has_incast) for row in comparison.rows],
        f"P50, P95 and P99: slowdown of {comparison.traffic_class} flows. Gb/s: throughput of all receivers together. "
        f"{''.join(f'{column.note} ' for column in optional)}Ratios are against {comparison.rows[0].label}.",
    )


@dataclass(frozen=True)
class _OptionalColumn:
    """A column of the overview that is left out if no run has a value for it."""

    heading: str
    note: str
    has_value: Callable[[ComparisonRow], object]
    write: Callable[[ComparisonRow], str]


_OPTIONAL_COLUMNS = (
    _OptionalColumn(
        "resent because of",
        "Resent: data packets sent again.",
        lambda row: row.resent_by_reason,
        lambda row: ", ".join(f"{reason} {count:,}" for reason, count in row.resent_by_reason.items()) or NOTHING,
    ),
    _OptionalColumn(
        "overtaken",
        "Overtaken: packets that arrived after a later one, and the largest distance in packets.",
        lambda row: row.packets_reordered,
        lambda row: f"{row.packets_reordered:,} / {row.reordering_max:,}",
    ),
    _OptionalColumn(
        "links",
        "Links: Jain's index of equal-cost links, and the largest over the mean; 1 is even.",
        lambda row: row.link_jain_index,
        lambda row: f"{format_number(row.link_jain_index)} / {format_number(row.link_largest_over_mean)}",
    ),
)


def _overview_row(row: ComparisonRow, optional: Sequence[_OptionalColumn], *, has_incast: bool) -> list[str]:
    incast = (row.incast_p50_slowdown, row.incast_last_slowdown) if has_incast else ()
    return [
        row.label,
        row.verdict,
        f"{row.flows_completed:,} / {row.flows_total:,}",
        *map(format_number, (row.p50_slowdown, row.p95_slowdown, row.p99_slowdown)),
        format_ratio(row.ratios["p99_slowdown"]),
        format_bytes(row.max_buffer_bytes),
        format_ratio(row.ratios["max_buffer_bytes"]),
        *map(format_number, incast),
        format_number(row.throughput_gbps),
        f"{format_number(row.drops)} / {format_number(row.resent)}",
        *(column.write(row) for column in optional),
        format_number(row.bts_sent),
        format_number(row.pfc_sent),
        NOTHING if row.wall_s is None else f"{row.wall_s:.1f}",
    ]


def completion_tables(comparison: Comparison) -> list[DataTable]:
    """Return the completion table, which is empty for results of older releases."""
    note = "Time from the first ready message to the last acknowledgement."
    ideal = " The ideal is of messages that wait for others, in an otherwise idle network."
    means = " Means over the seeds, ratios seed by seed." if comparison.over_seeds else ""
    has_ideal = any(row.ideal_us is not None for row in comparison.completion)
    headings = ("class", "run", "completion time", "ratio", *(("ideal", "slowdown") if has_ideal else ()))
    rows = [_completion_row(row, has_ideal=has_ideal) for row in comparison.completion]
    return [DataTable("Completion time", headings, rows, note + ideal * has_ideal + means)] if rows else []


def _completion_row(row: CompletionRow, *, has_ideal: bool) -> tuple[str, ...]:
    took = "did not finish" if row.took_us is None else _estimate(row.took, format_us, row.took_us)
    against = (format_us(row.ideal_us), format_number(row.slowdown)) if has_ideal else ()
    return (row.tag, row.label, took, _estimate(row.ratio_over_seeds, format_ratio, row.ratio), *against)


COMPARED_ITERATION_HEADINGS = ("mean iteration", "ratio", "max", "ideal", "slowdown", "busbw, GB/s", "ratio")


def compared_iteration_tables(comparison: Comparison) -> list[DataTable]:
    """Return the table of the jobs' iterations; no table without jobs."""
    means = " Means over the seeds, ratios seed by seed." if comparison.over_seeds else ""
    rows = [(row.job, row.label, *compared_iteration_cells(row)) for row in comparison.iterations]
    headings = ("job", "run", *COMPARED_ITERATION_HEADINGS)
    return [DataTable("Iterations of jobs", headings, rows, _ITERATIONS + means)] if rows else []


def compared_iteration_cells(row: IterationRow) -> tuple[str, ...]:
    """Return the figures of a job in a run, or of a scheme over the seeds."""
    return (
        "did not finish" if row.mean_us is None else _estimate(row.mean, format_us, row.mean_us),
        _estimate(row.ratio_over_seeds, format_ratio, row.ratio),
        format_us(row.max_us),
        format_us(row.ideal_us),
        format_number(row.slowdown),
        _estimate(row.busbw, format_number, row.busbw_gbytes_per_s),
        _estimate(row.busbw_ratio_over_seeds, format_ratio, row.busbw_ratio),
    )


def class_table(labels: Sequence[str], results: Sequence[RunResult], classes: Sequence[str]) -> DataTable:
    """Return the slowdown of every traffic class in every run."""
    return DataTable(
        "FCT slowdown by traffic class",
        ("run", "class", *_SLOWDOWN_HEADINGS),
        [
            (label, name, *_slowdown_cells(result.fct_slowdown[name]))
            for name in classes
            for label, result in zip(labels, results, strict=True)
            if name in result.fct_slowdown
        ],
    )


def buffers_table(labels: Sequence[str], results: Sequence[RunResult]) -> DataTable:
    """Return the occupancy of every switch's shared buffer in every run."""
    return DataTable(
        "Shared buffers",
        ("run", "switch", "max", "P99", "mean"),
        [
            (label, switch, format_bytes(figures.max), format_bytes(figures.p99), format_bytes(figures.mean))
            for label, result in zip(labels, results, strict=True)
            for switch, figures in result.buffer_bytes.items()
        ],
    )


def quantity_tables(run: Run) -> list[DataTable]:
    """Return the quantities of extensions; no table without such an extension."""
    [measurements] = measured_in([run.folder])
    rows = [(with_unit(name), _quantity(name, value)) for name, value in measurements.values.items()]
    if not rows:
        return []
    return [DataTable("Quantities of extensions", ("quantity", "value"), rows, " ".join(measurements.failures))]


def compared_quantity_tables(comparison: Comparison) -> list[DataTable]:
    """Return the quantities of extensions in every run, or their means over seeds; no table if there are none."""
    rows = [
        (with_unit(row.name), row.label, _estimate(row.over_seeds, partial(_quantity, row.name), row.value))
        for row in comparison.quantities
    ]
    note = "Means over the seeds. In parentheses: 95 % confidence interval." if comparison.over_seeds else ""
    headings = ("quantity", comparison.label_heading, "value")
    return [DataTable("Quantities of extensions", headings, rows, note)] if rows else []


def _quantity(name: str, value: float | None) -> str:
    """Return a value as its quantity writes it, or as a plain number if the extension is not loaded."""
    if value is None:
        return NOTHING
    return QUANTITIES[name].write(value) if name in QUANTITIES else format_number(value)


def program_rows(config: RunConfig | None) -> list[tuple[str, str]]:
    """Return path and hash of the program, for a page."""
    return [] if config is None else [("P4 program", f"{config.program.path}, SHA-256 {config.program.sha256}")]


def program_tables(labels: Sequence[str], runs: Sequence[Run]) -> list[DataTable]:
    """Return a table of all runs' programs if the user supplied at least one."""
    programs = [None if run.config is None else run.config.program for run in runs]
    if all(program is None or program.name is None for program in programs):
        return []
    rows = [
        (label, program.path if program else "", program.sha256 if program else "")
        for label, program in zip(labels, programs, strict=True)
    ]
    return [DataTable("P4 programs of the switches", ("run", "file", "SHA-256 of the compiled program"), rows)]


_CSV_FIGURES = ("flows", "completed", "p50", "p95", "p99", "p99_9", "mean", "max")


def slowdown_rows(result: RunResult) -> pl.DataFrame:
    """Return the slowdown of every class and size bin as a table. Rows for all sizes have null sizes."""
    rows: list[dict[str, object]] = []
    for name, figures in result.fct_slowdown.items():
        rows.append({"class": name, "low_bytes": None, "high_bytes": None} | _csv_figures(figures.model_dump()))
        for size_bin in result.fct_slowdown_by_size.get(name, ()):
            edges = {"low_bytes": size_bin.low_bytes, "high_bytes": size_bin.high_bytes}
            rows.append({"class": name} | edges | _csv_figures(size_bin.model_dump()))
    types = {name: pl.Int64 if name in ("flows", "completed") else pl.Float64 for name in _CSV_FIGURES}
    return pl.DataFrame(rows, schema={"class": pl.String, "low_bytes": pl.Int64, "high_bytes": pl.Int64, **types})


def _csv_figures(figures: dict[str, object]) -> dict[str, object]:
    return {name: figures[name] for name in _CSV_FIGURES}
