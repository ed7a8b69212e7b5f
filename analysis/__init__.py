# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Analysis: from the traces and counters of a run to metrics, a verdict, result.json, plots and a report page.

Everything here is a function of what is on disk or handed in. It runs nothing and knows no host, switch or scenario.
"""
