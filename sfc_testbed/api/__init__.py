# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The public interface: the functions and results behind `import sfc_testbed as sfc`, which the command line also uses.

`functions` has the functions and no slow imports. docs/api.md is the manual.
"""

from sfc_testbed.request.processor import check_before_use

check_before_use()
