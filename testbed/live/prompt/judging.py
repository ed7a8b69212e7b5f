# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs that run a scenario on the network as it stands, and that say how far what was seen can be trusted."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analysis.results.fidelity import judge
from analysis.results.result import FlowCounts, RunResult
from hosts.io.summaries import LatenessSummary
from telemetry.late_bins import late_bins_file
from telemetry.queue_samples import samples_file
from testbed.execution.execute import execute
from testbed.execution.identity import run_identity
from testbed.interrupt import Interrupt
from testbed.live.prompt.terminal import Terminal
from testbed.live.prompt.verb import Verb
from testbed.live.prompt.words import VerbError
from testbed.live.run import run_on
from testbed.live.session.session import LiveSession
from testbed.plan.plan import RunPlan
from testbed.recording.counters import run_counters
from testbed.recording.outcome import ClockOutcome, Progress, Silent
from testbed.recording.recorder import Recorder
from testbed.targets.common.drops import DOWN

_RUNS = Path("runs")


def fidelity(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    sight = session.look()
    up = [each for each in session.switches.values() if each.is_up]
    parts = [each.statistics() for each in up]
    lines = [f"{part.name}: {_lateness(session, part.lateness)}" for part in parts]
    lines += [f"hosts: {_lateness(session, lateness)}" for lateness in sight.lateness]
    counters = run_counters(
        [host.statistics for host in sight.hosts.values()],
        [each.counts() for each in up],
        [*parts, *session.network.target.other_parts()],
        host_lateness=sight.lateness,
        host_spacing=sight.spacing,
        interrupted=False,
        wall_s=0.0,
    )
    messages = session.journal.messages()
    done = sum(message.is_done for message in messages)
    corrupted = sum(message.received is not None and message.received.corrupted for message in messages)
    verdict = judge(
        run_identity(session.plan.config),
        counters,
        FlowCounts(total=len(messages), completed=done, corrupted=corrupted, timeouts=0, packets_resent=0),
    )
    if lost := counters.drops.get(DOWN, 0):
        lines.append(f"{lost} packets were lost on links that were down")
    odd = "switch was stopped" if session.counts_dead_links else "link or switch was down"
    lines += [
        f"{verdict.level}, if nothing is on its way and no {odd} meanwhile:",
        *(f"  {each}" for each in verdict.reasons),
    ]
    return "\n".join(lines)


def scenario(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    scales = [word for word in words[1:] if "=" not in word]
    if len(scales) > 1:
        raise VerbError("usage: scenario SCENARIO [SCALE] [key=value...]")
    settings = [word for word in words[1:] if "=" in word]
    plan = session.plan_scenario(words[0], scales[0] if scales else "ci", settings)
    terminal.say(f"{len(plan.flows)} flows of {words[0]}, {plan.config.duration_ms:g} ms at most")
    if unfinished := session.journal.unfinished():
        terminal.say(f"messages under way end unfinished: {len(unfinished)} (`wait` first to let them finish)")
    with session.emptied():
        stored = execute(plan, _RUNS, Silent(), _on(session))
    return _told(stored.result, stored.report)


class _on:
    """The clock of a run on the session's network."""

    def __init__(self, session: LiveSession) -> None:
        self._session = session

    def __call__(
        self, plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt
    ) -> ClockOutcome:
        switches = list(self._session.switches.values())
        network = replace(self._session.network, plan=plan, logs=folder / "logs", switches=switches)
        began_s = time.perf_counter()
        outcome = run_on(network, folder, recorder, progress, interrupt, began_s=began_s, programs=True)
        for each in switches:  # they went on writing where they had begun to
            for name in (samples_file(each.name), late_bins_file(each.name)):
                if (self._session.network.logs / name).exists():  # BMv2 tells nothing of its lateness over time
                    shutil.copy(self._session.network.logs / name, network.logs / name)
        return outcome


def _lateness(session: LiveSession, lateness: LatenessSummary | None) -> str:
    if lateness is None or not lateness.count:
        return "nothing was sent, so no lateness"
    rtt_ns = session.dilation.wall_ns(session.plan.transport.base_rtt_ns)
    share = 100 * lateness.p99_ns / rtt_ns
    late = f"late by {lateness.p99_ns / 1e6:.3g} ms (P99), {share:.2g} % of the dilated base RTT"
    return f"{lateness.count} departures, {late}"


def _told(result: RunResult, report: Path | None) -> str:
    seen = [f"{result.flows.completed} of {result.flows.total} flows done"]
    if result.max_buffer_bytes is not None:
        seen.append(f"fullest buffer {result.max_buffer_bytes / 1000:.0f} KB")
    if result.bts is not None:
        seen.append(f"{result.bts.sent} BTS sent")
    lines = [", ".join(seen), f"{result.verdict}: {' '.join(result.verdict_reasons)}"]
    return "\n".join(lines if report is None else [*lines, f"report: {report}"])


VERBS = {
    "fidelity": Verb(("",), "how late hosts and switches were so far, what was lost, and the verdict", fidelity),
    "scenario": Verb(
        ("SCENARIO [SETTING...]",),
        "runs a scenario on this network as it stands, with a report (SCALE, key=value)",
        scenario,
    ),
}
