# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Captured frames on disk: pcapng, which is ours and Wireshark's, and pcap, which tcpdump writes."""
