# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Translation of BMv2 JSON to C, by `generate.generate`. Importing this package alone loads no module of it."""
