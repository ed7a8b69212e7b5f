# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads BMv2 JSON into the typed form: one module for each section of the document."""
