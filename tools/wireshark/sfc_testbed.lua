-- SPDX-License-Identifier: Apache-2.0
-- SPDX-FileCopyrightText: SFC Testbed contributors
--
-- Dissectors of Wireshark and tshark for the testbed's packets: Back-To-Sender (BTS), also as TCP signal, in-band telemetry
-- (INT) with RoCEv2 inside, and the model time of every packet. Formats and use: docs/wire-format.md. For Lua 5.2 to 5.4 (Wireshark 3.4
-- and later).
--
-- A capture's comment describes the conversion of wall times to model times. Wireshark gives a script no access to that
-- comment, but to the description of a packet's interface. Our captures have the same line in both
-- (sfc_testbed/telemetry/captures/clock.py).

-- These constants repeat sfc_testbed/wire/constants.py; a test compares them.
local ROCE_UDP_PORT = 4791
local BTS_UDP_PORT = 1674
local INT_UDP_PORT = 49792
local BTS_VERSION = 0
local BTS_PAYLOAD_BYTES = 18
local BTS_FRAME_BYTES = 60
local TCP_SIGNAL = 1
local TCP_HEADER_WORDS = 5
local CLASS_COUNT = 8
local INT_SHIM_BYTES = 4
local INT_RECORD_BYTES = 16
local INT_SLOT_BYTES = 8
local INT_MAX_HOPS = 5
local INT_FLAG_ECHO = 1
local INT_FLAG_STAMP = 2
local INT_FLAG_COMPACT = 4
local INT_FLAG_PATH = 8
local BTS_CAUSES =
    { [0] = "unknown", [1] = "queue", [2] = "cache", [3] = "estimator", [4] = "feedback", [5] = "sub_rtt" }
local UNKNOWN = "unknown" -- a BTS of the SFC prototype, which leaves the fields after the pause empty
local ETHERTYPE_IPV4 = 2048
local IP_PROTOCOL_TCP = 6
local FEEDBACK = "feedback" -- this cause requests no pause
local SUB_RTT = "sub_rtt" -- this cause requests no pause, and quotes the BTH of the data packet
local QUOTED_BTH_BYTES = 12
local SUB_RTT_UNIT_NS = 4
local STAMPS = 65536
local DSCP_MASK = 63

local LEAST_ROCE_BYTES = 16 -- BTH and ICRC
local WRAP_US = 4294967296

-- Units of a slot of the compact layout; sfc_testbed/wire/int_slots.py has the same.
local SENT_UNIT_BYTES = 128
local QUEUE_UNIT_BYTES = 80

---- Model time ----

local model_time = Proto("sfc_time", "SFC Testbed model time")
local time_fields = {
    now = ProtoField.double("sfc_time.model_us", "Model time (us)"),
    dilation = ProtoField.uint32("sfc_time.dilation", "Dilation"),
}
model_time.fields = time_fields
model_time.prefs.dilation = Pref.uint("Dilation", 0, "Dilation of captures that do not contain it; 0: unknown")

local frame_time = Field.new("frame.time_epoch")
local frame_since_first = Field.new("frame.time_relative")
local frame_interface = Field.new("frame.interface_description")
local ip_identification = Field.new("ip.id")

