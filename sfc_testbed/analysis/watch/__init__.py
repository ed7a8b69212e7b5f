# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page that plays a run: its network and planned flows as a scene, and its measurements as chunks."""
