# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""System calls that the event loop of a live run makes for every frame, in C if compiled and else in Python."""
