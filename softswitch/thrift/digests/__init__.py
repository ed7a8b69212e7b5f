# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Sends a program's digests as notifications: batching and acknowledgement, and publishing to listeners."""
