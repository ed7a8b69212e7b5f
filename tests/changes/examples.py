# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""An example of each kind of change in the table of CONTRIBUTING.md."""

from __future__ import annotations

from tests.changes.change import Change, mininet, p4c

_MAKE_P4 = ("python", "-m", "tools.compile_p4", "&&")
_RUN = ("python", "runner.py", "run")
_TINY = ("--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000", "--json", "--out", "out")

CONGESTION_CONTROL = Change(
    "congestion control",
    {
        "hosts/transport/congestion/by_delay.py": '''"""Halves the window when the one-way delay is long."""

from sfc_testbed.hosts.transport.congestion.base import AckSample, CongestionControl


class ByDelay(CongestionControl):
    """Reduces the window to half a BDP while the one-way delay exceeds the base RTT."""

    __slots__ = ()

    wants_delay = True

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        assert sample.one_way_delay_ns is not None
        is_long = sample.one_way_delay_ns > self.path.base_rtt_ns
        self.window_bytes = max(1_000, self.path.bdp_bytes // (2 if is_long else 1))
'''
    },
    {
        "hosts/transport/congestion/__init__.py": {'        "hpcc":': '        "by-delay": "by_delay:ByDelay",\n'},
        "sfc_testbed/request/schemes.py": {
            '    RateControl("hpcc"': '    RateControl("by-delay", "by delay", {"congestion": "by-delay"}),\n'
        },
    },
    (*_RUN, "incast", "--scheme", "sfc+by-delay", *_TINY),
    r'"scheme": "sfc\+by-delay"',
    contract=("tests/hosts/transport/test_transport_contract.py", "-k", "by-delay"),
)

FLOW_CONTROL = Change(
    "flow control",
    {
        "hosts/transport/flow_control/doubled.py": '''"""SFC with pauses twice as long as the BTS requests."""

from sfc_testbed.hosts.transport.flow_control.sfc import SourceFlowControl
from sfc_testbed.wire.bts import BackToSender


class Doubled(SourceFlowControl):
    """Pauses flows longer than SFC."""

    __slots__ = ()

    def on_signal(self, signal: BackToSender, pause_ns: int, now_ns: int) -> None:
        super().on_signal(signal, 2 * pause_ns, now_ns)
'''
    },
    {
        "hosts/transport/flow_control/__init__.py": {'        "onramp":': '        "doubled": "doubled:Doubled",\n'},
        "sfc_testbed/request/schemes.py": {
            '    Scheme("sfc",': (
                '    Scheme("sfc-2", "long", _INGRESS_AND_CACHE, {"flow_control": "doubled", **_IRN}),\n'
            )
        },
    },
    # The default incast is larger than Q_th, so that switches send BTS.
    (*_RUN, "incast", "--scheme", "sfc-2", "--clock", "virtual", "--json", "--out", "out"),
    r'(?s)"scheme": "sfc-2".*"bts": \{[^}]*"sent": [1-9]',
    contract=("tests/hosts/transport/test_transport_contract.py", "-k", "doubled"),
)

LOSS_RECOVERY = Change(
    "loss recovery",
    {
        "hosts/transport/loss_recovery/hasty.py": '''"""IRN with half of its cap on packets in flight."""

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.loss_recovery.irn import Irn, IrnParameters


class Hasty(Irn):
    """IRN with the same timeouts and half of the cap."""

    __slots__ = ()

    def __init__(self, parameters: IrnParameters, path: PathContext, rto_ns: int, first_index: int) -> None:
        super().__init__(parameters, path, rto_ns, first_index)
        self._cap_packets = max(1, self._cap_packets // 2)
'''
    },
    {
        "hosts/transport/loss_recovery/__init__.py": {'        "irn":': '        "hasty": "hasty:Hasty",\n'},
        "sfc_testbed/request/schemes.py": {
            '    Scheme("irn",': '    Scheme("hasty", "IRN, hasty", transport={"loss_recovery": "hasty"}),\n'
        },
    },
    (*_RUN, "incast", "--scheme", "hasty", *_TINY),
    '"scheme": "hasty"',
    contract=("tests/hosts/transport/test_transport_contract.py", "-k", "hasty"),
)

