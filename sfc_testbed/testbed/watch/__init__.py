# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of an active run: its server, the stream of measurements, and the runner's side of both."""
