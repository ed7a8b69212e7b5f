# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What is compiled on this machine and cached: the cache itself, and the host engine's Python sources as extensions.

The lowest layer: it is there before the first module that it replaces is imported.
"""