HOST_LOAD_BALANCING = Change(
    "load balancing of hosts",
    {
        "hosts/transport/load_balancing/halves.py": '''"""Two entropies for each flow, in turn."""

from sfc_testbed.hosts.transport.load_balancing.base import LoadBalancing


class Halves(LoadBalancing):
    """A sender that alternates between its first entropy and the next one."""

    __slots__ = ()

    reorders = True

    def entropy(self, index: int, in_flight: int, now_ns: int) -> int:
        """Return one of two entropies."""
        return self.first_entropy ^ index & 1
'''
    },
    {
        "hosts/transport/load_balancing/__init__.py": {'        "plb":': '        "halves": "halves:Halves",\n'},
        "sfc_testbed/request/load_balancing.py": {
            '    _in_hosts("plb",': '    _in_hosts("halves", "hosts alternate between two UDP source ports", {}),\n'
        },
    },
    (*_RUN, "incast", "--scheme", "irn", "--load-balancing", "halves", *_TINY),
    '"load_balancing": "halves"',
    contract=("tests/hosts/transport/test_transport_contract.py", "-k", "halves"),
)

SCHEME = Change(
    "scheme",
    {},
    {
        "sfc_testbed/request/schemes.py": {
            '    Scheme("sfc",': '    Scheme("cache-only", "cache", {"pause_cache": True}, _SFC),\n'
        }
    },
    (*_RUN, "incast", "--scheme", "cache-only", *_TINY),
    '"scheme": "cache-only"',
    contract=("tests/request/test_schemes.py", "-k", "cache-only"),
)

SCENARIO = Change(
    "scenario",
    {
        "scenarios/pairs.py": '''"""Every host of the first half sends to its partner in the second."""

from __future__ import annotations

import numpy as np

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import Scale, Scenario, Workload
from sfc_testbed.topologies.model import Topology


class Pairs(Workload):
    """One message per pair of hosts."""

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        names = [host.name for host in topology.hosts]
        half = len(names) // 2
        return [FlowRequest(a, b, 20_000, 0, "pair") for a, b in zip(names[:half], names[half:], strict=False)]


SCENARIO = Scenario("pairs", "disjoint pairs of hosts", Pairs, {"ci": Scale("clos")})
'''
    },
    {
        "scenarios/catalogue.py": {
            '        "datacentre": "datacentre:SCENARIO",\n': '        "pairs": "pairs:SCENARIO",\n'
        }
    },
    (*_RUN, "pairs", "--clock", "virtual", "--json", "--out", "out"),
    '"scenario": "pairs"',
)

EXPERIMENT = Change(
    "experiment",
    {
        "sfc_testbed/reproduction/experiments/lone_incast.py": '''"""Does SFC keep a small incast from dropping?"""

from __future__ import annotations

from sfc_testbed.reproduction.model.claims import Bound
from sfc_testbed.reproduction.model.experiment import Experiment, Grid
from sfc_testbed.reproduction.model.panels import CurveSelection, over_time, paper_figure
from sfc_testbed.reproduction.model.quantities import DROPS
from sfc_testbed.scenarios.incast import SCENARIO

EXPERIMENT = Experiment(
    title="A lone incast",
    paper="none",
    scenario=SCENARIO,
    grids={"ci": Grid(("sfc",))},
    claims=(Bound("SFC drops nothing", "nothing", DROPS, "sfc", at_most=0.0),),
    figure=paper_figure("Buffer over time.", over_time("incast", CurveSelection({"sfc": "SFC"}))),
)
'''
    },
    {
        "sfc_testbed/reproduction/catalogue.py": {
            "from sfc_testbed.reproduction.model.experiment": (
                "from sfc_testbed.reproduction.experiments import lone_incast\n"
            ),
            "        signaling.EXPERIMENT,\n": "        lone_incast.EXPERIMENT,\n",
        }
    },
    ("python", "runner.py", "reproduce", "incast", "--scale", "ci", "--json", "--strict", "--out", "out"),
    '"title": "A lone incast"',
)

TOPOLOGY = Change(
    "topology",
    {},
    {
        "topologies/shapes.py": {
            "SHAPES: Table": '''class Line(Shape):
    """Three switches in a row, each with a host."""

    name: ClassVar[str] = "line"

    def build(self) -> Topology:
        builder = self.new_builder()
        switches = [builder.add_switch(f"s{number}", has_hosts=True) for number in (1, 2, 3)]
        for switch in switches:
            builder.add_host(switch, self.host_rate_bps, self.host_delay_ns)
        for left, right in zip(switches, switches[1:], strict=False):
            builder.add_link(left, right, self.host_rate_bps, self.host_delay_ns)
        return builder.build()


''',
            "Dumbbell, Star)\n": "Line, ",
        }
    },
    (*_RUN, "incast", "--topology", "line", *_TINY),
    '"completed": 2',
    contract=("tests/topologies/test_shapes.py", "-k", "line"),
)

