# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Two controllers of one switch with finsy's default election id: `finsy_backup.py ADDRESS`."""

import asyncio
import sys

import finsy as fy

DEVICE_ID = 3


async def main(address: str) -> None:
    options = fy.SwitchOptions(device_id=DEVICE_ID)
    async with fy.Switch("first", address, options) as first, fy.Switch("second", address, options) as second:
        print(f"first {first.is_primary}, second {second.is_primary}")


asyncio.run(main(sys.argv[1]))
