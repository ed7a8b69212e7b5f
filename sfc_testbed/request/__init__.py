# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Requests of runs: a run's options, schemes and settings, how words become values, and config.json.

The package plans and starts nothing. It is below hosts, scenarios and the testbed, which take their options from it.
"""