TARGET = Change(
    "switch target",
    {
        "sfc_testbed/testbed/targets/patient.py": '''"""A switch target that runs softswitch under another name."""

from __future__ import annotations

from collections.abc import Sequence

from sfc_testbed.testbed.targets.softswitch import SoftswitchTarget


class PatientTarget(SoftswitchTarget):
    """softswitch with an additional note in the result."""

    def notes(self) -> Sequence[str]:
        return ("The switches were patient.",)
'''
    },
    {
        "sfc_testbed/testbed/plan/switch_targets.py": {
            '        SwitchTarget("soft"': ('        SwitchTarget("patient"),\n')
        },
        "sfc_testbed/testbed/targets/table.py": {
            "from sfc_testbed.testbed.targets.softswitch": (
                "from sfc_testbed.testbed.targets.patient import PatientTarget\n"
            ),
            '"soft": SoftswitchTarget': '"patient": PatientTarget, ',
        },
    },
    (*_RUN, "incast", "--switch", "patient", "--dilation", "20000", *_TINY[2:]),
    "The switches were patient.",
    needs=(mininet,),
)

P4_COUNTER = Change(
    "P4 counter",
    {},
    {
        "sfc_testbed/wire/counters.py": {
            "    PFC_UNDERFLOW = 1": '    QUEUE_JOINED = 2, Role.NEUTRAL, "a packet was let into a queue", "bts.sent"\n'
        },
        "switch-bmv2/include/control/queue/queue_state.p4": {
            "        join();\n": "        queue_events.count((bit<32>) (bit<EVENT_BITS>) queue_event_t.queue_joined);\n"
        },
    },
    (*_MAKE_P4, *_RUN, "incast", "--scheme", "irn", *_TINY),
    r'"sent": [1-9]',
    needs=(p4c,),
)

P4_MECHANISM = Change(
    "P4 mechanism",
    {
        "switch-bmv2/include/control/forwarding/size_limit.p4": """// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Drops frames that are longer than a limit.
#ifndef SFC_SIZE_LIMIT_P4
#define SFC_SIZE_LIMIT_P4

control SizeLimit(inout metadata_t meta, inout standard_metadata_t std) {
    Drop() drop;
    bytes_t most_bytes = 0;

    action limit(bytes_t bytes) {
        most_bytes = bytes;
    }

    action no_limit() {
        most_bytes = 0xffffffff;
    }

    table size_limit {
        actions = { @defaultonly limit; @defaultonly no_limit; }
        default_action = no_limit();
    }

    apply {
        size_limit.apply();
        if (meta.accounted_bytes > most_bytes) {
            drop.apply(meta, std, std.egress_spec, drop_reason_t.malformed);
        }
    }
}

#endif
"""
    },
    {
        "switch-bmv2/sfc.p4": {
            '#include "include/control/queue/queue_state.p4"': '#include "include/control/forwarding/size_limit.p4"\n',
            "    QueueRead() queue_read;": "    SizeLimit() size_limit;\n",
            "        if (meta.is_dropped == 0) {\n            queue_read": "        size_limit.apply(meta, std);\n",
        },
        "sfc_testbed/testbed/control_plane/settings.py": {
            "    int_telemetry: bool": '    most_bytes: Bytes | None = Field(None, description="Limit of a frame.")\n'
        },
        "sfc_testbed/testbed/control_plane/features.py": {
            "    if settings.sfc_p or settings.pfc or settings.bfc_queues is not None:": (
                "    if settings.most_bytes is not None:\n"
                '        yield TableEntry("size_limit", "limit", parameters=(settings.most_bytes,))\n'
            )
        },
    },
    (*_MAKE_P4, *_RUN, "incast", "--scheme", "irn", "--set", "switch.most_bytes=500", "--duration", "0.2", *_TINY),
    '"malformed": ',
    needs=(p4c,),
)

