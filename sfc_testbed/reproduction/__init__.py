# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The paper's experiments: their runs, the check of the paper's claims against them, and the generated pages."""
