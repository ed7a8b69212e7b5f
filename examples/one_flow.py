# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Why was one message slow? Its history: window, rate, round trips and pauses.

    .venv/bin/python examples/one_flow.py

`sfc-testbed run ... --pcap flow:1` and `sfc-testbed trace 1` show the same flow packet by packet.
"""

import polars as pl

import sfc_testbed as sfc

run = sfc.run("incast", "sfc+hpcc", settings={"degree": 8, "transport.cc_trace_rtt": 1}, quiet=True)

slowest = run.flows.sort("slowdown", descending=True).row(0, named=True)
number = slowest["flow_id"]
print(f"flow {number} from {slowest['src']} to {slowest['dst']}: {slowest['slowdown']:.2f} times its ideal time")
print(f"{slowest['fct_us']:.1f} us in all, {slowest['paused_us']:.1f} us of it paused, {slowest['timeouts']} timeouts")

with pl.Config(tbl_rows=20, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
    print("signals that it received:")
    print(run.signals.filter(flow_id=number).select("received_us", "switch", "cause", "pause_us", "obeyed"))
    print("its congestion control, at most once per round trip:")
    print(run.congestion.filter(flow_id=number).select("time_us", "cwnd_bytes", "rtt_us"))