LOAD_BALANCING = Change(
    "load balancing of switches",
    {
        "switch-bmv2/include/control/forwarding/turns.p4": """// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// The packets of a switch take the members of their ECMP groups in turn: consecutive hashes are spread evenly.
#ifndef SFC_TURNS_P4
#define SFC_TURNS_P4

control Turns(in metadata_t meta, out bit<16> member) {
    register<bit<32>>(1) last_turn;
    bit<32> turn = 0;

    apply {
        last_turn.read(turn, 0);
        last_turn.write(0, turn + 1);
        member = member_of(turn, meta);
    }
}

#endif
"""
    },
    {
        "switch-bmv2/sfc.p4": {
            '#include "include/control/forwarding/load_balancing.p4"': (
                '#include "include/control/forwarding/turns.p4"\n'
            )
        },
        "switch-bmv2/include/control/forwarding/load_balancing.p4": {
            "    spray = 1,": "    turns = 7,\n",
            "    RoundRobin() round_robin;": "    Turns() turns;\n",
            "    action by_turn() {": "    action by_one_turn() {\n        choice = choice_t.turns;\n    }\n\n",
            "            @defaultonly by_turn;": "            @defaultonly by_one_turn;\n",
            "            } else if (choice == choice_t.round_robin) {": (
                "            } else if (choice == choice_t.turns) {\n                turns.apply(meta, member);\n"
            ),
        },
        "sfc_testbed/testbed/control_plane/settings.py": {'"round-robin", "flowlet"': '"turns", '},
        "sfc_testbed/testbed/control_plane/load_balancing.py": {
            "def _round_robin(": (
                "def _turns(\n"
                "    topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation\n"
                ') -> Iterator[Command]:\n    yield TableEntry(_TABLE, "by_one_turn")\n\n\n'
            ),
            '    "round-robin": _round_robin,': '    "turns": _turns,\n',
        },
        "sfc_testbed/request/load_balancing.py": {
            '    _in_switches("round-robin"': '    _in_switches("turns", "packets of a switch take turns"),\n'
        },
    },
    (
        *(*_MAKE_P4, *_RUN, "hadoop-50", "--scheme", "sfc", "--duration", "0.3", "--load-balancing", "turns"),
        *("--clock", "virtual", "--json", "--out", "out"),
    ),
    r'"jain_index": 0\.99',  # equal links are used equally; without the change, the index is lower
    needs=(p4c,),
)

PROMPT_VERB = Change(
    "verb of the prompt",
    {},
    {
        "sfc_testbed/testbed/prompt/looking.py": {
            "\nVERBS = {": """
def roles(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return "\\n".join(f"{name} forwards" for name in session.switches)

""",
            '    "queues": Verb(': '    "roles": Verb(("",), "what each switch does", roles),\n',
        },
        "tests/testbed/prompt/test_prompt_live.py": {'    ("nodes", ': '    ("roles", "tor1 forwards"),\n'},
        "docs/prompt.md": {"| `queues [SWITCH]`": "| `roles` | what each switch does |\n"},
    },
    (
        *("python", "-c", "open('lines', 'w').write('help roles\\nroles\\n')", "&&"),
        *("python", "runner.py", "cli", "--topology", "star", "--set", "topology.hosts=2", "--exec", "lines"),
    ),
    r"(?s)what each switch does.*s1 forwards",
    needs=(mininet,),
)

RUN_OPTION = Change(
    "option of run",
    {},
    {
        "sfc_testbed/cli/verbs/run.py": {
            "    json: Json = False,\n": "    payload: int | None = None,\n",
            "        hosts=hosts,\n": "        payload_bytes=payload,\n",
        },
        "sfc_testbed/request/spec.py": {
            "    background: str | None = option": '    payload_bytes: int | None = option("--payload")\n'
        },
        "sfc_testbed/testbed/plan/plan.py": {
            "    traffic = _traffic(": "    if spec.payload_bytes is not None:\n"
            '        settings.transport["payload_bytes"] = spec.payload_bytes\n'
        },
    },
    (
        *(*_RUN, "incast", "--payload", "500", *_TINY, "&&"),
        *("python", "-c", "from pathlib import Path; print(next(Path('out').glob('*/config.json')).read_text())"),
    ),
    r'(?s)"payload_bytes": 500.*"payload_bytes": 500.*--payload 500',
)

