# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The benchmarks, one module each; bench/catalogue.py lists them."""
