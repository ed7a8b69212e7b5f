# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Computes metrics, the verdict, result.json, plots and report pages from the traces and counters of a run.

The package only reads stored runs and its arguments. It starts no processes and does not depend on hosts, switches or
scenarios.
"""
