// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Plays runs: the network, its queues and frames at one instant, and the time axis below it.
// analysis/watch/scene.py and chunk.py define the data. `sfcWatch.begin(scene)` adds a run and returns its number;
// `sfcWatch.append(chunk, number)` adds measurements, while the run is going on or after it.
"use strict";
(() => {
  const CAUSES = ["unknown", "queue", "cache", "estimator", "feedback", "sub_rtt"], SLOWING = new Set([4, 5]);
  const WHOLE_BUFFER = -1, NO_NODE = 65535, MOST_DOTS = 500, MOST_ROWS = 60;
  const SPEEDS = [.1, .2, .5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000];
  const USES = [[0, "--axis", .6], [.02, "#56b4e9", 1.4], [.25, "#0072b2", 2], [.5, "#e69f00", 2.6], [.8, "#d55e00", 3.4]];
  const QUEUES = ["#332288", "#44aa99", "#aa4499", "#117733", "#999933", "#661100"];
  const DOTS = {queue: "#aa4499", cache: "#009e73", ack: "#999999", pfc: "#d55e00"}, PAUSED = "#aa4499", SENDS = "#56b4e9";
  const TYPES = {f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i1: Int8Array, i2: Int16Array};
  const by = id => document.getElementById(id);
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
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
  const timeText = time => time.toLocaleString("en", {minimumFractionDigits: 2, maximumFractionDigits: 2});

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
      return next < this.time.length && this.time[next] - time < this.interval * .999 ? this.high[next] : 0;
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
    constructor(scene, number) {
      Object.assign(this, {scene, number, names: scene.names, hosts: scene.hosts, until: 0, end: scene.end_us ?? 0, isLive: scene.end_us === null});
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
        ideal: NaN, after: 0, signals: [], delivered: []}]));
      this.dots = []; this.pauses = []; this.drops = new Map(); this.distances = new Map(); this.chosen = []; this.faults = scene.faults;
      this.isChanged = true;
      this.figure = addFigure(this);
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
        size: rows.size_bytes[at], start: rows.start_us[at], finish: NaN, received: NaN, ideal: NaN, after: 0, signals: [], delivered: []}));
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
        if (path) this.dots.push({begin: signal.sent, end: received, path, kind: cause === 2 ? "cache" : "queue", signal});
        if (!signal.obeyed || SLOWING.has(cause) || !(signal.until > received)) return;
        const flow = this.flows.get(id), pause = {host, begin: received, end: signal.until};
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
        if (path) this.dots.push({begin, end: begin + path.delay, path, kind: "ack"});
      });
    }
    add_drops(rows) {
      rows.time_us.forEach((time, at) => grouped(rows.switch[at], this.drops, () => new Samples(this.scene.link_interval_us))
        .add(time, 0, rows.lost_bytes[at]));
    }
    add_pauses(rows) {
      rows.time_us.forEach((begin, at) => {
        const port = this.ports.get(rows.node[at] * 1024 + rows.port[at]);
        if (!port) return;
        this.dots.push({begin, end: begin + port.link.delay, path: {legs: [{port}], delay: port.link.delay}, kind: "pfc"});
        if (rows.until_us[at] > begin) (port.other.stops ??= []).push([begin + port.link.delay, rows.until_us[at] + port.link.delay]);
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
      for (const pause of this.pauses) add("paused", pause.host, pause.begin, pause.end);
      for (const [name, nodes] of Object.entries(changes))
        this[name] = new Map([...nodes].map(([node, list]) => [node, counted(list)]));
      this.dots.sort((one, other) => one.begin - other.begin);
      this.dotTimes = this.dots.map(dot => dot.begin);
      this.longestDot = this.dots.reduce((longest, dot) => Math.max(longest, dot.end - dot.begin), 0);
      this.ranked = this.queuesByPeak();
      if (!this.isPicked) this.chosen = this.ranked.filter(queue => queue.peak).slice(0, 3);
      this.events = this.allEvents().sort((one, other) => one.time - other.time);
    }
    count(name, node, time) { return this[name].get(node)?.(time) ?? 0; }

    allEvents() {
      const events = [], add = (time, kind, text) => { if (!isNaN(time)) events.push({time, kind, text, run: this}); };
      for (const flow of this.flows.values()) {
        const text = `flow ${flow.id} (${flow.tag}, ${bytesText(flow.size)}) from ${this.names[flow.src]} to ${this.names[flow.dst]}`;
        add(flow.start, "flow", `${text} starts`);
        add(flow.finish, "flow", `${text} is complete after ${usText(flow.finish - flow.start)}`);
      }
      const seen = new Set();
      for (const {kind, signal, path} of this.dots) {
        const key = signal ? `${signal.node} ${signal.cause}` : `pfc ${path.legs[0].port?.node}`;
        if (kind === "ack" || seen.has(key)) continue;
        seen.add(key);
        if (signal) add(signal.sent, "bts", `first BTS of ${this.names[signal.node]} (${CAUSES[signal.cause]}), to ${this.names[signal.host]}`);
        else add(arguments[0] ?? this.dots.find(dot => dot.path === path).begin, "pfc", `first PFC frame of ${this.names[path.legs[0].port.node]}`);
      }
      for (const queue of this.ranked.slice(0, 5))
        if (queue.peak) add(queue.peakTime, "peak", `peak of the queue ${queue.label}: ${bytesText(queue.peak)}`);
      for (const [node, lost] of this.drops) add(lost.time[0] - lost.interval, "drop", `first drops of ${this.names[node]}`);
      for (const fault of this.faults) {
        add(fault.begin_us, "fault", `${fault.label} begins`);
        add(fault.end_us ?? NaN, "fault", `${fault.label} ends`);
      }
      return events;
    }

    // Places all nodes, ports and links for a width in pixels.
    layOut(width) {
      const rows = Math.max(1, ...this.row), box = 66, gap = 58, isFlat = this.links.some(link => this.row[link.a.node] === this.row[link.b.node]);
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
              room: sides.up.length && sides.down.length ? own.height / 2 - 3 : own.height - 6});
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
  }

  const runs = [];
  let time = 0, isPlaying = false, speed = 10, isFollowing = false, selected = null, drawn = 0, lastTick = 0, isAsked = false;
  const end = () => Math.max(1, ...runs.map(run => run.end));
  const newest = () => Math.max(0, ...runs.filter(run => run.isLive).map(run => run.until));

  // Colours follow the page's light or dark style.
  const style = getComputedStyle(document.documentElement);
  const paint = new Map();
  const color = name => grouped(name, paint, () => name.startsWith("--") ? style.getPropertyValue(name).trim()
    : style.getPropertyValue(`--plot-${name.slice(1)}`).trim() || name);
  const font = getComputedStyle(document.body).fontFamily;

  // Prepares a canvas for a size in CSS pixels and returns its context.
  function prepared(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }

  function addFigure(run) {
    const caption = element("figcaption", {}, element("span", {textContent: run.scene.label}), " ", element("span", {className: "state"}));
    const network = element("canvas"), chart = element("canvas");
    network.setAttribute("role", "img");
    network.setAttribute("aria-label", `Network of ${run.scene.label}`);
    by("runs").append(element("figure", {}, caption, element("div", {className: "net"}, network), chart));
    network.addEventListener("click", event => pick(run, event.offsetX, event.offsetY));
    network.addEventListener("mousemove", event => { network.title = hovered(run, event.offsetX, event.offsetY); });
    const seekTo = event => seek((event.offsetX - run.axis.left) / run.axis.width * end());
    chart.addEventListener("pointerdown", event => { chart.setPointerCapture(event.pointerId); seekTo(event); });
    chart.addEventListener("pointermove", event => { if (event.buttons) seekTo(event); });
    for (const note of run.scene.notes) by("notes").append(element("li", {textContent: `${run.scene.label}: ${note}`}));
    return {network, chart, state: caption.lastChild};
  }

  function drawNetwork(run) {
    const room = run.figure.network.parentElement.clientWidth, width = Math.max(room, Math.min(4000, run.hosts * 2.4));
    if (run.width !== width) run.layOut(width);
    const context = prepared(run.figure.network, width, run.height);
    context.font = `12px ${font}`;
    drawLinks(run, context);
    drawSwitches(run, context);
    drawHosts(run, context);
    const dots = run.movingDots(time);
    for (const dot of dots) {
      const [x, y] = run.dotAt(dot, time), radius = dot.kind === "ack" ? 2 : 5;
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fillStyle = color(DOTS[dot.kind]);
      context.fill();
      if (radius > 2) { context.strokeStyle = color("--panel"); context.lineWidth = 1.5; context.stroke(); }
    }
    drawn += dots.length;
  }

  function drawLinks(run, context) {
    const levels = USES.map(() => new Path2D());
    for (const link of run.links)
      for (const port of [link.a, link.b]) {
        const use = port.sent.during(time) * 8e6 / (link.rate * run.scene.link_interval_us) / 1e0;
        const level = USES.findLastIndex(([least]) => use >= least), path = levels[level];
        const [x, y] = run.onLink(port, 0), [toX, toY] = run.onLink(port, 1);
        path.moveTo(x, y);
        if (link.bend) path.quadraticCurveTo((x + toX) / 2, (y + toY) / 2 - link.bend, toX, toY); else path.lineTo(toX, toY);
        drawn++;
      }
    levels.forEach((path, at) => {
      context.strokeStyle = color(USES[at][1]);
      context.lineWidth = Math.max(.5, USES[at][2] * Math.min(1, run.spacing / 8));
      context.stroke(path);
    });
  }

  const fullest = () => Math.max(1, ...runs.map(run => run.ranked[0]?.peak ?? 0));

  function drawSwitches(run, context) {
    const scale = fullest(), bars = new Map(), marks = new Path2D(), walls = new Path2D(), levels = new Path2D();
    const [limit] = Object.values(run.scene.thresholds_bytes);
    for (let node = run.hosts; node < run.names.length; node++) {
      const box = run.boxes[node];
      walls.rect(box.x, box.y, box.width, box.height);
    }
    context.fillStyle = color("--page"); context.fill(walls);
    for (const {port, name} of run.ranked.length ? run.ranked : []) {
      const queue = port.queues.get(name), depth = queue.at(time, run.until), high = queue.during(time), sign = port.side === "down" ? -1 : 1;
      drawn++;
      if (!depth && !high) continue;
      const wide = Math.max(1, Math.min(22, port.slot * .7)), tall = depth / scale * port.room, mark = high / scale * port.room;
      grouped(name, bars, () => new Path2D()).rect(port.px - wide / 2, port.py, wide, sign * Math.max(.5, tall));
      marks.moveTo(port.px - wide / 2, port.py + sign * mark);
      marks.lineTo(port.px + wide / 2, port.py + sign * mark);
    }
    const names = [...bars.keys()].sort((one, other) => one - other);
    for (const name of names) { context.fillStyle = color(QUEUES[name % QUEUES.length]); context.fill(bars.get(name)); }
    context.strokeStyle = color("--ink"); context.lineWidth = 1; context.stroke(marks);
    context.strokeStyle = color("--axis"); context.stroke(walls);
    context.textAlign = "left"; context.textBaseline = "bottom"; context.fillStyle = color("--ink");
    for (let node = run.hosts; node < run.names.length; node++) {
      const box = run.boxes[node], lost = run.drops.get(node)?.during(time) ?? 0;
      if (limit && limit < scale && run.portsOf[node].some(port => port.side === "down")) {
        const room = run.portsOf[node].find(port => port.side === "down").room, at = box.y + box.height - limit / scale * room;
        levels.moveTo(box.x, at); levels.lineTo(box.x + box.width, at);
      }
      const wide = context.measureText(run.names[node]).width;
      if (wide < box.width * 1.3) context.fillText(run.names[node], box.x + 1, box.y - 2);
      if (lost) {
        context.strokeStyle = context.fillStyle = color("--bad"); context.lineWidth = 4;
        context.strokeRect(box.x, box.y, box.width, box.height);
        context.fillText(`✕ ${bytesText(lost)} dropped`, box.x + wide + 10, box.y - 2);
        context.fillStyle = color("--ink");
      }
    }
    context.setLineDash([3, 3]); context.strokeStyle = color("--muted"); context.lineWidth = 1; context.stroke(levels); context.setLineDash([]);
  }

  function drawHosts(run, context) {
    const radius = Math.max(1.2, Math.min(9, run.spacing * .36)), every = Math.max(1, Math.ceil(30 / run.spacing));
    context.textAlign = "center"; context.textBaseline = "top";
    for (let node = 0; node < run.hosts; node++) {
      const {middle, y} = run.boxes[node], sends = run.count("sends", node, time), paused = run.count("paused", node, time);
      drawHost(context, middle, y + radius, radius, sends, Math.min(paused, sends || paused), run.count("receives", node, time));
      if (node % every === 0) { context.fillStyle = color("--ink"); context.fillText(run.names[node], middle, y + 2 * radius + 4); }
      drawn++;
    }
  }

  function drawHost(context, x, y, radius, sends, paused, receives) {
    context.beginPath(); context.arc(x, y, radius, 0, 7);
    context.fillStyle = color(sends ? SENDS : "--panel"); context.fill();
    context.strokeStyle = color(receives ? "--ink" : "--axis"); context.lineWidth = receives ? 2 : 1; context.stroke();
    if (!paused) return;
    context.beginPath(); context.moveTo(x, y);
    context.arc(x, y, radius, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * paused / Math.max(sends, paused)); context.closePath();
    context.fillStyle = color(PAUSED); context.fill();
    if (radius >= 6 && paused >= sends) {
      context.fillStyle = color("--panel");
      for (const aside of [-.4, .1]) context.fillRect(x + aside * radius, y - radius * .45, radius * .3, radius * .9);
    }
  }

  const KINDS = {flow: "--axis", bts: PAUSED, peak: "#332288", drop: "--bad", pfc: "#d55e00", fault: "--ink"};

  // Draws the time axis with the events above the curves of the chosen queues.
  function drawChart(run) {
    const width = run.figure.chart.parentElement.clientWidth - 20, high = 190, axis = {left: 62, top: 30, width: width - 74, height: 116};
    const context = prepared(run.figure.chart, width, high), last = end(), scale = Math.max(1, ...runs.flatMap(each => each.chosen.map(queue => queue.peak))) * 1.08;
    const x = at => axis.left + at / last * axis.width, y = value => axis.top + axis.height * (1 - value / scale);
    run.axis = axis;
    context.font = `12px ${font}`; context.textBaseline = "middle"; context.lineWidth = 1;
    context.fillStyle = color("--line");
    for (const fault of run.faults) context.fillRect(x(fault.begin_us), axis.top, x(Math.min(last, fault.end_us ?? last)) - x(fault.begin_us), axis.height);
    context.textAlign = "right"; context.strokeStyle = color("--line");
    for (const value of ticks(scale)) {
      context.fillStyle = color("--muted"); context.fillText(bytesText(value), axis.left - 6, y(value));
      context.beginPath(); context.moveTo(axis.left, y(value)); context.lineTo(axis.left + axis.width, y(value)); context.stroke();
    }
    context.textAlign = "center";
    for (const at of ticks(last)) context.fillText(`${at.toLocaleString("en")}${at ? "" : " µs"}`, x(at), axis.top + axis.height + 13);
    context.setLineDash([3, 3]); context.strokeStyle = color("--muted"); context.textAlign = "right";
    for (const [name, value] of Object.entries(run.scene.thresholds_bytes)) {
      if (value > scale) continue;
      context.beginPath(); context.moveTo(axis.left, y(value)); context.lineTo(axis.left + axis.width, y(value)); context.stroke();
      context.fillText(name, axis.left + axis.width - 2, y(value) - 8);
    }
    context.setLineDash([]);
    run.chosen.forEach((queue, at) => drawCurve(context, queue, color(QUEUES[at % QUEUES.length]), x, y));
    for (const event of run.events) {
      context.fillStyle = color(KINDS[event.kind]);
      context.fillRect(x(event.time) - (event.kind === "flow" ? .5 : 1), event.kind === "flow" ? 16 : 12, event.kind === "flow" ? 1 : 2, event.kind === "flow" ? 8 : 14);
    }
    context.textAlign = "left";
    let place = axis.left;
    run.chosen.forEach((queue, at) => {
      context.fillStyle = color(QUEUES[at % QUEUES.length]); context.fillRect(place, high - 12, 14, 4);
      context.fillStyle = color("--ink"); context.fillText(queue.label, place + 18, high - 10);
      place += 30 + context.measureText(queue.label).width;
    });
    context.fillStyle = color("--ink"); context.fillRect(x(time) - 1, 8, 2, axis.top + axis.height - 8);
  }

  function drawCurve(context, queue, stroke, x, y) {
    const {time: times, value, high, interval} = queue, line = new Path2D(), area = new Path2D();
    for (let at = 0; at < times.length; at++) {
      const from = x(times[at] - interval), to = x(times[at]), isFirst = at === 0 || times[at] - times[at - 1] > interval * 1.5;
      area.rect(from, y(high[at]), Math.max(.5, to - from), y(0) - y(high[at]));
      if (isFirst) line.moveTo(from, y(0));
      line.lineTo(to, y(value[at]));
      if (at + 1 === times.length || times[at + 1] - times[at] > interval * 1.5) line.lineTo(x(times[at] + interval), y(0));
    }
    context.save();
    context.fillStyle = context.strokeStyle = stroke;
    context.globalAlpha = .25; context.fill(area);
    context.globalAlpha = 1; context.lineWidth = 1.6; context.stroke(line);
    context.restore();
    drawn += times.length;
  }

  function ticks(last) {
    const rough = last / 5, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map(digit => digit * power).find(size => size >= rough);
    return Array.from({length: Math.floor(last / step) + 1}, (_, at) => Number((at * step).toPrecision(6)));
  }

  function draw() {
    isAsked = false;
    drawn = 0;
    for (const run of runs) run.prepare();
    for (const run of runs) {
      drawNetwork(run);
      drawChart(run);
      run.figure.state.textContent = stateText(run);
    }
    by("time").textContent = `${timeText(time)} µs of ${digits(end())} µs`;
    by("play").textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
    by("follow").hidden = !runs.some(run => run.isLive) || isFollowing;
    for (const row of document.querySelectorAll("tr[data-time]")) row.classList.toggle("past", Number(row.dataset.time) > time);
  }
  const ask = () => { if (!isAsked && runs.length) { isAsked = true; requestAnimationFrame(tick); } };
  function stateText(run) {
    const sum = name => [...run[name].keys()].reduce((total, node) => total + run.count(name, node, time), 0);
    const hidden = !run.isLive && time > run.end ? "; the run has ended" : "";
    return `${sum("sends")} flows are going on, ${sum("paused")} paused${hidden}`;
  }

  function tick(now) {
    const passed = Math.min(.1, (now - lastTick) / 1000);
    lastTick = now;
    if (isFollowing) time += (newest() - time) * Math.min(1, passed * 6);
    else if (isPlaying) time = Math.min(end(), time + passed * speed);
    if (isPlaying && !isFollowing && time >= end()) isPlaying = false;
    draw();
    if (isPlaying || isFollowing && newest() - time > .01) ask();
  }

  function seek(to) {
    time = Math.min(end(), Math.max(0, to));
    isFollowing = false;
    ask();
  }
  function play(isOn) {
    isPlaying = isOn;
    isFollowing = false;
    if (isOn && time >= end()) time = 0;
    lastTick = performance.now();
    ask();
  }
  const CHOICES = {all: ["all", () => true], network: ["without flows", event => event.kind !== "flow"], flow: ["flows only", event => event.kind === "flow"]};
  function step(direction) {
    for (const run of runs) run.prepare();
    const [, isShown] = CHOICES[by("kinds").value], events = runs.flatMap(run => run.events).filter(isShown).sort((one, other) => one.time - other.time);
    const next = direction > 0 ? events.find(event => event.time > time + 1e-6) : events.findLast(event => event.time < time - 1e-6);
    if (!next) return;
    isPlaying = false;
    seek(next.time);
    const text = events.filter(event => Math.abs(event.time - next.time) < 1e-6).map(event => `${runs.length > 1 ? `${event.run.scene.label}: ` : ""}${event.text}`);
    by("event").textContent = `${timeText(next.time)} µs: ${text.join("; ")}`;
  }

  // Returns what is at a point of a network: a port, a switch or a host.
  function found(run, x, y) {
    const at = run.boxes.findIndex(box => x >= box.x - 2 && x <= box.x + box.width + 2 && y >= box.y - 14 && y <= box.y + box.height + 16);
    if (at < 0) return null;
    if (at < run.hosts) return {kind: "host", node: at};
    const box = run.boxes[at], isUpper = y < box.y + box.height / 2, hasBoth = new Set(run.portsOf[at].map(port => port.side)).size > 1;
    const ports = run.portsOf[at].filter(port => y >= box.y && (!hasBoth || (port.side === "up") === isUpper));
    const port = ports.find(each => Math.abs(each.px - x) <= each.slot / 2);
    return port ? {kind: "port", node: at, port} : {kind: "switch", node: at};
  }
  function hovered(run, x, y) {
    const what = found(run, x, y);
    if (!what) return "";
    if (what.kind !== "port") return run.names[what.node];
    const parts = [...what.port.queues].map(([name, queue]) => `class ${name}: ${bytesText(queue.at(time, run.until))}`);
    return `${run.portName(what.port)}, port ${what.port.number}. ${parts.join(", ")}`;
  }
  function pick(run, x, y) {
    const what = found(run, x, y);
    if (!what) return;
    run.isPicked = true;
    if (what.kind === "port") run.chosen = [...what.port.queues.values()];
    if (what.kind === "switch" && run.buffers.has(what.node)) run.chosen = [run.buffers.get(what.node)];
    select({run, ...what});
  }

  // Shows the details of a port, a host or a flow.
  function select(what) {
    selected = what;
    const {run} = what, place = by("details");
    place.hidden = false;
    const title = runs.length > 1 ? `${run.scene.label}: ` : "";
    if (what.kind === "flow") showFlow(place, run, run.flows.get(what.id), title);
    else if (what.kind === "host") {
      const flows = [...run.flows.values()].filter(flow => flow.src === what.node || flow.dst === what.node);
      place.replaceChildren(element("h2", {textContent: `${title}${run.names[what.node]}: ${flows.length} flows`}),
        table(["Flow", "From", "To", "Class", "Size", "Start", "FCT"], flows.slice(0, MOST_ROWS).map(flow => [flow.start, [flowButton(run, flow.id),
          run.names[flow.src], run.names[flow.dst], flow.tag, bytesText(flow.size), timeText(flow.start), fctText(flow)]])));
    } else {
      const queues = what.port ? [...what.port.queues.values()] : [run.buffers.get(what.node)].filter(Boolean);
      const name = what.port ? `${run.portName(what.port)}, port ${what.port.number}, ${digits(what.port.link.rate / 1e9)} Gb/s` : run.names[what.node];
      place.replaceChildren(element("h2", {textContent: `${title}${name}`}),
        table(["Queue", "Peak", "At"], queues.map(queue => [queue.peakTime, [queue.label, bytesText(queue.peak), timeText(queue.peakTime)]])));
      if (!queues.length) place.append(element("p", {textContent: "Its queue was empty during the whole run."}));
    }
    ask();
  }
  const fctText = flow => isNaN(flow.finish) ? "not complete" : usText(flow.finish - flow.start);
  const flowButton = (run, id) => element("button", {type: "button", textContent: String(id), onclick: () => select({run, kind: "flow", id})});
  function table(heads, rows) {
    const body = element("tbody", {}, ...rows.map(([at, cells]) => {
      const row = element("tr", {}, ...cells.map(cell => element("td", {}, cell)));
      if (!isNaN(at)) { row.dataset.time = at; row.addEventListener("dblclick", () => seek(at)); }
      return row;
    }));
    return element("div", {className: "scroll"}, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map(textContent => element("th", {textContent})))), body));
  }

  function showFlow(place, run, flow, title) {
    if (!flow) {
      place.replaceChildren(element("p", {textContent: "This flow is not on this page."}));
      return;
    }
    const facts = [`${bytesText(flow.size)}, ${flow.tag}`, `FCT ${fctText(flow)}`, `ideal ${usText(flow.ideal)}`, `paused for ${usText(flow.paused ?? 0)}`,
      `${flow.resent ?? 0} packets sent again`];
    place.replaceChildren(element("h2", {textContent: `${title}Flow ${flow.id}: ${run.names[flow.src]} → ${run.names[flow.dst]}`}),
      element("p", {textContent: facts.join("; ")}));
    const chain = [flow];
    while (run.flows.get(chain[0].after)) chain.unshift(run.flows.get(chain[0].after));
    if (chain.length > 1) place.append(element("h3", {textContent: "The chain of messages that it waited for"}),
      table(["Flow", "From", "To", "Start", "FCT", "Ideal"], chain.map(each => [each.start, [flowButton(run, each.id), run.names[each.src],
        run.names[each.dst], timeText(each.start), fctText(each), usText(each.ideal)]])));
    const history = flowHistory(run, flow);
    place.append(element("h3", {textContent: "History"}), table(["µs", "Where", "What", "Detail"],
      history.map(([at, where, what, detail]) => [at, [timeText(at), where, what, detail]])));
  }

  // Returns the events of a flow, as `trace` prints them without captures.
  function flowHistory(run, flow) {
    const rows = [[flow.start, run.names[flow.src], "ready", `${bytesText(flow.size)} to ${run.names[flow.dst]}`]];
    for (const signal of flow.signals) {
      const by = run.names[signal.node] ?? "unknown", cause = signal.cause === 2 ? "cache" : `${CAUSES[signal.cause]} (${bytesText(signal.depth)})`;
      if (!isNaN(signal.sent)) rows.push([signal.sent, by, "BTS", `${cause}, pause for ${usText(signal.pause)}`]);
      if (!signal.obeyed) rows.push([signal.received, run.names[flow.src], "BTS ignored", `from ${by}`]);
      else if (SLOWING.has(signal.cause)) rows.push([signal.received, run.names[flow.src], "slowed down", `by ${by}`]);
      else rows.push([signal.received, run.names[flow.src], "paused", `by ${by}, until ${timeText(signal.until)}`]);
    }
    let merged = null;
    for (const [from, until, bytes] of flow.delivered) {
      if (merged && Math.abs(from - merged.until) < 1e-3) { merged.until = until; merged.bytes += bytes; }
      else rows.push((merged = {until, bytes, row: [until, run.names[flow.dst], "received", ""]}).row);
      merged.row[3] = `${bytesText(merged.bytes)} in order, until ${timeText(merged.until)}`;
    }
    if (!isNaN(flow.finish)) rows.push([flow.finish, run.names[flow.src], "acknowledged", `complete; FCT ${fctText(flow)}`]);
    return rows.sort((one, other) => one[0] - other[0]);
  }

  function addKey() {
    const bar = context => { context.fillStyle = color(QUEUES[3]); context.fillRect(12, 5, 9, 11); context.fillStyle = color("--ink"); context.fillRect(12, 2, 9, 1); };
    const dot = (name, radius = 5) => context => { context.beginPath(); context.arc(17, 8, radius, 0, 7); context.fillStyle = color(name); context.fill(); };
    const host = (...state) => context => drawHost(context, 17, 8, 7, ...state);
    const use = context => USES.slice(1).forEach(([, name, wide], at) => { context.fillStyle = color(name); context.fillRect(at * 9, 8 - wide / 2, 8, wide); });
    const items = [[use, "use of a link in one direction: to 25, 50, 80, 100 %"], [bar, "queue at its port; line: highest depth"], [dot(DOTS.queue), "BTS from a queue, on its way to a sender"],
      [dot(DOTS.cache), "BTS from the pause cache"], [dot(DOTS.pfc), "PFC pause frame"], [dot(DOTS.ack, 2.5), "ACKs"], [host(1, 0, 0), "host sends"],
      [host(1, 1, 0), "all its flows are paused"], [host(2, 1, 0), "half of them are paused"], [host(0, 0, 1), "host receives"]];
    by("key").replaceChildren(...items.map(([drawItem, text]) => {
      const canvas = element("canvas");
      drawItem(prepared(canvas, 34, 16));
      return element("li", {}, canvas, ` ${text}`);
    }));
  }

  function begin(scene) {
    runs.push(new Run(scene, runs.length));
    if (runs.at(-1).isLive) { isFollowing = true; time = 0; }
    setSpeed();
    ask();
    return runs.length - 1;
  }
  function append(chunk, number = 0) {
    runs[number].append(chunk);
    if (selected?.run === runs[number] && !runs[number].isLive) select(selected);
    ask();
  }
  // Ends a run that was going on; the page then plays it as a stored one.
  function finish(number, end_us, notes) {
    const run = runs[number];
    run.end = end_us;
    time = Math.min(time, end());
    run.isLive = isFollowing = false;
    for (const note of notes) by("notes").append(element("li", {textContent: `${run.scene.label}: ${note}`}));
    setSpeed();
    ask();
  }
  // Removes the oldest run, so that a page of many runs one after the other stays small.
  function drop() {
    const run = runs.shift();
    run.figure.network.closest("figure").remove();
    if (selected?.run === run) { selected = null; by("details").hidden = true; }
  }
  function setSpeed() {
    const live = runs.find(run => run.isLive), pace = live ? 1e6 / live.scene.dilation : end() / 30;
    const usual = SPEEDS.find(each => each >= pace) ?? SPEEDS.at(-1);
    by("speed").value = String(speed = usual);
  }

  by("speed").append(...SPEEDS.map(each => element("option", {value: String(each), textContent: `${each.toLocaleString("en")} µs per second`})));
  by("kinds").append(...Object.entries(CHOICES).map(([value, [textContent]]) => element("option", {value, textContent})));
  by("play").addEventListener("click", () => play(!isPlaying));
  by("back").addEventListener("click", () => step(-1));
  by("next").addEventListener("click", () => step(1));
  by("follow").addEventListener("click", () => { isFollowing = true; lastTick = performance.now(); ask(); });
  by("speed").addEventListener("change", () => { speed = Number(by("speed").value); });
  by("flow").addEventListener("change", () => { if (by("flow").value) select({run: runs[0], kind: "flow", id: Number(by("flow").value)}); });
  document.addEventListener("keydown", event => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = SPEEDS.indexOf(speed);
    const keys = {" ": () => play(!isPlaying), ArrowLeft: () => step(-1), ArrowRight: () => step(1),
      ArrowUp: () => { by("speed").value = String(speed = SPEEDS[Math.min(SPEEDS.length - 1, at + 1)]); },
      ArrowDown: () => { by("speed").value = String(speed = SPEEDS[Math.max(0, at - 1)]); }};
    if (!keys[event.key]) return;
    event.preventDefault();
    if (event.target.tagName === "BUTTON") event.target.blur();
    keys[event.key]();
  });
  addEventListener("resize", ask);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { paint.clear(); addKey(); ask(); });
  window.sfcWatch = {begin, append, finish, drop, seek, play, step, select, runs, get time() { return time; }, get drawn() { return drawn; }, draw};
  addKey();
  for (const data of document.querySelectorAll("script.watch-data")) {
    const {scene, chunks} = JSON.parse(data.textContent), number = begin(scene);
    for (const chunk of chunks) append(chunk, number);
  }
  setSpeed();
  if (runs.length) draw();
})();
