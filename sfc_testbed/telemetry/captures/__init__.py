# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files with captured frames: pcapng, which the testbed and Wireshark write, and pcap, which tcpdump writes."""
