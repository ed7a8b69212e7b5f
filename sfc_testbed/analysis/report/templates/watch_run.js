// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// The data of one run at any instant, and the places of its nodes. analysis/watch/scene.py and chunk.py define what comes in.
"use strict";
const sfcRun = (() => {
  const CAUSES = ["unknown", "queue", "cache", "estimator", "feedback", "sub_rtt"], SLOWING = new Set([4, 5]);
  const WHOLE_BUFFER = -1, NO_NODE = 65535, MOST_DOTS = 500;
  const TYPES = {f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i1: Int8Array, i2: Int16Array};
  const decoded = text => new TYPES[text.slice(0, 2)](Uint8Array.from(atob(text.slice(3)), letter => letter.charCodeAt(0)).buffer);
  const columns = part => Object.fromEntries(Object.entries(part).map(([name, text]) => [name, decoded(text)]));
  const grouped = (key, map, make) => map.get(key) ?? map.set(key, make()).get(key);
  const digits = value => value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
  const scaled = (value, units) => {
    const [size, unit] = units.find(([size]) => Math.abs(value) >= size) ?? units.at(-1);
    return `${digits(value / size)} ${unit}`;
  };
  const bytesText = value => scaled(value, [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]]);
  const usText = value => scaled(value, [[1e6, "s"], [1e3, "ms"], [1, "µs"]]);
  const fctText = flow => isNaN(flow.finish) ? "not complete" : usText(flow.finish - flow.start);
  const timeText = time => Number(time.toFixed(2)).toLocaleString("en", {minimumFractionDigits: 2});

  // Returns the last place in ascending times whose time is at most `time`; -1 before the first one.
  function placeOf(times, time) {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1; else high = middle;
    }
    return low - 1;
  }
  const firstFrom = (times, time) => placeOf(times, time - 1e-6) + 1;

  // Samples of one quantity. A sample that is missing is 0.
  class Samples {
    constructor(interval, about = {}) { Object.assign(this, about, {interval, time: [], value: [], high: [], peak: 0, peakTime: 0}); }
    add(time, value, high) {
      this.time.push(time); this.value.push(value); this.high.push(high);
      if (high > this.peak) { this.peak = high; this.peakTime = time; }
    }
    // The value at an instant: exact at samples, straight between them.
    at(time, known) {
      const {interval, time: times, value} = this, here = placeOf(times, time), next = here + 1, slack = interval * 1.001;
      const before = here >= 0 && time - times[here] < slack ? value[here] : 0;
      const hasNext = next < times.length && times[next] - time <= slack;
      if (!hasNext && before && known < times[here] + slack) return before;
      const share = hasNext ? 1 - (times[next] - time) / interval : before ? (time - times[here]) / interval : 0;
      return before + ((hasNext ? value[next] : 0) - before) * Math.min(1, Math.max(0, share));
    }
    // The figure of the interval that contains an instant: the high-water mark, or the sum of bytes.
    during(time) {
      const next = firstFrom(this.time, time);
      return next < this.time.length && this.time[next] - time < this.interval * 1.001 ? this.high[next] : 0;
    }
  }

  // A count over time, from the instants at which it changes.
  function counted(changes) {
    changes.sort((one, other) => one[0] - other[0]);
    let count = 0;
    const values = changes.map(([, change]) => count += change), times = changes.map(([time]) => time);
    return time => values[placeOf(times, time)] ?? 0;
  }

  class Run {
    constructor(scene) {
      Object.assign(this, {scene, names: scene.names, hosts: scene.hosts, until: 0, end: scene.end_us ?? 0, isLive: scene.end_us === null});
      Object.assign(this, {dots: [], pauses: [], drops: new Map(), distances: new Map(), stopped: new Map(), chosen: [], version: 0});
      this.x = decoded(scene.x); this.row = decoded(scene.row);
      this.ports = new Map(); this.portsOf = this.names.map(() => []); this.buffers = new Map();
      const links = columns(scene.links);
      this.links = Array.from(links.a, (a, at) => {
        const link = {rate: links.rate_bps[at], delay: links.delay_ns[at] / 1000};
        const port = (node, number, peer) => {
          const made = {node, number, peer, link, queues: new Map(), sent: new Samples(scene.link_interval_us)};
          this.ports.set(node * 1024 + number, made);
          this.portsOf[node].push(made);
          return made;
        };
        link.a = port(a, links.a_port[at], links.b[at]);
        link.b = port(links.b[at], links.b_port[at], a);
        link.a.other = link.b; link.b.other = link.a;
        return link;
      });
      const planned = columns(scene.flows);
      this.flows = new Map(Array.from(planned.flow_id, (id, at) => [id, {id, src: planned.src[at], dst: planned.dst[at],
        tag: scene.tags[planned.tag[at]], size: planned.size_bytes[at], start: planned.start_us[at], finish: NaN, received: NaN,
        ideal: planned.ideal_fct_us?.[at] ?? NaN, after: 0, signals: [], delivered: []}]));
      this.isChanged = true;
    }

    append(chunk) {
      this.until = Math.max(this.until, chunk.until_us);
      if (this.isLive) this.end = this.until;
      for (const part of ["planned", "flows", "queues", "links", "signals", "goodput", "drops", "pauses"])
        if (chunk[part]) this[`add_${part}`](columns(chunk[part]));
      this.isChanged = true;
    }

    add_flows(rows) {
      const take = {start: "start_us", finish: "finish_us", received: "received_us", ideal: "ideal_fct_us", after: "after",
        resent: "packets_resent", timeouts: "timeouts", paused: "paused_us"};
      rows.flow_id.forEach((id, at) => {
        const flow = this.flows.get(id);
        for (const [name, column] of Object.entries(take))
          if (flow && rows[column] && !Number.isNaN(rows[column][at])) flow[name] = rows[column][at];
      });
    }
    add_planned(rows) {
      rows.flow_id.forEach((id, at) => this.flows.set(id, {id, src: rows.src[at], dst: rows.dst[at], tag: "message",
        size: rows.size_bytes[at], start: rows.start_us[at], finish: NaN, received: NaN, ideal: rows.ideal_fct_us[at], after: 0, signals: [], delivered: []}));
    }
    add_queues(rows) {
      rows.time_us.forEach((time, at) => {
        const node = rows.switch[at], number = rows.port[at], name = rows.class[at], interval = this.scene.queue_interval_us;
        if (number === WHOLE_BUFFER) {
          grouped(node, this.buffers, () => new Samples(interval, {label: `${this.names[node]}, whole buffer`}))
            .add(time, rows.depth_bytes[at], rows.high_water_bytes[at]);
        } else {
          const port = this.ports.get(node * 1024 + number);
          if (port) grouped(name, port.queues, () => new Samples(interval, {port, name, label: `${this.portName(port)}, class ${name}`}))
            .add(time, rows.depth_bytes[at], rows.high_water_bytes[at]);
        }
      });
    }
    add_links(rows) {
      rows.time_us.forEach((time, at) => {
        const port = this.ports.get(rows.switch[at] * 1024 + rows.port[at]);
        if (!port) return;
        port.sent.add(time, 0, rows.sent_bytes[at]);
        if (port.peer < this.hosts) port.other.sent.add(time, 0, rows.received_bytes[at]);
      });
    }
    add_signals(rows) {
      rows.received_us.forEach((received, at) => {
        const [host, node, cause, id] = [rows.host[at], rows.switch[at], rows.cause[at], rows.flow_id[at]];
        const signal = {sent: rows.sent_us[at], received, host, node, cause, id, pause: rows.pause_us[at],
          depth: rows.queue_depth_bytes[at], obeyed: rows.obeyed[at], until: rows.paused_until_us[at]};
        this.flows.get(id)?.signals.push(signal);
        const path = node === NO_NODE || isNaN(signal.sent) ? null : this.path(node, host, id);
        if (path) this.dots.push({begin: signal.sent, end: received, path, kind: SLOWING.has(cause) ? "slow" : cause === 2 ? "cache" : "queue", signal});
        if (!signal.obeyed || SLOWING.has(cause) || !(signal.until > received)) return;
        const flow = this.flows.get(id), pause = {flow, host, begin: received, end: signal.until};
        if (flow?.pause && flow.pause.end > received) flow.pause.end = received;
        if (flow) flow.pause = pause;
        this.pauses.push(pause);
      });
    }
    add_goodput(rows) {
      rows.flow_id.forEach((id, at) => {
        const flow = this.flows.get(id), begin = rows.from_us[at];
        if (!flow) return;
        flow.delivered.push([begin, rows.until_us[at], rows.delivered_bytes[at]]);
        const path = this.path(flow.dst, flow.src, id);
        if (path) this.dots.push({begin, end: begin + path.delay, path, kind: "ack", tag: flow.tag});
      });
    }
    add_drops(rows) {
      rows.time_us.forEach((time, at) => grouped(rows.switch[at], this.drops, () => new Samples(this.scene.link_interval_us))
        .add(time, 0, rows.lost_bytes[at]));
    }
    add_pauses(rows) {
      rows.time_us.forEach((begin, at) => {
        const port = this.ports.get(rows.node[at] * 1024 + rows.port[at]), until = rows.until_us[at];
        if (!port) return;
        const {delay} = port.link, path = {legs: [{port}], delay};
        this.dots.push({begin, end: begin + delay, path, kind: until > begin ? "pfc" : "resume"});
        if (until > begin) grouped(port.other, this.stopped, () => []).push([begin + delay, 1], [until + delay, -1]);
      });
    }

    portName(port) { return `${this.names[port.node]} → ${this.names[port.peer]}`; }
    queuesByPeak() {
      return [...this.ports.values()].flatMap(port => [...port.queues.values()]).sort((one, other) => other.peak - one.peak);
    }

    // Returns a shortest path as legs, alternating between switches and links.
    path(from, to, salt) {
      const distance = grouped(to, this.distances, () => {
        const found = new Map([[to, 0]]), waiting = [to];
        for (const node of waiting)
          if (node === to || node >= this.hosts)
            for (const port of this.portsOf[node])
              if (!found.has(port.peer)) { found.set(port.peer, found.get(node) + 1); waiting.push(port.peer); }
        return found;
      });
      const known = grouped(`path ${from} ${salt % 64}`, distance, () => {
        if (!distance.has(from)) return null;
        const legs = [];
        let node = from, delay = 0, came = null;
        while (node !== to) {
          const ahead = this.portsOf[node].filter(port => distance.get(port.peer) === distance.get(node) - 1);
          const port = ahead[(salt % 64) % ahead.length];
          if (node >= this.hosts) legs.push({node, came, port});
          legs.push({port});
          delay += port.link.delay; came = port.other; node = port.peer;
        }
        return {legs, delay};
      });
      return known;
    }

    // Prepares what depends on all data so far: counts over time, events, and the order of dots.
    prepare() {
      if (!this.isChanged) return;
      this.isChanged = false;
      this.version++;
      const changes = {sends: new Map(), receives: new Map(), paused: new Map()};
      const add = (name, node, begin, end) => {
        const list = grouped(node, changes[name], () => []);
        list.push([begin, 1]);
        if (!isNaN(end)) list.push([end, -1]);
      };
      for (const flow of this.flows.values()) {
        if (isNaN(flow.start)) continue;
        add("sends", flow.src, flow.start, flow.finish);
        add("receives", flow.dst, flow.start, flow.received);
      }
      for (const {flow, host, begin, end} of this.pauses) add("paused", host, begin, Math.max(begin, end > flow?.finish ? flow.finish : end));
      for (const [name, nodes] of Object.entries(changes))
        this[name] = new Map([...nodes].map(([node, list]) => [node, counted(list)]));
      this.dots.sort((one, other) => one.begin - other.begin);
      this.dotTimes = this.dots.map(dot => dot.begin);
      this.longestDot = this.dots.reduce((longest, dot) => Math.max(longest, dot.end - dot.begin), 0);
      this.kinds = new Set(this.dots.map(dot => dot.kind === "ack" ? dot.tag : dot.kind));
      this.stops = new Map([...this.stopped].map(([port, list]) => [port, counted([...list])]));
      this.ranked = this.queuesByPeak();
      if (!this.isPicked) this.chosen = this.ranked.slice(0, 3).filter(queue => queue.peak > .05 * this.ranked[0].peak);
      this.events = this.allEvents().sort((one, other) => one.time - other.time);
    }
    count(name, node, time) { return this[name].get(node)?.(time) ?? 0; }

    // Whether a port sent less than half of its rate although its queue held bytes all the time between two samples of its link.
    isHeld(queue, time) {
      const {link, sent} = queue.port, interval = this.scene.link_interval_us, last = Math.ceil(time / interval - 1e-6) * interval;
      if (last > this.until) return false;  // not measured yet
      const isFilled = [0, .5, 1].every(share => queue.at(last - share * interval, this.until) > 0);
      return isFilled && sent.during(time) * 8e6 < .5 * link.rate * interval;
    }

    allEvents() {
      const events = [], add = (time, kind, text) => { if (!isNaN(time)) events.push({time, kind, text, run: this}); };
      for (const flow of this.flows.values()) {
        const text = `flow ${flow.id} (${flow.tag}, ${bytesText(flow.size)}) from ${this.names[flow.src]} to ${this.names[flow.dst]}`;
        add(flow.start, "flow", `${text} starts`);
        add(flow.finish, "flow", `${text} is complete after ${usText(flow.finish - flow.start)}`);
      }
      const seen = new Set();
      for (const {begin, kind, signal, path} of this.dots) {
        const node = signal?.node ?? path.legs[0].port?.node, key = `${kind} ${node} ${signal?.cause}`;
        if (kind === "ack" || seen.has(key)) continue;
        seen.add(key);
        if (signal) add(begin, "bts", `first BTS of ${this.names[node]} (${CAUSES[signal.cause]}), to ${this.names[signal.host]}`);
        else if (kind === "pfc") add(begin, "pfc", `${this.names[node]} sends its first PFC pause`);
      }
      for (const queue of this.ranked.slice(0, 5))
        if (queue.peak) add(queue.peakTime, "peak", `peak of the queue ${queue.label}: ${bytesText(queue.peak)}`);
      for (const queue of this.scene.infers_pauses ? this.ranked.slice(0, 5) : []) {
        const held = queue.port.sent.time.find(time => this.isHeld(queue, time));
        if (held) add(held, "pfc", `${this.portName(queue.port)} is probably stopped by PFC`);
      }
      for (const [node, lost] of this.drops) add(lost.time[0] - lost.interval, "drop", `first drops of ${this.names[node]}`);
      for (const fault of this.scene.faults) {
        add(fault.begin_us, "fault", `${fault.label} begins`);
        add(fault.end_us ?? NaN, "fault", `${fault.label} ends`);
      }
      return events;
    }

    // Places all nodes, ports and links for a width in pixels.
    layOut(width) {
      const rows = Math.max(1, ...this.row), box = 84, gap = 58, isFlat = this.links.some(link => this.row[link.a.node] === this.row[link.b.node]);
      const perRow = Array.from({length: rows + 1}, (_, row) => this.row.filter(each => each === row).length);
      const left = 14, inner = width - 2 * left, top = isFlat ? Math.min(150, 40 + inner * .1) : 26;
      const y = row => row === 0 ? top + rows * (box + gap) + 4 : top + (rows - row) * (box + gap);
      this.spacing = inner * .9 / Math.max(1, perRow[0]);
      this.boxes = Array.from(this.x, (x, node) => {
        const row = this.row[node], wide = row === 0 ? this.spacing : Math.min(inner / perRow[row] * (row === 1 ? .9 : .6), row === 1 ? inner : 300);
        const high = row === 0 ? 20 : box;
        return {x: left + x * inner - wide / 2, y: y(row), width: wide, height: high, middle: left + x * inner};
      });
      for (let node = this.hosts; node < this.names.length; node++) {
        const sides = {down: [], up: []}, own = this.boxes[node];
        for (const port of this.portsOf[node]) sides[this.row[port.peer] < this.row[node] ? "down" : "up"].push(port);
        for (const [side, ports] of Object.entries(sides)) {
          ports.sort((one, other) => this.boxes[one.peer].middle - this.boxes[other.peer].middle || one.number - other.number);
          ports.forEach((port, at) => {
            const slot = own.width / ports.length;
            Object.assign(port, {side, slot, px: own.x + (at + .5) * slot, py: side === "down" ? own.y + own.height : own.y,
              room: (sides.up.length && sides.down.length ? side === "down" ? .62 : .32 : .94) * own.height});
          });
        }
      }
      for (let node = 0; node < this.hosts; node++)
        for (const port of this.portsOf[node]) Object.assign(port, {px: this.boxes[node].middle, py: this.boxes[node].y, slot: this.spacing});
      for (const link of this.links)
        link.bend = link.a.side === "up" && link.b.side === "up" ? Math.min(top * 1.7, 16 + Math.abs(link.a.px - link.b.px) * .3) : 0;
      this.height = y(0) + 40;
      this.width = width;
    }
    // Whether the name of a host has room beside the names to its left.
    isLabelled(node, context) {
      if (this.labelledWidth !== this.width) {
        const order = Array.from({length: this.hosts}, (_, host) => host).sort((one, other) => this.boxes[one].middle - this.boxes[other].middle);
        let right = 0;
        this.labelledWidth = this.width;
        this.labelled = new Set(order.filter(host => {
          const half = context.measureText(this.names[host]).width / 2 + 3, {middle} = this.boxes[host];
          if (middle - half < right) return false;
          right = middle + half;
          return true;
        }));
      }
      return this.labelled.has(node);
    }
    // The point at a share of the way of a frame that leaves a port.
    onLink(port, share) {
      const from = port, to = port.other, aside = Math.min(2, port.slot / 5) * (port === port.link.a ? 1 : -1), rest = 1 - share;
      const x = from.px + (to.px - from.px) * share + aside;
      return [x, from.py + (to.py - from.py) * share - 2 * share * rest * port.link.bend];
    }
    dotAt(dot, time) {
      const {legs, delay} = dot.path, hops = legs.filter(leg => leg.node !== undefined).length;
      const rest = Math.max(0, dot.end - dot.begin - delay) / Math.max(1, hops), total = delay + rest * hops || 1;
      let left = (time - dot.begin) / (dot.end - dot.begin || 1) * total;
      for (const leg of legs) {
        const takes = leg.node === undefined ? leg.port.link.delay : rest;
        if (left <= takes || leg === legs.at(-1)) {
          const share = Math.min(1, takes ? left / takes : 1);
          if (leg.node === undefined) return this.onLink(leg.port, share);
          const own = this.boxes[leg.node], from = leg.came ? [leg.came.px, leg.came.py] : [own.middle, own.y + own.height / 2];
          return [from[0] + (leg.port.px - from[0]) * share, from[1] + (leg.port.py - from[1]) * share];
        }
        left -= takes;
      }
    }
    movingDots(time) {
      const first = firstFrom(this.dotTimes, time - this.longestDot), last = placeOf(this.dotTimes, time), found = [];
      for (let at = first; at <= last; at++) if (this.dots[at].end >= time) found.push(this.dots[at]);
      const every = Math.ceil(found.length / MOST_DOTS);
      return every > 1 ? found.filter((dot, at) => at % every === 0 || dot.kind !== "ack" && found.length < 4 * MOST_DOTS) : found;
    }

    // Returns the events of a flow, as `trace` prints them without captures (analysis/life/stored.py).
    history(flow) {
      const source = this.names[flow.src], rows = [];
      if (!isNaN(flow.start)) rows.push([flow.start, source, "ready", `${bytesText(flow.size)} to ${this.names[flow.dst]}`]);
      let until = NaN;
      const resume = () => rows.push([until, source, "resumed", "end of the pause"]);
      for (const {node, cause, depth, sent, received, pause, obeyed, until: end} of flow.signals) {
        const by = this.names[node] ?? "unknown", request = SLOWING.has(cause) ? "slow down" : `pause for ${usText(pause)}`;
        if (!isNaN(sent)) rows.push([sent, by, "BTS", `${CAUSES[cause]}${depth && cause !== 2 ? ` of ${bytesText(depth)}` : ""}, ${request}`]);
        if (obeyed && SLOWING.has(cause)) rows.push([received, source, "slowed down", `by ${by}`]);
        else if (!obeyed || isNaN(end)) rows.push([received, source, "BTS ignored", `from ${by}`]);
        else if (end === received && pause) rows.push([received, source, "BTS received", `from ${by}; nothing left to send`]);
        else {
          if (until <= received) resume();
          until = end;
          rows.push([received, source, "paused", `by ${by}, until ${timeText(end)}`]);
        }
      }
      if (until <= (isNaN(flow.finish) ? Infinity : flow.finish)) resume();
      let merged = null;
      for (const [from, until, bytes] of flow.delivered) {
        if (merged && Math.abs(from - merged.until) < 1e-3) { merged.until = until; merged.bytes += bytes; }
        else rows.push((merged = {until, bytes, row: [until, this.names[flow.dst], "received", ""]}).row);
        merged.row[3] = `${bytesText(merged.bytes)} in order, until ${timeText(merged.until)}`;
      }
      if (!isNaN(flow.finish)) rows.push([flow.finish, this.names[flow.src], "acknowledged", `complete; FCT ${fctText(flow)}`]);
      return rows.sort((one, other) => one[0] - other[0]);
    }
  }

  return {Run, bytesText, digits, fctText, grouped, timeText, usText};
})();
