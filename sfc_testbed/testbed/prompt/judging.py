# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs that run a scenario on the live network, and that judge how far its measurements can be trusted."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sfc_testbed.analysis.results.counters import RunCounters
from sfc_testbed.analysis.results.fidelity import judge, lateness_share
from sfc_testbed.analysis.results.result import FlowCounts, RunResult
from sfc_testbed.hosts.io.summaries import LatenessSummary
from sfc_testbed.telemetry.late_bins import late_bins_file
from sfc_testbed.telemetry.queue_samples import samples_file
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.live.run import run_on
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.prompt.looking import down
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.verb import Verb
from sfc_testbed.testbed.prompt.words import VerbError
from sfc_testbed.testbed.recording.counters import run_counters
from sfc_testbed.testbed.recording.outcome import ClockOutcome, Progress, Silent
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.speed.dilation import with_dilation

_RUNS = Path("runs")
_QUIET_RTTS = 3
_RETRIES = 3
"""How often unbalanced counters are read again before the missing packets are taken to be in flight."""


@dataclass(frozen=True)
class _Reading:
    """Counters of hosts, switches and wires, read one after the other."""

    counters: RunCounters
    lateness: Mapping[str, LatenessSummary | None]
    """Lateness of each part of the network, by its name."""

    @property
    def is_balanced(self) -> bool:
        return self.counters.unexplained_loss == 0


