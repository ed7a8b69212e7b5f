# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the translation of BMv2 JSON to C, and of the cache of built programs."""