_PRINT = "import polars; flows = polars.read_parquet('out/*/flows.parquet')"
_OLDER_RUNS = (
    "tests/telemetry",
    "tests/cli/verbs/test_older_runs.py",
    "-k",
    "columns or tables or journal or older_release",
)
"""Tests of the columns, of the page that lists them, of the journal, and of runs without the new figure."""

# All kinds of values: an integer, a time that is null for some flows, and a text.
FIGURE_OF_A_FLOW = Change(
    "figure of a flow",
    {},
    {
        "sfc_testbed/telemetry/figures.py": {
            "    timeouts: Annotated": "    packets_marked: Annotated[int, "
            'Meaning("acknowledgements that report an ECN mark", "packets")] = 0\n'
            '    first_mark_us: Annotated[float | None, Meaning("time of the first mark; null: none", "µs")] = None\n'
            '    last_notice: Annotated[str | None, Meaning("last notice of the network; null: none")] = None\n'
        },
        "hosts/transport/sender.py": {
            "        if negative and self._first_end != NEVER:": "        if marked and self._transmissions:\n"
            "            figures = self._transmissions[0].figures\n"
            "            figures.packets_marked += 1\n"
            "            if figures.first_mark_us is None:\n"
            "                figures.first_mark_us = self._clock.instant_us(arrival_ns)\n"
            '            figures.last_notice = "mark"\n'
        },
    },
    (
        *("env", "SFC_TESTBED_INTERPRETED=1", *_RUN, "incast", "--scheme", "irn+dctcp", "--clock", "virtual"),
        *("--set", "degree=8", "--set", "message_bytes=250000", "--json", "--out", "out", "&&"),
        *("python", "-m", "sfc_testbed.telemetry.document", "&&"),
        *("python", "-c", f"{_PRINT}; print(flows['packets_marked', 'first_mark_us', 'last_notice'].max().rows())"),
    ),
    r"^\[\([1-9]\d*, [1-9]\d*\.\d+, 'mark'\)\]",
    contract=_OLDER_RUNS,
)

_CLAIM = """\
import sfc_testbed as sfc

CLAIMS = [sfc.Bound("two flows", "2", "number of flows", "sfc", at_least=2, at_most=2)]
"""
_PAGE = (
    *(*_RUN, "incast", "--scheme", "irn", *_TINY, "&&"),
    *("python", "-c", "from pathlib import Path; print(next(Path('out').glob('*/report.html')).read_text())"),
)

PLOT_OF_A_PAGE = Change(
    "plot in reports of runs",
    {},
    {
        "sfc_testbed/analysis/report/plots.py": {
            "_DISTRIBUTIONS = (": """def _starts(run: Run) -> Plot:
    from sfc_testbed.analysis.plots.description import TIME, Axis, Line, Plot, PlotPanel, highest_fitted
    from sfc_testbed.analysis.plots.palette import numbered_looks

    starts_us = run.flows["start_us"].sort().to_numpy()
    look, numbers = numbered_looks(1)[0], run.flows["flow_id"].rank().to_numpy()
    axes = Axis(TIME, 0, highest_fitted([starts_us])), Axis("Flows", 0, highest_fitted([numbers]))
    return Plot([PlotPanel("Flows that have started", *axes, [Line("flows", look, starts_us, numbers, "after")])])


def _start_rows(run: Run) -> pl.DataFrame:
    return run.flows.select("flow_id", "start_us")


""",
            '        "goodput": PagePlot(': (
                '        "starts": PagePlot("When flows start.", _starts, data={"starts.csv": _start_rows}),\n'
            ),
        }
    },
    _PAGE,
    r"(?s)When flows start\..*starts\.csv",
)

SECTION_OF_A_PAGE = Change(
    "section of a page",
    {},
    {
        "sfc_testbed/analysis/report/sections.py": {
            "def _jobs(": """def _seed(run: Run) -> DataTable:
    return DataTable("Seed", ("of", "value"), [("workload", str(run.result.seed))])


""",
            '        "physics": Section(_physics),\n': '        "seed": Section(_seed),\n',
        }
    },
    _PAGE,
    "<h2>Seed</h2>",
)

