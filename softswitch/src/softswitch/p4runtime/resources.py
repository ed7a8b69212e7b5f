# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Values of counters and rates of meters, between messages and cells of the switch."""

from __future__ import annotations

from typing import Any

from grpc import StatusCode

from softswitch.codegen.ir.blocks import Array
from softswitch.control import Commands
from softswitch.operations import arrays
from softswitch.operations.arrays import Count, Rate
from softswitch.p4runtime import messages
from softswitch.p4runtime.status import invalid, refuse, refusing, unimplemented

_US_PER_S = 1_000_000
_MOST_BURST_UNITS = (1 << 32) - 1
_COUNTS_NO_COLORS = "meters do not count the packets of each color"


def counter_data(control: Commands, counter: Array, index: int) -> Any:
    """Return the value of a counter's cell."""
    with refusing():
        count = arrays.read_counter(control, counter, index)
    return messages.v1.CounterData(packet_count=count.packets, byte_count=count.bytes)


def set_counter_data(control: Commands, counter: Array, index: int, data: Any) -> None:
    check_counter_data(data)
    with refusing():
        arrays.write_counter(control, counter, index, Count(data.packet_count, data.byte_count))


def check_counter_data(data: Any) -> None:
    if min(data.packet_count, data.byte_count) < 0:
        raise invalid(f"a counter of {data.packet_count} packets and {data.byte_count} bytes is below 0")


def meter_config(control: Commands, meter: Array, index: int) -> Any | None:
    """Return the rates of a meter's cell, or None if none are set."""
    with refusing():
        rates = arrays.read_rates(control, meter, index)
    if not rates:
        return None
    committed, peak = (round(rate.units_per_us * _US_PER_S) for rate in rates)
    return messages.v1.MeterConfig(cir=committed, cburst=rates[0].burst_units, pir=peak, pburst=rates[1].burst_units)


def set_meter_config(control: Commands, meter: Array, index: int, config: Any | None) -> None:
    """Set the rates of a meter's cell; without a config, every packet is green."""
    with refusing():
        if config is None:
            arrays.clear_rates(control, meter, index)
        else:
            arrays.set_rates(control, meter, index, rates_of(config))


def rates_of(config: Any) -> tuple[Rate, Rate]:
    """Return the committed and the peak rate of a config."""
    return (
        Rate(config.cir / _US_PER_S, config.cburst),
        Rate(config.pir / _US_PER_S, config.pburst),
    )


def check_meter_config(spec: Any, config: Any) -> None:
    """Raise Refusal for a config that the meter's type excludes or that the switch cannot store."""
    numbers = (config.cir, config.cburst, config.pir, config.pburst)
    if min(numbers) < 0:
        raise invalid("a rate or burst of a meter is below 0")
    if max(config.cburst, config.pburst) > _MOST_BURST_UNITS:
        refuse(StatusCode.OUT_OF_RANGE, f"a burst of a meter is above {_MOST_BURST_UNITS}")
    types = messages.config.MeterSpec
    if spec.type == types.SINGLE_RATE_THREE_COLOR and config.eburst:
        raise unimplemented("single-rate meters with an excess burst are not supported")
    if config.eburst:
        raise invalid("only single-rate three-color meters have an excess burst")
    if spec.type != types.TWO_RATE_THREE_COLOR and (config.cir, config.cburst) != (config.pir, config.pburst):
        raise invalid("a single-rate meter needs equal committed and peak rates and bursts")
    if config.cir > config.pir:
        raise invalid(f"the committed rate {config.cir} is above the peak rate {config.pir}")


def refuse_color_counts(message: Any, field: str) -> None:
    """Raise Refusal if a message sets or requests the counters of a meter's colors."""
    if message.HasField(field):
        raise unimplemented(_COUNTS_NO_COLORS)
