# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""BMv2 JSON to the typed form: one module a section of the document."""
