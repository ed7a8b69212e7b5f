// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Draws the plots of a page with Bokeh. The data of each plot are beside it, see analysis/report/plot_data.py.
"use strict";
(() => {
  const INK = "#1F2328", MUTED = "#6A737D", SPINE = "#9AA1A9", GRID = "#E3E6EA", PAPER = "#FFFFFF";
  const DOTTED = [2, 2], PIXELS_PER_POINT = 4 / 3, PIXELS_PER_INCH = 80, PANEL_INCHES = 4.2;
  const MARKERS = {
    o: ["circle", "●", "○"], s: ["square", "■", "□"], "^": ["triangle", "▲", "△"], v: ["inverted_triangle", "▼", "▽"],
    D: ["diamond", "◆", "◇"], P: ["plus", "✚", "✛"], x: ["x", "✕", "✕"], ".": ["circle", "•", "◦"],
  };
  const font = getComputedStyle(document.body).fontFamily;
  const isTouched = matchMedia("(pointer: coarse)").matches;
  const model = (name, properties = {}) => new (Bokeh.Models.get(name))(properties);
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const numbers = text => new Float32Array(Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer);
  const oneLine = text => text.replaceAll("\n", " ");

  // Colours follow the page's light or dark style, also while it is open.
  const painted = [];
  const variable = color => `--plot-${color.slice(1).toLowerCase()}`;
  const colorNow = color => getComputedStyle(document.documentElement).getPropertyValue(variable(color)).trim() || color;
  const colored = (owner, properties) => {
    for (const [property, color] of Object.entries(properties)) {
      painted.push([owner, property, color]);
      owner[property] = colorNow(color);
    }
    return owner;
  };
  const darkStyle = matchMedia("screen and (prefers-color-scheme: dark)");
  const markStyle = () => document.documentElement.classList.toggle("drawn-dark", darkStyle.matches);
  const paint = () => {
    markStyle();
    for (const [owner, property, color] of painted) owner[property] = colorNow(color);
  };

  const interval = axis => model("Range1d", {start: axis.low, end: axis.high, bounds: "auto"});
  const scale = axis => model(axis.is_log ? "LogScale" : "LinearScale");

  // Returns round numbers for a logarithmic axis: more digits the shorter the axis is.
  function logTicks(low, high) {
    const ratio = high / low, ticks = [];
    if (!(low > 0 && high < Infinity)) return ticks;
    if (ratio < 2) {
      const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map(digit => digit * power).find(size => size >= rough);
      for (let at = Math.ceil(low / step); at * step <= high; at++) ticks.push(Number((at * step).toPrecision(6)));
      return ticks;
    }
    const digits = ratio <= 12 ? [1, 1.5, 2, 3, 4, 5, 7] : ratio <= 300 ? [1, 2, 5] : [1];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
      for (const digit of digits) ticks.push(Number((digit * 10 ** power).toPrecision(6)));
    return ticks.filter(tick => tick >= low / 1.001 && tick <= high * 1.001);
  }

  function logTicker(shown) {
    const ticker = model("FixedTicker", {ticks: logTicks(shown.start, shown.end)});
    for (const end of ["start", "end"])
      shown.properties[end].change.connect(() => { ticker.ticks = logTicks(shown.start, shown.end); });
    return ticker;
  }

  function addAxis(frame, axis, place, dimension) {
    const kind = axis.is_log ? "Log" : "Linear";
    const ticker = axis.ticks.length ? model("FixedTicker", {ticks: axis.ticks.map(([at]) => at)})
      : axis.is_log ? logTicker(dimension ? frame.y_range : frame.x_range)
      : model("BasicTicker", {desired_num_ticks: 6, num_minor_ticks: 0});
    const text = {text_font: font, text_font_style: "normal"};
    const named = prefix => Object.fromEntries(Object.entries(text).map(([key, value]) => [`${prefix}_${key}`, value]));
    const drawn = model(`${kind}Axis`, {
      axis_label: oneLine(axis.label), ticker, formatter: model("BasicTickFormatter", {use_scientific: false}),
      major_label_overrides: new Map(axis.ticks), axis_label_text_font_size: "13px", major_label_text_font_size: "12px",
      major_label_orientation: axis.slant_degrees * Math.PI / 180 || "horizontal", ...named("axis_label"),
      ...named("major_label"), major_tick_in: 0,
    });
    colored(drawn, {axis_label_text_color: INK, major_label_text_color: INK, axis_line_color: SPINE,
      major_tick_line_color: MUTED});
    frame.add_layout(drawn, place);
    frame.add_layout(colored(model("Grid", {dimension, ticker}), {grid_line_color: GRID}));
  }

  // A step curve is drawn as a line, because the library finds values under the mouse for lines only.
  function corners({x, y}, join) {
    if (join !== "before" && join !== "after") return {x, y};
    const count = Math.max(0, 2 * x.length - 1), stepped = {x: new Float32Array(count), y: new Float32Array(count)};
    for (let at = 0; at < count; at++) {
      const before = at >> 1, after = (at + 1) >> 1;
      stepped.x[at] = x[join === "before" ? before : after];
      stepped.y[at] = y[join === "before" ? after : before];
    }
    return stepped;
  }

  // Moves points to the right by some inches, so that bars of several lines are beside each other.
  function shifted(x, inches, axis) {
    const share = inches / PANEL_INCHES, {low, high} = axis;
    return x.map(value => axis.is_log ? value * (high / low) ** share : value + share * (high - low));
  }

  const adders = {
    Line(frame, line, panel, show) {
      const points = {x: numbers(line.x), y: numbers(line.y)};
      if (!points.x.length) return;
      const names = new Map(panel.x.ticks), name = oneLine(line.name || line.label);
      const source = ({x, y}) => model("ColumnDataSource", {data: {
        x: shifted(x, line.aside_inches, panel.x), y, shown_x: names.size ? Array.from(x, at => names.get(at) ?? at) : x,
      }});
      const {color, dashes} = line.look, width = line.width * PIXELS_PER_POINT, parts = [];
      if (line.join !== "none") {
        const glyph = model("Line", {x: {field: "x"}, y: {field: "y"}, line_width: width, line_join: "round",
          line_dash: dashes[1].map(length => length * width)});
        parts.push(frame.add_glyph(colored(glyph, {line_color: color}), source(corners(points, line.join))));
      }
      if (line.marker) {
        const {shape, points: size, is_filled: isFilled, rim_points: rim, every} = line.marker;
        const [first, step] = every ?? [0, 1], isShown = (_, at) => at >= first && (at - first) % step === 0;
        const glyph = model("Scatter", {x: {field: "x"}, y: {field: "y"}, marker: MARKERS[shape][0],
          size: (shape === "." ? size / 2 : size) * PIXELS_PER_POINT, line_width: rim ?? 1});
        colored(glyph, {fill_color: isFilled ? color : PAPER, line_color: isFilled && rim ? PAPER : color});
        parts.push(frame.add_glyph(glyph, source({x: points.x.filter(isShown), y: points.y.filter(isShown)})));
      }
      for (const part of parts) part.name = name;
      const hovered = parts.filter(part => line.join === "none" || !line.marker?.every || part === parts[0]);
      frame.add_tools(model("HoverTool", {renderers: hovered.slice(0, 1), line_policy: "nearest", visible: false,
        tooltips: [["", "$name"], [oneLine(panel.x.label) || "x", names.size ? "@shown_x" : "@shown_x{0,0.[000]}"],
          [oneLine(panel.y.label) || "y", "@y{0,0.[0000]}"]]}));
      show(line.label, parts);
    },
    Band(frame, band, panel, show) {
      const {x, y} = corners({x: numbers(band.x), y: numbers(band.y)}, "before");
      const glyph = model("VArea", {x: {field: "x"}, y1: 0, y2: {field: "y"}, fill_alpha: band.alpha});
      const part = frame.add_glyph(colored(glyph, {fill_color: band.color}),
        model("ColumnDataSource", {data: {x, y}}));
      show(band.label, [part]);
    },
    Bars(frame, bars, panel, show) {
      const x = shifted(numbers(bars.x), bars.aside_inches, panel.x), y = numbers(bars.y), halves = numbers(bars.halves);
      const data = {x, lower: y.map((value, at) => value - halves[at]), upper: y.map((value, at) => value + halves[at])};
      const head = () => colored(model("TeeHead", {size: 7, line_width: 1.2}), {line_color: bars.color});
      const whisker = model("Whisker", {source: model("ColumnDataSource", {data}), base: {field: "x"},
        lower: {field: "lower"}, upper: {field: "upper"}, line_width: 1.2, upper_head: head(), lower_head: head()});
      frame.add_layout(colored(whisker, {line_color: bars.color}));
      show(bars.label, [whisker]);
    },
    Level(frame, level, panel, show) {
      const line = model("Span", {dimension: "width", location: level.value, line_dash: DOTTED});
      frame.add_layout(colored(line, {line_color: MUTED}));
      if (level.in_legend) show(level.name, [line]);
      else frame.add_layout(note(level.name, {x: panel.x.high, y: level.value, x_offset: -4, y_offset: 3,
        text_align: "right"}));
    },
    Fault(frame, fault, panel) {
      const area = model("BoxAnnotation", {left: fault.begin, right: fault.end, fill_alpha: .12, line_width: 0});
      frame.add_layout(colored(area, {fill_color: MUTED}));
      const line = model("Span", {dimension: "height", location: fault.begin, line_dash: DOTTED});
      frame.add_layout(colored(line, {line_color: MUTED}));
      frame.add_layout(note(fault.name, {x: fault.begin, y: panel.y.high, x_offset: 12, y_offset: -4, angle: Math.PI / 2,
        text_align: "right"}));
    },
  };
  adders.Segments = (frame, item, panel, show) => {
    const x = numbers(item.x), y = numbers(item.y), ends = from => (_, at) => at % 2 === from;
    const data = {x0: x.filter(ends(0)), x1: x.filter(ends(1)), y0: y.filter(ends(0)), y1: y.filter(ends(1)),
      text: item.texts};
    const glyph = model("Segment", {x0: {field: "x0"}, x1: {field: "x1"}, y0: {field: "y0"}, y1: {field: "y1"},
      line_width: item.width * PIXELS_PER_POINT});
    addNamed(frame, item, colored(glyph, {line_color: item.look.color}), data, show);
  };
  adders.Marks = (frame, item, panel, show) => {
    const data = {x: numbers(item.x), y: numbers(item.y), size: numbers(item.sizes).map(size => size * PIXELS_PER_POINT),
      text: item.texts, ...item.labels.length ? {label: roomy(item)} : {}};
    const place = {x: {field: "x"}, y: {field: "y"}};
    const glyph = model("Scatter", {...place, marker: MARKERS[item.marker.shape][0], size: {field: "size"}, line_width: 0,
      fill_alpha: item.alpha});
    const source = addNamed(frame, item, colored(glyph, {fill_color: item.look.color}), data, show);
    if (item.labels.length) frame.add_glyph(colored(model("Text", {...place, text: {field: "label"},
      y_offset: item.is_above ? -7 : 7, text_align: "center", text_baseline: item.is_above ? "bottom" : "top", text_font: font, text_font_size: "11px"}), {text_color: INK}), source);
  };
  // Returns the labels of marks; of a row of marks that is too crowded for this window, only the first and the last.
  function roomy({labels, y}) {
    const rows = new Map(), heights = numbers(y), most = Math.min(innerWidth, 1200) / 48;
    labels.forEach((label, at) => { if (label) rows.set(heights[at], [...rows.get(heights[at]) ?? [], at]); });
    const isLeftOut = (at, place, row) => row.length > most && place > 0 && place < row.length - 1;
    const leftOut = new Set([...rows.values()].flatMap(row => row.filter(isLeftOut)));
    return labels.map((label, at) => leftOut.has(at) ? "" : label);
  }
  // Draws pieces that each have a text, which shows under the mouse.
  function addNamed(frame, item, glyph, data, show) {
    const source = model("ColumnDataSource", {data}), part = frame.add_glyph(glyph, source);
    frame.add_tools(model("HoverTool", {renderers: [part], visible: false, tooltips: [["", "@text"]]}));
    show(item.label, [part]);
    return source;
  }
  const note = (text, place) => colored(model("Label", {text: oneLine(text), text_font: font, text_font_size: "12px",
    ...place}), {text_color: MUTED});

  function drawnPanel(panel, height, show) {
    const place = element("div", {className: "frame"});
    place.style.height = `${height}px`;
    const title = element("div", {className: "panel-title", textContent: panel.title});
    if (panel.text) {
      place.append(element("span", {className: "no-data", textContent: panel.text}));
      return [element("div", {}, title, place), null];
    }
    const tools = ["BoxZoomTool", "PanTool", "WheelZoomTool", "ResetTool", "SaveTool"].map(name => model(name));
    const frame = model("Plot", {
      x_range: interval(panel.x), y_range: interval(panel.y), x_scale: scale(panel.x), y_scale: scale(panel.y), height,
      sizing_mode: "stretch_width", background_fill_color: null, border_fill_color: null, outline_line_color: null,
      toolbar_location: "above",
      toolbar: model("Toolbar", {tools, logo: null, autohide: true, active_drag: isTouched ? null : tools[0],
        active_scroll: null}),
    });
    if (panel.has_axes) {
      addAxis(frame, panel.x, "below", 0);
      addAxis(frame, panel.y, "left", 1);
    }
    for (const item of panel.items) adders[item.kind](frame, item, panel, show);
    return [element("div", {}, title, place), async () => {
      const contained = new (Bokeh.require("document").Document)();
      contained.add_root(frame);
      await Bokeh.embed.add_document_standalone(contained, place);
      frames.push(frame);
    }];
  }

  function legend(plot, parts) {
    const named = new Map();
    for (const item of plot.panels.flatMap(panel => panel.items)) {
      const label = item.kind === "Level" ? item.name : item.label;
      if (item.in_legend && label && !named.has(label)) named.set(label, item);
    }
    return element("ul", {className: "legend"}, ...[...named].map(([label, item]) => {
      return element("li", {}, toggle([key(item), ` ${oneLine(label)}`], isShown => {
        for (const part of parts.get(label) ?? []) part.visible = isShown;
      }));
    }));
  }

  // Returns a button that is pressed at first and passes on whether it is pressed.
  function toggle(content, onToggle) {
    const button = element("button", {type: "button", title: "Show or hide"}, ...content);
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const isShown = button.getAttribute("aria-pressed") === "false";
      button.setAttribute("aria-pressed", String(isShown));
      onToggle(isShown);
    });
    return button;
  }

  // Adds a legend for all plots: the schemes or classes that have curves in several plots. Longer labels of a plot that
  // begin with such a name, as in "sfc (tor2)", belong to the name, too.
  function addFilter() {
    const legends = [...document.querySelectorAll(".legend")].map(list => [...list.querySelectorAll("button")]);
    const label = button => button.textContent.trim(), counts = new Map();
    for (const name of legends.flat().map(label)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const names = [...counts.keys()].filter(name => counts.get(name) > 1);
    const isOf = (text, name) => text === name || [" (", ","].some(end => text.startsWith(name + end));
    const buttons = names.map(name => toggle([name], isShown => {
      for (const button of legends.flat())
        if (isOf(label(button), name) && button.getAttribute("aria-pressed") !== String(isShown)) button.click();
    }));
    const items = buttons.map(button => element("li", {}, button));
    if (names.length > 1)
      document.querySelector("figure").before(element("ul", {className: "filter"}, element("li", {}, "In all plots:"), ...items));
  }

  // Returns the picture of a line before its name in the legend.
  function key(item) {
    const [color, dashes, width, join] = item.kind === "Level" ? [MUTED, DOTTED, 1, ""]
      : [item.look.color, item.look.dashes[1], item.width, item.join];
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const add = (name, attributes, text = "") => {
      const made = document.createElementNS(svg.namespaceURI, name);
      for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
      made.textContent = text;
      svg.append(made);
    };
    const style = `var(${variable(color)}, ${color})`;
    if (join !== "none") add("line", {x1: 0, x2: 43, y1: 6, y2: 6, style: `stroke: ${style}`, "stroke-width": width,
      "stroke-dasharray": dashes.map(length => length * width).join(" ")});
    if (item.marker) add("text", {x: 21.5, y: 10, "text-anchor": "middle", "font-size": 11, style: `fill: ${style}`},
      MARKERS[item.marker.shape][item.marker.is_filled ? 1 : 2]);
    svg.setAttribute("viewBox", "0 0 43 12");
    svg.setAttribute("aria-hidden", "true");
    return svg;
  }

  // Keeps the width of the plots for print, where it becomes that of a sheet of paper.
  const PAPER_PIXELS = 660;
  function noteWidth() {
    const width = document.querySelector(".panels")?.offsetWidth;
    if (!width || matchMedia("print").matches) return;
    document.documentElement.style.setProperty("--drawn-width", `${width}px`);
    document.documentElement.style.setProperty("--drawn-zoom", Math.min(1, PAPER_PIXELS / width));
  }

  const frames = [];
  async function drawAll() {
    const begin = [];
    markStyle();
    for (const data of document.querySelectorAll("script.plot-data")) {
      const plot = JSON.parse(data.textContent), parts = new Map();
      const show = (label, more) => parts.set(label, [...parts.get(label) ?? [], ...more]);
      const height = Math.max(180, plot.height_inches * PIXELS_PER_INCH / Math.ceil(plot.panels.length / (plot.columns || plot.panels.length)));
      const panels = data.parentElement.querySelector(".panels");
      for (const panel of plot.panels) {
        const [place, embed] = drawnPanel(panel, height, show);
        panels.append(place);
        if (embed) begin.push(embed);
      }
      if (plot.has_legend) panels.after(legend(plot, parts));
    }
    for (const embed of begin) await embed();
    addFilter();
    noteWidth();
    addEventListener("resize", noteWidth);
    document.documentElement.dataset.plots = "drawn";
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  window.sfcPlots = {frames, ready: drawAll()};
})();