QUANTITY = Change(
    "quantity",
    {},
    {
        "sfc_testbed/reproduction/model/quantities.py": {
            "DROPS = Quantity(": 'FLOWS = Quantity("number of flows", lambda run: float(run.flows.height), _COUNT)\n'
        }
    },
    (
        *("python", "-c", f"open('claims.py', 'w').write({_CLAIM!r})", "&&"),
        *("python", "runner.py", "compare", "incast", "--schemes", "irn,sfc", *_TINY, "--claims", "claims.py"),
        "--strict",
    ),
    '"measured": "2 .*"',
)

EXPORT_FORMAT = Change(
    "export format",
    {},
    {
        "sfc_testbed/testbed/execution/export_formats.py": {
            "EXPORT_FORMATS: Table": """def _csv(run: Path, out: Path | None) -> Exported:
    import polars as pl

    path = (out or run) / "flows.csv"
    pl.read_parquet(run / "flows.parquet").write_csv(path)
    return Exported([path])


""",
            '        "hpcc": ExportFormat(': '        "csv": ExportFormat("flows as CSV", _csv),\n',
        }
    },
    (
        *(*_RUN, "incast", "--scheme", "irn", *_TINY[:-1], "made", "&&"),
        *("python", "-c", "import pathlib; next(pathlib.Path('made').iterdir()).rename('a-run')", "&&"),
        *("python", "runner.py", "export", "a-run", "--format", "csv"),
    ),
    "a-run/flows.csv",
)

COLLECTIVE_ALGORITHM = Change(
    "algorithm of a collective",
    {
        "scenarios/traffic/collectives/flat.py": '''"""A broadcast in one step."""

from __future__ import annotations

from sfc_testbed.scenarios.traffic.collectives.schedule import Call, CollectiveAlgorithm, Schedule


class FlatBroadcast(CollectiveAlgorithm):
    """Rank 0 sends the buffer to all other ranks at once."""

    has_chunks = False

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Send the buffer to each rank."""
        for rank in range(1, call.ranks):
            schedule.send(0, rank, call.size_bytes, step=1)
'''
    },
    {
        "scenarios/traffic/collectives/table.py": {
            "from sfc_testbed.scenarios.traffic.collectives.pipeline": (
                "from sfc_testbed.scenarios.traffic.collectives.flat import FlatBroadcast\n"
            ),
            '"double-binary-tree": TreeBroadcast': '"flat": FlatBroadcast, ',
        }
    },
    (
        *(*_RUN, "collective", "--set", "collective=broadcast", "--set", "algorithm=flat"),
        *("--set", "ranks=3", "--set", "bytes=10000"),
    ),
    r"broadcast \(flat\), 3 ranks",
)

LOADER = Change(
    "loader of a flow file",
    {
        "scenarios/traffic/arrow_files.py": '''"""Reads flow lists with lines such as `h1 -> h2 20000`."""

from __future__ import annotations

from collections.abc import Sequence

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.traffic.hpcc_files import LoadedFlows


def is_arrow_file(lines: Sequence[str]) -> bool:
    """Return whether the first line has an arrow."""
    return bool(lines) and " -> " in lines[0]


def parse_arrows(lines: Sequence[str]) -> LoadedFlows:
    """Parse the lines."""
    words = [(number, line.split()) for number, line in enumerate(lines, 1)]
    return LoadedFlows(((number, FlowRequest(w[0], w[2], int(w[3]), 0, "arrow")) for number, w in words), ())
'''
    },
    {
        "scenarios/traffic/flow_file.py": {
            "from sfc_testbed.scenarios.traffic.hpcc_files": (
                "from sfc_testbed.scenarios.traffic.arrow_files import is_arrow_file, parse_arrows\n"
            ),
            '    "HPCC and ConWeave': '    "arrows": Loader(is_arrow_file, parse_arrows),\n',
        }
    },
    (
        *("python", "-c", "open('list.txt', 'w').write('h1 -> h2 20000\\nh3 -> h2 20000\\n')", "&&"),
        *(*_RUN, "--flows", "list.txt", "--clock", "virtual", "--json", "--out", "out"),
    ),
    '"arrow": ',
)

