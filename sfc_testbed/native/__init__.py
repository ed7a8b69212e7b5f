# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The compilation of the host engine's Python sources to extension modules.

It is below the layers of the engine, because it is loaded before the first module that it replaces.
"""
