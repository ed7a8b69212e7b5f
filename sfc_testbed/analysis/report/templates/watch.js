// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Plays runs: draws the network, its queues and frames at one instant, and the time axis below it. watch_run.js has the data of a run.
// `sfcWatch.begin(scene)` adds a run and returns its number; `sfcWatch.append(chunk, number)` adds measurements, during the run or after it.
"use strict";
(() => {
  const {Run, bytesText, digits, fctText, grouped, timeText, usText} = sfcRun, MOST_ROWS = 60;
  const SPEEDS = [.1, .2, .5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000];
  const LIVE_SECONDS = 20;
  const USES = [[0, "--axis", .6], [.02, "#56b4e9", 1.4], [.25, "#0072b2", 2], [.5, "#e69f00", 2.6], [.8, "#d55e00", 3.4]];
  const CURVES = ["#332288", "#117733", "#999933", "#661100"], OTHER_QUEUES = "#999999", PAUSED = "#aa4499", SENDS = "#56b4e9", PFC = "#d55e00";
  const DOTS = {queue: PAUSED, cache: "#009e73", slow: "#e69f00", pfc: PFC, resume: "--panel"}, ACKS = ["#999999", "#44aa99", "#661100", "#999933"];
  const by = id => document.getElementById(id);
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const runs = [];
  let time = 0, isPlaying = false, speed = 10, isFollowing = false, drawn = 0, lastTick = 0, isAsked = false, drawnKey = "";
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
    const under = element("canvas", {className: "under"}), network = element("canvas"), chart = element("canvas");
    const head = element("div", {className: "head"}), curves = element("ul", {className: "key"});
    network.setAttribute("role", "img");
    network.setAttribute("aria-label", `Network of ${run.scene.label}`);
    by("runs").append(element("figure", {}, caption, element("div", {className: "net"}, under, network),
      element("div", {className: "chart"}, chart, head), curves));
    network.addEventListener("click", event => pick(run, event.offsetX, event.offsetY));
    network.addEventListener("mousemove", event => { network.title = hovered(run, event.offsetX, event.offsetY); });
    const seekTo = event => seek(run.axis.first + (event.offsetX - run.axis.left) / run.axis.width * (run.axis.last - run.axis.first));
    chart.addEventListener("pointerdown", event => { chart.setPointerCapture(event.pointerId); seekTo(event); });
    chart.addEventListener("pointermove", event => { if (event.buttons) seekTo(event); });
    for (const note of run.scene.notes) by("notes").append(element("li", {textContent: `${run.scene.label}: ${note}`}));
    return {under, network, chart, head, curves, state: caption.lastChild};
  }

  function drawNetwork(run) {
    const room = run.figure.network.parentElement.clientWidth, width = Math.max(room, Math.min(4000, run.hosts * 2));
    if (run.width !== width) run.layOut(width);
    const context = prepared(run.figure.network, width, run.height);
    context.font = `12px ${font}`;
    drawLinks(run);
    drawSwitches(run, context);
    drawHosts(run, context);
    const dots = run.movingDots(time);
    for (const dot of dots) {
      const [x, y] = run.dotAt(dot, time), radius = dot.kind === "ack" ? 2 : 5;
      drawDot(context, x, y, radius, dot.kind === "ack" ? ackColor(run, dot.tag) : DOTS[dot.kind], dot.kind === "resume" ? PFC : "--panel");
    }
    drawn += dots.length;
  }
  const ackColor = (run, tag) => ACKS[run.scene.tags.indexOf(tag) % ACKS.length];
  function drawDot(context, x, y, radius, fill, rim) {
    context.beginPath();
    context.arc(x, y, radius, 0, 7);
    context.fillStyle = color(fill);
    context.fill();
    if (radius > 2) { context.strokeStyle = color(rim); context.lineWidth = 1.5; context.stroke(); }
  }

  // Draws the links below everything else. They change only with a sample.
  function drawLinks(run) {
    // Of a live run, the interval that contains the instant may not have ended: the last one that has is shown.
    const interval = run.scene.link_interval_us, now = run.isLive ? Math.min(time, Math.floor(run.until / interval) * interval) : time;
    const state = [Math.ceil(now / interval - 1e-6), run.width, run.version, color("--ink")].join("|");
    if (run.drawnLinks === state) return;
    run.drawnLinks = state;
    const context = prepared(run.figure.under, run.width, run.height), levels = USES.map(() => new Path2D()), hasRoom = run.spacing > 7;
    for (const link of run.links) {
      const uses = [link.a, link.b].map(port => port.sent.during(now) * 8e6 / (link.rate * interval));
      const shown = hasRoom ? [[link.a, uses[0]], [link.b, uses[1]]] : [[link.a, Math.max(...uses)]];
      for (const [port, use] of shown) {
        const path = levels[USES.findLastIndex(([least]) => use >= least)], [x, y] = run.onLink(port, 0), [toX, toY] = run.onLink(port, 1);
        path.moveTo(x, y);
        if (link.bend) path.quadraticCurveTo((x + toX) / 2, (y + toY) / 2 - link.bend, toX, toY); else path.lineTo(toX, toY);
        drawn++;
      }
    }
    levels.forEach((path, at) => {
      context.strokeStyle = color(USES[at][1]);
      context.lineWidth = Math.max(.7, USES[at][2] * Math.min(1, run.spacing / 8));
      context.stroke(path);
    });
  }

  const fullest = () => Math.max(20e3, ...runs.map(run => run.ranked[0]?.peak ?? 0));

  function drawSwitches(run, context) {
    const walls = new Path2D();
    for (const box of run.boxes.slice(run.hosts)) walls.rect(box.x, box.y, box.width, box.height);
    context.fillStyle = color("--page"); context.fill(walls);
    drawQueues(run, context);
    drawFaults(run, context);
    context.strokeStyle = color("--axis"); context.lineWidth = 1; context.stroke(walls);
    context.textAlign = "left"; context.textBaseline = "bottom";
    context.strokeStyle = color("--panel"); context.lineWidth = 4;
    const labelled = new Map();
    for (let node = run.hosts; node < run.names.length; node++) {
      const box = run.boxes[node], lost = run.drops.get(node)?.during(time) ?? 0, wide = context.measureText(run.names[node]).width;
      context.fillStyle = color("--ink");
      if (box.x > (labelled.get(box.y) ?? 0)) {
        context.strokeText(run.names[node], box.x + 1, box.y - 4);
        context.fillText(run.names[node], box.x + 1, box.y - 4);
        labelled.set(box.y, box.x + wide + 8);
      }
      if (!lost) continue;
      context.strokeStyle = context.fillStyle = color("--bad");
      context.strokeRect(box.x, box.y, box.width, box.height);
      context.strokeStyle = color("--panel");
      context.strokeText(`✕ ${bytesText(lost)} dropped`, box.x + wide + 10, box.y - 4);
      context.fillText(`✕ ${bytesText(lost)} dropped`, box.x + wide + 10, box.y - 4);
    }
  }

  // Marks the links and nodes that the names of active faults contain.
  function drawFaults(run, context) {
    context.strokeStyle = color("--bad"); context.lineWidth = 3; context.setLineDash([6, 5]);
    for (const {label, begin_us: begin, end_us: end} of run.scene.faults) {
      if (time < begin || time > (end ?? Infinity)) continue;
      const words = new Set(label.split(/[ ,]/)), pair = (one, other) => words.has(`${run.names[one]}-${run.names[other]}`);
      for (const link of run.links) {
        if (!pair(link.a.node, link.b.node) && !pair(link.b.node, link.a.node)) continue;
        context.beginPath();
        for (let share = 0; share <= 1; share += .1) context.lineTo(...run.onLink(link.a, share));
        context.stroke();
      }
      run.boxes.forEach((box, node) => { if (words.has(run.names[node])) context.strokeRect(box.x, box.y, box.width, box.height); });
    }
    context.setLineDash([]);
  }

  // Draws the queues as bars at their ports, in the colours of their curves; several classes are on top of each other.
  function drawQueues(run, context) {
    const scale = fullest(), bars = new Map(), marks = new Path2D(), filled = new Map(), levels = new Path2D();
    for (const queue of run.ranked) {
      const {port} = queue, depth = queue.at(time, run.until), high = queue.during(time), sign = port.side === "down" ? -1 : 1;
      drawn++;
      if (!depth && !high) continue;
      const wide = Math.max(1, Math.min(24, port.slot * .7)), below = filled.get(port) ?? 0, tall = depth / scale * port.room;
      const curve = run.chosen.indexOf(queue), name = curve < 0 ? OTHER_QUEUES : CURVES[curve % CURVES.length];
      grouped(name, bars, () => new Path2D()).rect(port.px - wide / 2, port.py + sign * below, wide, sign * Math.max(.5, tall));
      marks.rect(port.px - wide / 2, port.py + sign * (below + high / scale * port.room) - .5, wide, 1);
      filled.set(port, below + tall);
      if (run.scene.infers_pauses && run.isHeld(queue, time)) drawStop(context, port, true);
    }
    for (const [name, bar] of bars) { context.fillStyle = color(name); context.fill(bar); }
    context.fillStyle = color("--ink"); context.fill(marks);
    for (const [port, count] of run.stops) if (count(time) > 0 && port.node >= run.hosts) drawStop(context, port, false);
    const [limit] = Object.values(run.scene.thresholds_bytes);
    if (limit && limit < scale)
      for (let node = run.hosts; node < run.names.length; node++) {
        const box = run.boxes[node], port = run.portsOf[node].find(each => each.side === "down");
        if (!port) continue;
        levels.moveTo(box.x, port.py - limit / scale * port.room);
        levels.lineTo(box.x + box.width, port.py - limit / scale * port.room);
      }
    context.setLineDash([3, 3]); context.strokeStyle = color("--muted"); context.lineWidth = 1; context.stroke(levels); context.setLineDash([]);
  }
  function drawStop(context, port, isHollow) {
    const wide = Math.max(2, Math.min(9, port.slot * .5)), y = port.side === "down" ? port.py + 3 : port.py - wide - 3;
    context.fillStyle = context.strokeStyle = color(PFC); context.lineWidth = 1;
    for (const aside of [-wide / 2, wide / 8])
      if (isHollow) context.strokeRect(port.px + aside, y, wide * .35, wide); else context.fillRect(port.px + aside, y, wide * .35, wide);
  }

  function drawHosts(run, context) {
    const radius = Math.max(1.2, Math.min(9, run.spacing * .36));
    context.textAlign = "center"; context.textBaseline = "top";
    for (let node = 0; node < run.hosts; node++) {
      const {middle, y} = run.boxes[node], sends = run.count("sends", node, time), paused = run.count("paused", node, time);
      const isStopped = run.portsOf[node].some(port => run.stops.get(port)?.(time) > 0);
      drawHost(context, middle, y + radius, radius, sends, isStopped ? sends || 1 : paused, run.count("receives", node, time),
        isStopped ? PFC : PAUSED);
      if (run.isLabelled(node, context)) { context.fillStyle = color("--ink"); context.fillText(run.names[node], middle, y + 2 * radius + 4); }
      drawn++;
    }
  }

  function drawHost(context, x, y, radius, sends, paused, receives, pauseColor = PAUSED) {
    context.beginPath(); context.arc(x, y, radius, 0, 7);
    context.fillStyle = color(sends ? SENDS : "--panel"); context.fill();
    context.strokeStyle = color(receives ? "--ink" : "--axis"); context.lineWidth = receives ? 2 : 1; context.stroke();
    if (!paused) return;
    context.beginPath(); context.moveTo(x, y);
    context.arc(x, y, radius, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * paused / Math.max(sends, paused)); context.closePath();
    context.fillStyle = color(pauseColor); context.fill();
    if (radius < 6 || paused < sends) return;
    context.fillStyle = color("--panel");
    for (const aside of [-.4, .1]) context.fillRect(x + aside * radius, y - radius * .45, radius * .3, radius * .9);
  }

  const KINDS = {flow: "--axis", bts: PAUSED, peak: "#332288", drop: "--bad", pfc: PFC, fault: "--ink"};

  // Returns the span of the time axis: all of it, or of a run that is going on the latest seconds, if they contain the instant shown.
  function shownSpan() {
    const live = runs.find(run => run.isLive), long = live ? LIVE_SECONDS * 1e6 / live.scene.dilation : Infinity, first = Math.max(0, newest() - long);
    return first > 0 && time >= first ? [first, newest()] : [0, end()];
  }
  // Draws the time axis with the events above the curves of the chosen queues, unless they are drawn already.
  function drawChart(run) {
    const width = run.figure.chart.parentElement.clientWidth, [first, last] = shownSpan(), axis = {left: 64, top: 30, width: width - 78, height: 120, first, last};
    const scale = Math.max(1, ...runs.flatMap(each => each.chosen.map(queue => queue.peak))) * 1.08;
    const x = at => axis.left + (at - first) / (last - first) * axis.width, y = value => axis.top + axis.height * (1 - value / scale);
    run.axis = axis;
    run.figure.head.style.transform = `translateX(${x(time) - 1}px)`;
    const state = [width, first, last, scale, run.version, color("--ink"), ...run.chosen.map(queue => queue.label)].join("|");
    if (run.drawnChart === state) return;
    run.drawnChart = state;
    const context = prepared(run.figure.chart, width, axis.top + axis.height + 24), right = axis.left + axis.width;
    const across = value => { context.beginPath(); context.moveTo(axis.left, y(value)); context.lineTo(right, y(value)); context.stroke(); };
    context.font = `12px ${font}`; context.textBaseline = "middle"; context.lineWidth = 1;
    context.fillStyle = context.strokeStyle = color("--line");
    for (const {begin_us: from, end_us: until} of run.scene.faults)
      context.fillRect(x(from), axis.top, x(Math.min(last, until ?? last)) - x(from), axis.height);
    context.textAlign = "right"; context.fillStyle = color("--muted");
    for (const value of ticks(scale)) { context.fillText(bytesText(value), axis.left - 6, y(value)); across(value); }
    context.textAlign = "center";
    for (const at of ticks(last, first)) context.fillText(`${at.toLocaleString("en")}${at ? "" : " µs"}`, x(at), axis.top + axis.height + 13);
    context.setLineDash([3, 3]); context.strokeStyle = color("--muted"); context.textAlign = "right";
    let above = -Infinity;
    for (const [name, value] of Object.entries(run.scene.thresholds_bytes).sort(([, one], [, other]) => other - one))
      if (value < scale) {
        across(value);
        if (y(value) > above + 14) context.fillText(name, right - 2, (above = y(value)) - 8);
      }
    context.setLineDash([]);
    context.save(); context.beginPath(); context.rect(axis.left, 0, axis.width + 1, axis.top + axis.height + 1); context.clip();
    run.chosen.forEach((queue, at) => drawCurve(context, queue, run.isLive ? run.until : Infinity, color(CURVES[at % CURVES.length]), x, y));
    for (const {time: at, kind} of run.events) {
      const [aside, top, wide, high] = kind === "flow" ? [.5, 16, 1, 8] : [1, 10, 2, 16];
      context.fillStyle = color(KINDS[kind]);
      context.fillRect(x(at) - aside, top, wide, high);
    }
    context.restore();
    run.figure.curves.replaceChildren(...run.chosen.map((queue, at) => keyItem(
      item => { item.fillStyle = color(CURVES[at % CURVES.length]); item.fillRect(4, 5, 26, 6); }, queue.label)));
  }

  function drawCurve(context, queue, known, stroke, x, y) {
    const {time: times, value, high, interval} = queue, line = new Path2D(), area = new Path2D();
    for (let at = 0; at < times.length; at++) {
      const from = x(times[at] - interval), to = x(times[at]), isFirst = at === 0 || times[at] - times[at - 1] > interval * 1.5;
      area.rect(from, y(high[at]), Math.max(.5, to - from), y(0) - y(high[at]));
      if (isFirst) line.moveTo(from, y(0));
      line.lineTo(to, y(value[at]));
      const isLast = at + 1 === times.length ? known >= times[at] + interval : times[at + 1] - times[at] > interval * 1.5;
      if (isLast) line.lineTo(x(times[at] + interval), y(0));
    }
    context.save();
    context.fillStyle = context.strokeStyle = stroke;
    context.globalAlpha = .25; context.fill(area);
    context.globalAlpha = 1; context.lineWidth = 1.6; context.stroke(line);
    context.restore();
  }

  function ticks(last, first = 0) {
    const rough = (last - first) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(digit => digit * power).find(size => size >= rough);
    const begin = Math.ceil(first / step);
    return Array.from({length: Math.floor(last / step) - begin + 1}, (_, at) => Number(((begin + at) * step).toPrecision(12)));
  }

  function draw() {
    isAsked = false;
    drawn = 0;
    for (const run of runs) run.prepare();
    drawKey();
    for (const run of runs) {
      drawNetwork(run);
      drawChart(run);
      run.figure.state.textContent = stateText(run);
    }
    by("time").textContent = `${timeText(time)} µs of ${digits(end())} µs`;
    by("play").textContent = isPlaying ? "❚❚ Pause" : "▶ Play";
    by("follow").hidden = !runs.some(run => run.isLive) || isFollowing;
    for (const row of document.querySelectorAll("tr[data-time]")) row.classList.toggle("later", Number(row.dataset.time) > time);
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
  const CHOICES = {all: ["all", () => true], network: ["without flows", event => event.kind !== "flow"],
    flow: ["flows only", event => event.kind === "flow"]};
  function step(direction) {
    for (const run of runs) run.prepare();
    const [, isShown] = CHOICES[by("kinds").value];
    const events = runs.flatMap(run => run.events).filter(isShown).sort((one, other) => one.time - other.time);
    const next = direction > 0 ? events.find(event => event.time > time + 1e-6) : events.findLast(event => event.time < time - 1e-6);
    if (!next) return;
    isPlaying = false;
    seek(next.time);
    const together = events.filter(event => Math.abs(event.time - next.time) < 1e-6);
    const texts = together.map(({run, text}) => runs.length > 1 ? `${run.scene.label}: ${text}` : text);
    by("event").textContent = `${timeText(next.time)} µs: ${texts.join("; ")}`;
  }

  // Returns what is at a point of a network: a port, a switch or a host.
  function found(run, x, y) {
    const isIn = box => x >= box.x - 2 && x <= box.x + box.width + 2 && y >= box.y - 14 && y <= box.y + box.height + 16;
    const at = run.boxes.findIndex(isIn);
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
  // Chooses what is at a point, in all runs.
  function pick(run, x, y) {
    const what = found(run, x, y);
    if (!what) return;
    for (const each of runs) {
      const port = what.port && each.ports.get(what.node * 1024 + what.port.number);
      const queues = what.port ? [...port?.queues.values() ?? []] : [each.buffers.get(what.node)];
      if (what.kind === "host" || !queues[0]) continue;
      each.isPicked = true;
      each.chosen = queues;
    }
    select({kind: what.kind, node: what.node, number: what.port?.number});
  }

  // Shows the details of a flow, a host, a switch or a port, for each run.
  function select(what) {
    by("details").hidden = false;
    by("details").replaceChildren(...runs.flatMap(run => {
      const heading = text => element("h2", {textContent: runs.length > 1 ? `${run.scene.label}: ${text}` : text});
      if (what.kind === "flow") return flowDetails(run, run.flows.get(what.id), heading);
      return what.kind === "host" ? hostDetails(run, what.node, heading) : queueDetails(run, what, heading);
    }));
    ask();
  }
  function hostDetails(run, node, heading) {
    const flows = [...run.flows.values()].filter(flow => flow.src === node || flow.dst === node), shown = flows.slice(0, MOST_ROWS);
    const rows = shown.map(flow => [flow.start, [flowButton(flow.id), run.names[flow.src], run.names[flow.dst], flow.tag, bytesText(flow.size),
      timeButton(flow.start), fctText(flow)]]);
    const title = `${run.names[node]}: ${flows.length > MOST_ROWS ? `${MOST_ROWS} of ` : ""}${flows.length} flows`;
    return [heading(title), table(["Flow", "From", "To", "Class", "Size", "Start", "FCT"], rows)];
  }
  function queueDetails(run, {node, number}, heading) {
    const port = run.ports.get(node * 1024 + number), queues = port ? [...port.queues.values()] : [run.buffers.get(node)].filter(Boolean);
    const title = port ? `${run.portName(port)}, port ${number}, ${digits(port.link.rate / 1e9)} Gb/s` : run.names[node];
    if (!queues.length) return [heading(title), element("p", {textContent: "It was empty at all samples."})];
    const rows = queues.map(queue => [queue.peakTime, [queue.label, bytesText(queue.peak), timeButton(queue.peakTime)]]);
    return [heading(title), table(["Queue", "Peak", "At µs"], rows)];
  }
  const timeButton = at => element("button", {type: "button", textContent: timeText(at), onclick: () => seek(at), title: "Go to this time"});
  const flowButton = id => element("button", {type: "button", textContent: String(id), onclick: () => select({kind: "flow", id})});
  function table(heads, rows) {
    const body = element("tbody", {}, ...rows.map(([at, cells]) => {
      const row = element("tr", {}, ...cells.map(cell => element("td", {}, cell)));
      if (!isNaN(at)) row.dataset.time = at;
      return row;
    }));
    return element("div", {className: "scroll"}, element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map(textContent => element("th", {textContent})))), body));
  }

  function flowDetails(run, flow, heading) {
    if (!flow) return [heading("This flow is not on this page.")];
    const facts = [`${bytesText(flow.size)}, ${flow.tag}`, `FCT ${fctText(flow)}`, `ideal ${usText(flow.ideal)}`, `paused for ${usText(flow.paused ?? 0)}`,
      `${flow.resent ?? 0} packets sent again`];
    const parts = [heading(`Flow ${flow.id}: ${run.names[flow.src]} → ${run.names[flow.dst]}`), element("p", {textContent: facts.join("; ")})];
    const chain = [flow];
    while (run.flows.has(chain[0].after)) chain.unshift(run.flows.get(chain[0].after));
    if (chain.length > 1) parts.push(element("h3", {textContent: "The chain of messages that it waited for"}), element("div", {className: "chain"},
      table(["Flow", "From", "To", "Start", "FCT", "Ideal"], chain.map(each => [each.start, [flowButton(each.id), run.names[each.src],
        run.names[each.dst], timeButton(each.start), fctText(each), usText(each.ideal)]]))));
    const history = run.history(flow).map(([at, where, what, detail]) => [at, [timeButton(at), where, what, detail]]);
    return [...parts, element("h3", {textContent: "History"}), table(["µs", "Where", "What", "Detail"], history)];
  }

  function keyItem(drawItem, text) {
    const canvas = element("canvas");
    drawItem(prepared(canvas, 34, 16));
    return element("li", {}, canvas, ` ${text}`);
  }
  // Explains what is drawn, as far as these runs have it.
  function drawKey() {
    const kinds = new Set(runs.flatMap(run => [...run.kinds])), hasStops = runs.some(run => run.stops.size);
    const isInferred = runs.some(run => run.scene.infers_pauses), hasPauses = runs.some(run => run.pauses.length);
    const full = bytesText(fullest()), state = [...kinds, full, color("--ink"), hasStops].join("|");
    if (drawnKey === state) return;
    drawnKey = state;
    const dot = (name, rim = "--panel") => context => drawDot(context, 17, 8, 5, name, rim);
    const host = (...figures) => context => drawHost(context, 17, 8, 7, ...figures);
    const stop = isHollow => context => drawStop(context, {px: 17, py: 0, slot: 18, side: "down"}, isHollow);
    const bars = (...rectangles) => context => {
      for (const [name, ...place] of rectangles) { context.fillStyle = color(name); context.fillRect(...place); }
    };
    const items = [
      [bars(...USES.slice(1).map(([, name, wide], at) => [name, at * 9, 8 - wide / 2, 8, wide])), "use of a link in one direction: to 25, 50, 80, 100 %"],
      [bars([CURVES[0], 12, 6, 9, 10], ["--ink", 12, 2, 9, 1]), `queue at its port, and its highest depth (fullest: ${full})`],
      kinds.has("queue") && [dot(DOTS.queue), "BTS on its way to a sender"], kinds.has("cache") && [dot(DOTS.cache), "BTS from a pause cache"],
      kinds.has("slow") && [dot(DOTS.slow), "request to slow down"], kinds.has("pfc") && [dot(PFC), "PFC pause"],
      kinds.has("resume") && [dot("--panel", PFC), "PFC resume"], hasStops && [stop(false), "port stopped by PFC"],
      isInferred && [stop(true), "port that sent little although its queue held bytes: probably stopped by PFC"],
      ...runs[0].scene.tags.filter(tag => kinds.has(tag)).map(tag => [context => drawDot(context, 17, 8, 2, ackColor(runs[0], tag)), `ACKs of ${tag}`]),
      runs.some(run => run.scene.faults.length) && [bars(...[2, 13, 24].map(at => ["--bad", at, 7, 7, 3])), "link or node with a fault"],
      [host(1, 0, 0), "host that sends"], hasPauses && [host(1, 1, 0), "all its flows paused"],
      hasPauses && [host(2, 1, 0), "half of them paused"], [host(0, 0, 1), "host that receives"]];
    by("key").replaceChildren(...items.filter(Boolean).map(([drawItem, text]) => keyItem(drawItem, text)));
  }

  function begin(scene) {
    const run = new Run(scene);
    run.figure = addFigure(run);
    runs.push(run);
    if (run.isLive) { isFollowing = true; time = 0; }
    setSpeed();
    ask();
    return runs.length - 1;
  }
  function append(chunk, number = 0) {
    runs[number].append(chunk);
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
    by("details").hidden = true;
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
  for (const id of ["speed", "kinds"]) by(id).addEventListener("change", () => by(id).blur());  // so that keys play and step again
  by("flow").addEventListener("change", () => { if (by("flow").value) select({kind: "flow", id: Number(by("flow").value)}); });
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
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { paint.clear(); ask(); });
  window.sfcWatch = {begin, append, finish, drop, seek, play, step, select, runs, get time() { return time; }, get drawn() { return drawn; }, draw};
  for (const data of document.querySelectorAll("script.watch-data")) {
    const {scene, chunks} = JSON.parse(data.textContent), number = begin(scene);
    for (const chunk of chunks) append(chunk, number);
  }
  setSpeed();
  if (runs.length) draw();
})();