-- Returns seconds and nanoseconds separately, because a double cannot hold a calendar time in ns.
local function instant(digits)
    if not digits then
        return nil
    end
    local padded = string.rep("0", 10 - #digits) .. digits
    return { secs = tonumber(padded:sub(1, -10)), nsecs = tonumber(padded:sub(-9)) }
end

local function between_ns(from, to)
    return (to.secs - from.secs) * 1e9 + (to.nsecs - from.nsecs)
end

local clocks = {} -- clock by interface description; false if the description has none

local function described_clock()
    local description = frame_interface()
    local text = description and tostring(description.value) or ""
    if clocks[text] == nil then
        local dilation = tonumber(text:match("^sfc%-testbed dilation=(%d+)"))
        clocks[text] = dilation
                and dilation > 0
                and {
                    dilation = dilation,
                    start = instant(text:match(" start_ns=(%d+)")),
                    switch_epoch = instant(text:match(" switch_epoch_ns=(%d+)")),
                }
            or false
    end
    return clocks[text]
end

-- Returns the clock that converts this packet's times to model times, or nil if it is unknown.
local function clock_of_packet()
    local described = described_clock()
    if described then
        return described
    end
    local dilation = model_time.prefs.dilation
    return dilation > 0 and { dilation = dilation } or nil
end

local function model_us_of(clock, wall_ns)
    return wall_ns / (clock.dilation * 1000)
end

-- Returns the packet's model time in us. It counts from model time 0, or from the first packet if the capture does not
-- contain the wall time of model time 0.
local function packet_model_us(clock)
    if clock.start then
        return model_us_of(clock, between_ns(clock.start, frame_time().value))
    end
    local since = frame_since_first().value
    return model_us_of(clock, since.secs * 1e9 + since.nsecs)
end

-- Returns the model time in us of a switch's time stamp, a wrapping count of wall us, or nil if the clock is unknown.
local function stamp_model_us(clock, stamp_us)
    if not (clock and clock.start and clock.switch_epoch) then
        return nil
    end
    local now_us = between_ns(clock.switch_epoch, frame_time().value) / 1000
    local age_us = (now_us - stamp_us) % WRAP_US
    if age_us >= WRAP_US / 2 then
        age_us = age_us - WRAP_US
    end
    return packet_model_us(clock) - age_us / clock.dilation
end

-- Returns the unit of a BTS's time stamp in wall us: the least power of two that is at least 16 ns of the model.
local function tick_us(clock)
    local tick = 1
    while tick * 1000 < 16 * clock.dilation do
        tick = tick * 2
    end
    return tick
end

-- Returns the model time in us at which the data packet of a BTS arrived, the latest with this stamp, or nil if the clock is
-- unknown.
local function arrival_model_us(clock, stamp)
    if not (clock and clock.start and clock.switch_epoch) then
        return nil
    end
    local tick = tick_us(clock)
    local now_us = between_ns(clock.switch_epoch, frame_time().value) / 1000
    return packet_model_us(clock) - (now_us - stamp * tick) % (STAMPS * tick) / clock.dilation
end

local function in_model_us(clock, wall_us)
    if clock then
        return string.format("%.3f us", wall_us / clock.dilation)
    end
    return string.format("%.0f wall us", wall_us)
end

function model_time.dissector(_, _, tree)
    local clock = clock_of_packet()
    if not clock then
        return
    end
    local now_us = packet_model_us(clock)
    local root = tree:add(model_time):set_generated()
    root:set_text(string.format("SFC Testbed: model time %.3f us", now_us))
    root:add(time_fields.now, now_us):set_generated()
    root:add(time_fields.dilation, clock.dilation):set_generated()
end

register_postdissector(model_time)

---- Back-To-Sender ----

local bts = Proto("sfc_bts", "Back-To-Sender (BTS)")
local bts_fields = {
    version = ProtoField.uint8("sfc_bts.version", "Version"),
    dscp = ProtoField.uint8("sfc_bts.dscp", "DSCP of the flow"),
    pause = ProtoField.uint16("sfc_bts.pause_us", "Pause (model us)"),
    feedback = ProtoField.uint16("sfc_bts.feedback", "Feedback |Fb|"),
    drain = ProtoField.uint32("sfc_bts.drain_ns", "Time in which the queue drains (model ns)"),
    cacheable = ProtoField.bool("sfc_bts.cacheable", "Cacheable", 8, nil, 0x10),
    cause = ProtoField.uint8("sfc_bts.cause", "Cause", base.DEC, BTS_CAUSES, 0x0f),
    protocol = ProtoField.uint8("sfc_bts.protocol", "Protocol of the flow"),
    source_port = ProtoField.uint16("sfc_bts.source_port", "Source port of the flow"),
    destination_port = ProtoField.uint16("sfc_bts.destination_port", "Destination port of the flow"),
    destination_qp = ProtoField.uint24("sfc_bts.destination_qp", "Destination QP of the flow", base.HEX),
    class = ProtoField.uint8("sfc_bts.class", "Class of the congested queue"),
    queue = ProtoField.uint32("sfc_bts.queue_bytes", "Congested queue (B)"),
    switch = ProtoField.uint16("sfc_bts.switch", "Switch"),
    stamp = ProtoField.uint16("sfc_bts.stamp", "Arrival of the data packet (ticks of the switch's clock)"),
    model_arrival = ProtoField.double("sfc_bts.arrival_model_us", "Arrival of the data packet (model us)"),
    psn = ProtoField.uint24("sfc_bts.psn", "PSN of the data packet"),
}
bts.fields = bts_fields
local bts_malformed =
    ProtoExpert.new("sfc_bts.malformed", "Malformed BTS", expert.group.MALFORMED, expert.severity.ERROR)
bts.experts = { bts_malformed }

local function bts_cause(tvb)
    return BTS_CAUSES[tvb(4, 1):bitfield(4, 4)]
end

local function has_only_zeros(range)
    return not range:bytes():tohex():find("[^0]")
end

local function bts_is_sound(tvb)
    if tvb:len() < BTS_PAYLOAD_BYTES then
        return false
    end
    local cause = bts_cause(tvb)
    return cause ~= nil
        and tvb:len() == BTS_PAYLOAD_BYTES + (cause == SUB_RTT and QUOTED_BTH_BYTES or 0)
        and tvb(0, 1):uint() == BTS_VERSION
        and tvb(1, 1):uint() <= DSCP_MASK
        and tvb(4, 1):bitfield(0, 3) == 0
        and tvb(11, 1):uint() < CLASS_COUNT
        and (cause ~= UNKNOWN or has_only_zeros(tvb(4, BTS_PAYLOAD_BYTES - 4)))
end

-- Adds the field whose meaning depends on the cause, and returns it as text.
local function add_request(root, range, cause)
    local asked = range:uint()
    if cause == FEEDBACK then
        root:add(bts_fields.feedback, range)
        return " " .. asked
    elseif cause == SUB_RTT then
        root:add(bts_fields.drain, range, asked * SUB_RTT_UNIT_NS)
        return string.format(", drains in %d ns", asked * SUB_RTT_UNIT_NS)
    end
    root:add(bts_fields.pause, range)
    return string.format(", pause for %d us", asked)
end

-- Adds the time at which the data packet arrived.
local function add_arrival(root, clock)
    local stamp = ip_identification().value
    root:add(bts_fields.stamp, stamp):set_generated()
    local arrival_us = arrival_model_us(clock, stamp)
    if arrival_us then
        root:add(bts_fields.model_arrival, arrival_us):set_generated()
    end
end

-- Adds the fields that a BTS of the SFC prototype leaves empty, and returns a summary of them.
local function add_origin(root, tvb, cause, clock)
    root:add(bts_fields.protocol, tvb(5, 1))
    root:add(bts_fields.destination_port, tvb(6, 2))
    root:add(bts_fields.destination_qp, tvb(8, 3))
    root:add(bts_fields.class, tvb(11, 1))
    root:add(bts_fields.queue, tvb(12, 4))
    root:add(bts_fields.switch, tvb(16, 2))
    add_arrival(root, clock)
    if cause == SUB_RTT then
        root:add(bts_fields.psn, tvb(BTS_PAYLOAD_BYTES + 9, 3))
    end
    return string.format(", %d B queued at switch %d", tvb(12, 4):uint(), tvb(16, 2):uint())
end

function bts.dissector(tvb, pinfo, tree)
    if pinfo.dst_port ~= BTS_UDP_PORT then
        return 0 -- a flow's source port may be this number
    end
    pinfo.cols.protocol = "BTS"
    local root = tree:add(bts, tvb())
    if not bts_is_sound(tvb) then
        root:add_proto_expert_info(bts_malformed)
        pinfo.cols.info = "BTS (malformed)"
        return tvb:len()
    end
    local cause = bts_cause(tvb)
    root:add(bts_fields.version, tvb(0, 1))
    root:add(bts_fields.dscp, tvb(1, 1))
    local request = add_request(root, tvb(2, 2), cause)
    root:add(bts_fields.cacheable, tvb(4, 1))
    root:add(bts_fields.cause, tvb(4, 1))
    root:add(bts_fields.source_port, pinfo.src_port):set_generated()
    local origin = cause == UNKNOWN and "" or add_origin(root, tvb, cause, clock_of_packet())
    local summary = cause .. request .. origin
    root:append_text(": " .. summary)
    pinfo.cols.info = "BTS: " .. summary
    return tvb:len()
end

---- TCP signal: a BTS that answers a TCP packet is a TCP packet itself ----

-- A post-dissector, because the dissector of TCP does not pass on the bytes of segments that it has not expected.
local tcp_signal = Proto("sfc_tcp", "TCP signal (BTS)")

local LENGTH_AT, PORTS_AT = 16, 34
local SEQUENCE_AT, DEPTH_AT, CONTROL_AT, CHECKSUM_AT, FIELDS_AT =
    PORTS_AT + 4, PORTS_AT + 8, PORTS_AT + 12, PORTS_AT + 16, PORTS_AT + 20

local function is_tcp_signal(tvb)
    return tvb:len() >= BTS_FRAME_BYTES
        and tvb(12, 2):uint() == ETHERTYPE_IPV4
        and tvb(14, 1):uint() == 0x45
        and tvb(LENGTH_AT, 2):uint() == BTS_FRAME_BYTES - 14
        and tvb(20, 2):bitfield(3, 13) == 0
        and tvb(23, 1):uint() == IP_PROTOCOL_TCP
        and tvb(CONTROL_AT, 1):bitfield(4, 4) == TCP_SIGNAL
        and tvb(SEQUENCE_AT, 2):uint() == 0
        and tvb(CHECKSUM_AT, 2):uint() == 0
end

local function tcp_signal_is_sound(tvb)
    local cause = BTS_CAUSES[tvb(FIELDS_AT + 1, 1):bitfield(4, 4)]
    return (cause == "queue" or cause == "cache" or cause == "estimator")
        and tvb(CONTROL_AT, 1):bitfield(0, 4) == TCP_HEADER_WORDS
        and tvb(CONTROL_AT + 2, 2):uint() == 0
        and tvb(CHECKSUM_AT + 2, 2):uint() == 0
        and tvb(FIELDS_AT, 1):uint() <= DSCP_MASK
        and tvb(FIELDS_AT + 1, 1):bitfield(0, 3) == 0
        and tvb(FIELDS_AT + 2, 1):uint() < CLASS_COUNT
        and tvb(FIELDS_AT + 3, 1):uint() == 0
end

-- Adds the fields that a TCP signal of the SFC prototype does not have, and returns a summary of them.
local function add_tcp_origin(root, tvb)
    root:add(bts_fields.queue, tvb(DEPTH_AT, 4))
    root:add(bts_fields.dscp, tvb(FIELDS_AT, 1))
    root:add(bts_fields.cacheable, tvb(FIELDS_AT + 1, 1))
    root:add(bts_fields.cause, tvb(FIELDS_AT + 1, 1))
    root:add(bts_fields.class, tvb(FIELDS_AT + 2, 1))
    root:add(bts_fields.switch, tvb(FIELDS_AT + 4, 2))
    add_arrival(root, clock_of_packet())
    local depth, switch = tvb(DEPTH_AT, 4):uint(), tvb(FIELDS_AT + 4, 2):uint()
    return string.format(", %d B queued at switch %d", depth, switch)
end

function tcp_signal.dissector(tvb, pinfo, tree)
    if not is_tcp_signal(tvb) then
        return
    end
    local is_ours = tvb(CONTROL_AT + 1, 1):uint() == 0
    local root = tree:add(bts, tvb(PORTS_AT, BTS_FRAME_BYTES - PORTS_AT))
    pinfo.cols.protocol = "BTS"
    pinfo.cols.info:clear_fence() -- "TCP ZeroWindow"
    if is_ours and not tcp_signal_is_sound(tvb) then
        root:add_proto_expert_info(bts_malformed)
        pinfo.cols.info = "BTS for TCP (malformed)"
        return
    end
    root:add(bts_fields.protocol, tvb(23, 1))
    root:add(bts_fields.destination_port, tvb(PORTS_AT, 2))
    root:add(bts_fields.source_port, tvb(PORTS_AT + 2, 2))
    local cause = is_ours and BTS_CAUSES[tvb(FIELDS_AT + 1, 1):bitfield(4, 4)] or UNKNOWN
    local request = add_request(root, tvb(SEQUENCE_AT + 2, 2), cause)
    local origin = is_ours and add_tcp_origin(root, tvb) or ""
    root:append_text(": " .. cause .. request .. origin)
    pinfo.cols.info = string.format("BTS for TCP port %d: %s%s%s", tvb(PORTS_AT + 2, 2):uint(), cause, request, origin)
end

register_postdissector(tcp_signal)

---- In-band telemetry, with RoCEv2 inside ----

local int = Proto("sfc_int", "In-band telemetry (INT)")
local int_fields = {
    records = ProtoField.uint8("sfc_int.records", "Records"),
    echo = ProtoField.bool("sfc_int.echo", "Echo", 8, nil, INT_FLAG_ECHO),
    stamp = ProtoField.bool("sfc_int.stamp", "The oldest record is the sender's", 8, nil, INT_FLAG_STAMP),
    compact = ProtoField.bool("sfc_int.compact", "Slots of constant length", 8, nil, INT_FLAG_COMPACT),
    names_path = ProtoField.bool("sfc_int.names_path", "Names the path", 8, nil, INT_FLAG_PATH),
    path = ProtoField.uint16("sfc_int.path", "Path", base.HEX),
    rate_code = ProtoField.uint8("sfc_int.rate_code", "Rate of the port (place in the list of link rates)"),
    slot_time = ProtoField.uint32("sfc_int.slot_time", "Left the queue (wall us of the switch, scaled, 24 bits)"),
    rate = ProtoField.uint32("sfc_int.rate_kbps", "Rate of the port (wall kbit/s)"),
    model_rate = ProtoField.double("sfc_int.rate_gbps", "Rate of the port (model Gbit/s)"),
    time = ProtoField.uint32("sfc_int.time_us", "Left the queue (wall us of the switch)"),
    model_time = ProtoField.double("sfc_int.time_model_us", "Left the queue (model us)"),
    tx = ProtoField.uint32("sfc_int.tx_bytes", "Sent by the port before (B)"),
    queue = ProtoField.uint32("sfc_int.queue_bytes", "Queues of the port (B)"),
    sender_time = ProtoField.uint32("sfc_int.sender_time_us", "Started on the sender's wire (wall us)"),
    delay = ProtoField.uint32("sfc_int.one_way_delay_us", "One-way delay (wall us)"),
    model_delay = ProtoField.double("sfc_int.one_way_delay_model_us", "One-way delay (model us)"),
}
int.fields = int_fields
local int_malformed =
    ProtoExpert.new("sfc_int.malformed", "Malformed INT", expert.group.MALFORMED, expert.severity.ERROR)
int.experts = { int_malformed }

local function has_flag(flags, flag)
    return math.floor(flags / flag) % 2 == 1
end

local function telemetry_bytes(count, flags)
    if not has_flag(flags, INT_FLAG_COMPACT) then
        return INT_SHIM_BYTES + count * INT_RECORD_BYTES
    end
    local stamp_bytes = has_flag(flags, INT_FLAG_STAMP) and INT_RECORD_BYTES or 0
    return INT_SHIM_BYTES + INT_MAX_HOPS * INT_SLOT_BYTES + stamp_bytes
end

local function int_is_sound(tvb)
    if tvb:len() < INT_SHIM_BYTES + LEAST_ROCE_BYTES then
        return false
    end
    local records, flags = tvb(0, 1):uint(), tvb(1, 1):uint()
    local needs_record = has_flag(flags, INT_FLAG_STAMP) and not has_flag(flags, INT_FLAG_COMPACT)
    return records <= INT_MAX_HOPS
        and flags <= INT_FLAG_ECHO + INT_FLAG_STAMP + INT_FLAG_COMPACT + INT_FLAG_PATH
        and (not needs_record or records > 0)
        and (has_flag(flags, INT_FLAG_PATH) or tvb(2, 2):uint() == 0)
        and tvb:len() >= telemetry_bytes(records, flags) + LEAST_ROCE_BYTES
end

local function add_sender_record(root, range, clock, is_echo)
    local record = root:add(int, range, "Sender's stamp")
    record:add(int_fields.sender_time, range(4, 4))
    if is_echo then
        local delay_us = range(8, 4):uint()
        record:add(int_fields.delay, range(8, 4))
        if clock then
            record:add(int_fields.model_delay, range(8, 4), delay_us / clock.dilation):set_generated()
        end
        record:append_text(": one-way delay " .. in_model_us(clock, delay_us))
    end
end

local function add_switch_record(root, range, clock, hop)
    local record = root:add(int, range, string.format("Hop %d: %d B queued", hop, range(12, 4):uint()))
    record:add(int_fields.rate, range(0, 4))
    if clock then
        record:add(int_fields.model_rate, range(0, 4), range(0, 4):uint() * clock.dilation / 1e6):set_generated()
    end
    record:add(int_fields.time, range(4, 4))
    local time_us = stamp_model_us(clock, range(4, 4):uint())
    if time_us then
        record:add(int_fields.model_time, range(4, 4), time_us):set_generated()
    end
    record:add(int_fields.tx, range(8, 4))
    record:add(int_fields.queue, range(12, 4))
end

local function add_slot(root, range, hop)
    local queue_bytes = range(6, 2):uint() * QUEUE_UNIT_BYTES
    local record = root:add(int, range, string.format("Hop %d: %d B queued", hop, queue_bytes))
    record:add(int_fields.rate_code, range(0, 1), range:bitfield(0, 4))
    record:add(int_fields.slot_time, range(0, 4), range:bitfield(4, 24))
    record:add(int_fields.tx, range(3, 3), range:bitfield(28, 20) * SENT_UNIT_BYTES)
    record:add(int_fields.queue, range(6, 2), queue_bytes)
end

-- Adds the records of the switches, newest first, and that of the sender.
local function add_records(root, tvb, clock, records, flags)
    local has_stamp, is_compact = has_flag(flags, INT_FLAG_STAMP), has_flag(flags, INT_FLAG_COMPACT)
    local hops = has_stamp and not is_compact and records - 1 or records
    local each_bytes = is_compact and INT_SLOT_BYTES or INT_RECORD_BYTES
    for index = 0, hops - 1 do
        local range = tvb(INT_SHIM_BYTES + index * each_bytes, each_bytes)
        if is_compact then
            add_slot(root, range, hops - index)
        else
            add_switch_record(root, range, clock, hops - index)
        end
    end
    if has_stamp then
        local stamp_at = telemetry_bytes(records, flags) - INT_RECORD_BYTES
        add_sender_record(root, tvb(stamp_at, INT_RECORD_BYTES), clock, has_flag(flags, INT_FLAG_ECHO))
    end
    return hops
end

function int.dissector(tvb, pinfo, tree)
    if pinfo.dst_port ~= INT_UDP_PORT then
        return 0
    end
    if not int_is_sound(tvb) then
        tree:add(int, tvb()):add_proto_expert_info(int_malformed)
        pinfo.cols.protocol = "INT"
        pinfo.cols.info = "INT (malformed)"
        return tvb:len()
    end
    local clock = clock_of_packet()
    local records, flags = tvb(0, 1):uint(), tvb(1, 1):uint()
    local is_echo = has_flag(flags, INT_FLAG_ECHO)
    local size = telemetry_bytes(records, flags)
    local root = tree:add(int, tvb(0, size))
    root:append_text(string.format(": %d records%s", records, is_echo and ", echo" or ""))
    root:add(int_fields.records, tvb(0, 1))
    root:add(int_fields.echo, tvb(1, 1))
    root:add(int_fields.stamp, tvb(1, 1))
    root:add(int_fields.compact, tvb(1, 1))
    if has_flag(flags, INT_FLAG_PATH) then
        root:add(int_fields.names_path, tvb(1, 1))
        root:add(int_fields.path, tvb(2, 2))
    end
    local hops = add_records(root, tvb, clock, records, flags)
    local roce = DissectorTable.get("udp.port"):get_dissector(ROCE_UDP_PORT)
    if roce then
        roce:call(tvb(size):tvb(), pinfo, tree)
        pinfo.cols.info:append(string.format(" [INT %d hops%s]", hops, is_echo and ", echo" or ""))
    end
    return tvb:len()
end

local udp_ports = DissectorTable.get("udp.port")
udp_ports:add(BTS_UDP_PORT, bts)
udp_ports:add(INT_UDP_PORT, int)
