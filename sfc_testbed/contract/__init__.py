# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The contracts that every algorithm, topology and workload must satisfy, the testbed's own and those of users.

A check raises `Broken` with a sentence about what is missing. The tests of the testbed and `check FILE.py` run the same
checks.
"""