def fidelity(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    reading = _read(session)
    gap = _gap(session)
    for _ in range(_RETRIES):
        if gap or reading.is_balanced:
            break
        packets = reading.counters.packets
        time.sleep(session.dilation.wall_ns(_QUIET_RTTS * session.plan.transport.base_rtt_ns) / 1e9)
        reading = _read(session)
        if reading.counters.packets == packets:
            break
    else:
        gap = "packets are in flight"
    lines = [f"over the {session.now_us:.1f} us of model time since the hosts' NICs started:"]
    lines += [down(controlled) for controlled in session.switches.values() if not controlled.is_up]
    lines += [_lateness(session, name, lateness) for name, lateness in reading.lateness.items()]
    lines.append(_packets(reading.counters, is_whole=not _restarted_later(session)))
    return "\n".join([*lines, *_verdict(session, reading.counters, gap)])


def _read(session: LiveSession) -> _Reading:
    up = [controlled for controlled in session.switches.values() if controlled.is_up]
    switches = [controlled.statistics() for controlled in up]
    wires = session.network.target.other_parts()
    counts = [controlled.counts() for controlled in up]
    state = session.look()
    counters = run_counters(
        [host.statistics for host in state.hosts.values()],
        counts,
        [*switches, *wires],
        host_lateness=state.lateness.values(),
        host_spacing=state.spacing,
        interrupted=False,
        wall_s=0.0,
    )
    lateness = {
        **{part.name: part.lateness for part in switches},
        **{f"{part.name}, since the network came up": part.lateness for part in wires},
        **state.lateness,
    }
    return _Reading(counters, lateness)


def _gap(session: LiveSession) -> str:
    """Return why unaccounted packets may not be lost; an empty string if they must be lost."""
    if later := _restarted_later(session):
        return later
    if session.had_dead_links and not session.counts_dead_links:
        return "a link was down, and BMv2 does not count what dead links lose"
    if unfinished := session.journal.unfinished():
        count = len(unfinished)
        return f"{count} message{' is' if count == 1 else 's are'} under way: `wait`, then `fidelity`"
    return ""


def _restarted_later(session: LiveSession) -> str:
    """Return why a switch's counters cover less time than the hosts' counters; an empty string if none do."""
    for name, controlled in session.switches.items():
        if not controlled.is_up:
            return controlled.state
        if (restarted_us := session.restarted_us(name)) is not None:
            return f"{name} was started again at {restarted_us:.1f} us, and its counters with it"
    return ""


def _packets(counters: RunCounters, *, is_whole: bool) -> str:
    packets = counters.packets
    if not is_whole:
        return f"packets: {packets.sent} sent and {packets.received} received by hosts"
    sources = f"{packets.sent} sent by hosts, {packets.switch_generated} made by switches"
    duplicates = f", {packets.link_duplicated} duplicated by links" if packets.link_duplicated else ""
    sinks = f"{packets.received} received by hosts, {packets.switch_absorbed} consumed and {packets.in_flight} queued"
    drops = ", ".join(f"{count} by {reason}" for reason, count in counters.drops.items())
    lost = f"{sum(counters.drops.values())} lost{drops and f' ({drops})'}"
    return f"packets: {sources}{duplicates}; {sinks} by switches, {lost}"


def _verdict(session: LiveSession, counters: RunCounters, gap: str) -> list[str]:
    """Return the verdict that a run would have if it ended now, and the reasons."""
    if not counters.packets.sent:
        return ["no verdict yet: no host has sent a packet"]
    messages = [message for message in session.journal.messages_of_these_nics() if message.is_done]
    corrupted = sum(message.received is not None and message.received.figures.corrupted for message in messages)
    unbalanced = f"Whether packets were lost is not known: {gap}." if gap else ""
    verdict = judge(
        session.plan.config,
        replace(counters, unbalanced=unbalanced),
        FlowCounts(total=len(messages), completed=len(messages), corrupted=corrupted, timeouts=0, packets_resent=0),
    )
    return [f"verdict so far: {verdict.level}", *(f"  {reason}" for reason in verdict.reasons)]


def scenario(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    scales = [word for word in words[1:] if "=" not in word]
    if len(scales) > 1:
        raise VerbError("usage: scenario SCENARIO [SCALE] [key=value...]")
    settings = [word for word in words[1:] if "=" in word]
    plan = with_dilation(session.plan_scenario(words[0], scales[0] if scales else "ci", settings))
    terminal.say(f"{len(plan.flows)} flows of {words[0]}, {plan.config.duration_ms:g} ms at most")
    if unfinished := session.journal.unfinished():
        terminal.say(f"messages under way end unfinished: {len(unfinished)} (`wait` first to let them finish)")
    watch = None if session.page is None else session.page.watch
    with session.emptied():
        stored = execute(plan, _RUNS, Silent(), partial(_run_on, session), watch=watch)
    return _outcome(stored.result, stored.report)


def _run_on(
    session: LiveSession, plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt
) -> ClockOutcome:
    """Run a plan on the session's network. This is the clock of a scenario's run."""
    switches = list(session.switches.values())
    network = replace(session.network, plan=plan, logs=folder / "logs", switches=switches)
    began_s = time.perf_counter()
    outcome = run_on(network, folder, recorder, progress, interrupt, began_s=began_s, programs=True)
    for switch in switches:  # they continue to write to the files of the session
        for name in (samples_file(switch.name), late_bins_file(switch.name)):
            if (session.network.logs / name).exists():  # BMv2 writes no file of its lateness over time
                shutil.copy(session.network.logs / name, network.logs / name)
    return outcome


def _lateness(session: LiveSession, name: str, lateness: LatenessSummary | None) -> str:
    if lateness is None or not lateness.count:
        return f"{name}: nothing was sent, so its lateness is unknown"
    config = session.plan.config
    share = 100 * lateness_share(lateness.p99_ns, config.base_rtt_us, config.dilation)
    is_probed = config.switch == "bmv2" and name in session.switches
    late = f"late by {lateness.p99_ns / 1e6:.3g} ms of wall time (P99), {share:.3g} % of the dilated base RTT"
    return f"{name}: {lateness.count} {'probes' if is_probed else 'frames sent'}, {late}{_since(session, name)}"


def _since(session: LiveSession, name: str) -> str:
    """Return since when a part was measured; an empty string if since the start of the NICs."""
    restarted_us = session.restarted_us(name) if name in session.switches else None
    return "" if restarted_us is None else f", since its start at {restarted_us:.1f} us"


def _outcome(result: RunResult, report: Path | None) -> str:
    facts = [result.unfinished_work or f"{result.flows.completed} of {result.flows.total} flows done"]
    if result.max_buffer_bytes is not None:
        facts.append(f"peak buffer {result.max_buffer_bytes / 1000:.0f} KB")
    if result.bts is not None:
        facts.append(f"{result.bts.sent} BTS sent")
    if result.flows.packets_resent:
        facts.append(f"{result.flows.packets_resent} packets sent again")
    lines = [", ".join(facts), f"{result.verdict}: {' '.join(result.verdict_reasons)}"]
    lines += [f"! {warning}" for warning in result.warnings]
    return "\n".join(lines if report is None else [*lines, f"report: {report}"])


VERBS = {
    "fidelity": Verb(("",), "shows lateness, packet loss and the verdict since the NICs started", fidelity),
    "scenario": Verb(
        ("SCENARIO [SETTING...]",),
        "runs a scenario on this network, with a report; SETTING is a scale or key=value",
        scenario,
    ),
}
