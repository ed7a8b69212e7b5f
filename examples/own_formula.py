# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Is the simulated incast as fast as a formula says?

    .venv/bin/python examples/own_formula.py

The receiver's link carries the frames of all messages one after the other, and the first frame and the last
acknowledgment need a round trip together: N * frames * bytes / rate + RTT.
"""

import sfc_testbed as sfc

MESSAGE_BYTES, RATE_BPS = 250_000, 100e9
PAYLOAD_BYTES, HEADER_BYTES = 1_000, 58  # of a frame

for senders in (2, 4, 8):
    run = sfc.run("incast", "irn", settings={"degree": senders, "message_bytes": MESSAGE_BYTES}, quiet=True)
    measured_us = max(run.flows["finish_us"]) - min(run.flows["start_us"])
    frames = senders * MESSAGE_BYTES / PAYLOAD_BYTES
    formula_us = frames * (PAYLOAD_BYTES + HEADER_BYTES) * 8 / RATE_BPS * 1e6 + run.result.base_rtt_us
    print(f"{senders} senders: measured {measured_us:.1f} us, formula {formula_us:.1f} us")
