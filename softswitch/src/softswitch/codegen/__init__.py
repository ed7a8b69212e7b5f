# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Translates BMv2 JSON to C (`softswitch.codegen.generate`). This file imports nothing: the modules load slowly."""
