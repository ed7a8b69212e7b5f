# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Many runs: the one engine behind sweeps and reproductions."""
