# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tools of the benchmarks: figures, C programs, networks, frames, and the search for a lossless rate."""