NETWORK_FORMAT = Change(
    "format of a network file",
    {
        "topologies/files/dashes.py": '''"""Network files with lines such as `h1 - s1`, in which hosts begin with h."""

from __future__ import annotations

from sfc_testbed.topologies.files.description import DescribedLink, Description


def is_dashes(text: str) -> bool:
    """Whether the first line has a dash between spaces."""
    return " - " in text.partition("\\n")[0]


def read_dashes(text: str) -> Description:
    """Return the network of a file."""
    ends = [line.split(" - ") for line in text.splitlines()]
    names = dict.fromkeys(name for pair in ends for name in pair)
    hosts = [name for name in names if name.startswith("h")]
    switches = [name for name in names if name not in hosts]
    return Description(hosts, switches, [DescribedLink(a, b) for a, b in ends], lambda number: number + 1)
'''
    },
    {
        "topologies/files/network.py": {
            "import hpcc, htsim": "import dashes\nfrom sfc_testbed.topologies.files ",
            '    "htsim\'s .topo": ': '    "dashes": (dashes.is_dashes, dashes.read_dashes),\n',
        }
    },
    (
        *("python", "-c", "open('net.dash', 'w').write('h1 - s1\\ns1 - s2\\ns2 - h2\\n')", "&&"),
        *(*_RUN, "incast", "--topology", "net.dash", "--set", "placement=remote", "--set", "degree=1"),
        *(*_TINY[:2], *_TINY[4:]),
    ),
    '"completed": 1',
)

FIGURE_AT_THE_RECEIVER = Change(
    "figure of a flow at its receiver",
    {},
    {
        "sfc_testbed/telemetry/figures.py": {
            "    corrupted: Annotated": "    received_bytes: Annotated[int | None, "
            'Meaning("bytes in order at the receiver", "B", bits=64)] = None\n'
            '    last_byte_us: Annotated[float | None, Meaning("time of the last byte", "µs")] = None\n'
        },
        "hosts/transport/receiver.py": {
            "corrupted=corrupted)": "received_bytes=self._bytes, last_byte_us=self._clock.instant_us(now_ns), "
        },
    },
    (
        *("env", "SFC_TESTBED_INTERPRETED=1", *_RUN, "incast", *_TINY, "&&"),
        *("python", "-m", "sfc_testbed.telemetry.document", "&&"),
        *("python", "-c", f"{_PRINT}; print(flows['received_bytes', 'last_byte_us'].max().rows())"),
    ),
    r"^\[\(20000, [1-9]\d*\.\d+\)\]",
    contract=_OLDER_RUNS,
)

FIGURE_OF_A_MESSAGE = Change(
    "figure of a message",
    {},
    {
        "sfc_testbed/telemetry/figures.py": {
            "    ideal_fct_us: Annotated": "    packets: Annotated[int | None, "
            'Meaning("packets of 1000 B", "packets")]\n'
        },
        "sfc_testbed/testbed/flows/planned.py": {
            '        "ideal_fct_us":': '        "packets": -(-flows.size_bytes // 1000),\n'
        },
    },
    (
        *("env", "SFC_TESTBED_INTERPRETED=1", *_RUN, "incast", *_TINY, "&&"),
        *("python", "-m", "sfc_testbed.telemetry.document", "&&"),
        *("python", "-c", f"{_PRINT}; print(flows['packets'].to_list())"),
    ),
    r"^\[20, 20\]",
    contract=_OLDER_RUNS,
)

PAUSE_COMPUTATION = Change(
    "pause computation",
    {},
    {
        "switch-bmv2/include/control/bts/pause_time.p4": {
            "        pause_us = (duration_us_t) drain_us;": "        drain_us = drain_us + drain_us;\n"
        }
    },
    (*_MAKE_P4, *_RUN, "incast", "--scheme", "sfc", *_TINY),
    '"scheme": "sfc"',
    needs=(p4c,),
)

CHANGES = (
    CONGESTION_CONTROL,
    FLOW_CONTROL,
    LOSS_RECOVERY,
    SCHEME,
    SCENARIO,
    EXPERIMENT,
    TOPOLOGY,
    TARGET,
    P4_COUNTER,
    P4_MECHANISM,
    LOAD_BALANCING,
    HOST_LOAD_BALANCING,
    PROMPT_VERB,
    RUN_OPTION,
    FIGURE_OF_A_FLOW,
    PLOT_OF_A_PAGE,
    SECTION_OF_A_PAGE,
    QUANTITY,
    EXPORT_FORMAT,
    COLLECTIVE_ALGORITHM,
    LOADER,
    NETWORK_FORMAT,
    FIGURE_AT_THE_RECEIVER,
    FIGURE_OF_A_MESSAGE,
    PAUSE_COMPUTATION,
)
