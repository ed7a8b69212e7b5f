# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Validation: makes live runs and virtual runs of the same flows, compares them and stores the comparison."""
