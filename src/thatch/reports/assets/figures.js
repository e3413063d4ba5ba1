"use strict";
// Draws the figures of a report as SVG. What is drawn stands beside its place as JSON: positions, texts, axes with their
// ticks. Texts are only ever set as text. Colours are those of the style sheet, so that light and dark need no drawing.
(() => {
  const GAP = 6, LINE = 15, REACH = 24;
  const DASH = {dash: "7 4", dot: "2 3", dashdot: "7 3 2 3"};
  const star = [...Array(10).keys()].map(k => [k % 2 ? 0.55 : 1.4, k * Math.PI / 5])
    .map(([r, a]) => `${(r * Math.sin(a)).toFixed(2)} ${(-r * Math.cos(a)).toFixed(2)}`);
  const SHAPES = {
    circle: "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z", square: "M-.9-.9H.9V.9H-.9Z", diamond: "M0-1.3 1.3 0 0 1.3-1.3 0Z",
    "triangle-up": "M0-1.2 1.2.9H-1.2Z", "triangle-down": "M0 1.2 1.2-.9H-1.2Z",
    x: "M-1.1-.6-.6-1.1 0-.5.6-1.1 1.1-.6.5 0 1.1.6.6 1.1 0 .5-.6 1.1-1.1.6-.5 0Z",
    cross: "M-.4-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z", star: `M${star.join(" ")}Z`,
  };
  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = text => (pen.font = "12px system-ui, sans-serif", pen.measureText(text).width);
  const cut = (text, width) => {
    if (widthOf(text) <= width) return text;
    let end = text.length;
    while (end > 1 && widthOf(text.slice(0, end) + "…") > width) end--;
    return text.slice(0, end) + "…";
  };
  const html = (parent, tag, name, text = "") => {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    return parent.appendChild(element);
  };
  const add = (parent, tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return parent.appendChild(element);
  };
  const colour = place => `var(--s${place % 8})`;
  const scale = (axis, from, to) => {
    const of = axis.log ? Math.log10 : value => value, [low, high] = axis.range.map(of);
    return value => from + (of(value) - low) / (high - low || 1) * (to - from);
  };

  class Plot {
    constructor(root) {
      this.root = root;
      this.spec = JSON.parse(root.nextElementSibling.textContent);
      this.hidden = new Set();
      this.legend();
      this.frame = html(root, "div", "frame");
      this.tip = html(root, "div", "tip");
      this.tip.hidden = true;
      root.addEventListener("pointermove", event => this.point(event));
      root.addEventListener("pointerdown", event => this.point(event));
      root.addEventListener("pointerleave", () => this.leave());
      new ResizeObserver(() => this.width !== this.frame.clientWidth && this.draw()).observe(this.frame);
      this.draw();
    }

    legend() {
      const {layout, data} = this.spec;
      if (layout.colours) {
        const box = html(this.root, "div", "scale");
        html(box, "span", "", layout.colours.title);
        html(box, "i", "");
        const ticks = html(box, "div", "");
        const named = layout.colours.ticks, step = Math.max(1, Math.ceil((named.length - 1) / 2));
        named.forEach((text, k) => k % step && k < named.length - 1 || html(ticks, "span", "", text));
      }
      if (!layout.legend) return;
      const box = html(this.root, "div", "legend");
      data.forEach((trace, place) => {
        const button = html(box, "button", "");
        button.type = "button";
        button.setAttribute("aria-pressed", "true");
        const key = add(button, "svg", {width: 22, height: 12, viewBox: "-11 -6 22 12", "aria-hidden": "true"});
        const paint = trace.colour || colour(place);
        if (trace.type === "bar") add(key, "rect", {x: -6, y: -5, width: 12, height: 10, style: `fill:${paint}`});
        if (trace.dash) add(key, "path", {d: "M-11 0H11", class: "line", "stroke-dasharray": DASH[trace.dash] || "none", style: `stroke:${paint}`});
        if (trace.symbol) add(key, "path", {d: SHAPES[trace.symbol], transform: "scale(4)", style: `fill:${paint}`});
        button.append(trace.name || "–");
        button.addEventListener("click", () => {
          this.hidden.has(place) ? this.hidden.delete(place) : this.hidden.add(place);
          button.setAttribute("aria-pressed", String(!this.hidden.has(place)));
          this.draw();
        });
      });
    }

    draw() {
      const {layout, height} = this.spec;
      this.width = this.frame.clientWidth;
      this.frame.replaceChildren();
      const svg = this.svg = add(this.frame, "svg", {class: "drawing", width: this.width, height, "aria-hidden": "true"});
      this.hits = [];
      this.x = {...layout.x};
      this.y = {...layout.y};
      // The labels on the left: as wide as they are, but never most of a phone.
      const most = 0.36 * this.width;
      this.left = Math.max(12, ...this.y.ticks.map(tick => Math.min(most, widthOf(tick[1])))) + GAP + (this.y.title ? LINE + GAP : 0);
      this.right = this.width - Math.max(12, this.x.ticks.length && !this.x.labels ? widthOf(this.x.ticks.at(-1)[1]) / 2 : 0);
      const room = (this.right - this.left) / Math.max(1, this.x.ticks.length);
      const widest = Math.max(0, ...this.x.ticks.map(tick => widthOf(tick[1])));
      this.turned = this.x.labels && widest > room - 4;
      const below = this.turned ? Math.min(widest, 110) * 0.71 + LINE : this.x.ticks.length ? LINE + GAP : GAP;
      this.top = 10;
      this.bottom = height - below - (this.x.title ? LINE + GAP : 0) - 4;
      if (layout.equal) this.equalise();
      this.px = scale(this.x, this.left, this.right);
      this.py = scale(this.y, this.bottom, this.top);
      this.axes(svg, most);
      (layout.rings || []).forEach(ring => add(svg, "path", {class: "ring", d: `M${ring.map(([x, y]) => `${this.px(x)} ${this.py(y)}`).join("L")}Z`}));
      (layout.links || []).forEach(([a, b, c, d]) => add(svg, "path", {class: "link", d: `M${this.px(a)} ${this.py(b)}L${this.px(c)} ${this.py(d)}`}));
      const bars = this.spec.data.filter((trace, place) => trace.type === "bar" && !this.hidden.has(place)).length;
      let bar = 0;
      this.spec.data.forEach((trace, place) => {
        if (this.hidden.has(place)) return;
        const group = add(svg, "g", {class: trace.type, style: `color:${trace.colour || colour(place)}`});
        if (trace.type === "bar") this.bars(group, trace, bar++, bars);
        else this[trace.type](group, trace);
      });
      (layout.levels || []).forEach(([level, name]) => {
        const y = this.py(level);
        add(svg, "path", {class: "level", d: `M${this.left} ${y}H${this.right}`});
        add(svg, "text", {class: "note", x: this.right - 2, y: y - 4, "text-anchor": "end"}, name);
      });
      (layout.notes || []).forEach(note => {
        const lines = note.text.split("\n"), y = this.py(note.y) + (note.above ? -12 - LINE * (lines.length - 1) : LINE);
        const wide = Math.max(...lines.map(widthOf)), half = {start: 0, middle: 0.5, end: 1}[note.anchor] * wide;
        const x = Math.max(0, Math.min(this.px(note.x) - half, this.width - wide)) + half;
        lines.forEach((line, k) => add(svg, "text", {class: "note", x, y: y + k * LINE, "text-anchor": note.anchor}, line));
      });
      this.mark = add(svg, "path", {class: "mark"});
    }

    equalise() {
      const wide = this.right - this.left, high = this.bottom - this.top;
      const [x, y] = [this.x, this.y].map(axis => Math.abs(axis.range[1] - axis.range[0]) || 1);
      const unit = Math.max(x / wide, y / high);
      const widened = (axis, length) => {
        const middle = (axis.range[0] + axis.range[1]) / 2;
        axis.range = [middle - length * unit / 2, middle + length * unit / 2];
      };
      widened(this.x, wide);
      widened(this.y, high);
    }

    axes(svg, most) {
      let last = -Infinity;
      for (const [value, text] of this.x.ticks) {
        const x = this.px(value), half = this.turned ? LINE / 2 : widthOf(text) / 2 + 4;
        if (this.x.grid) add(svg, "path", {class: "grid", d: `M${x} ${this.top}V${this.bottom}`});
        if (x - half < last) continue;
        last = x + half;
        const at = this.turned ? {x, y: this.bottom + 14, "text-anchor": "end", transform: `rotate(-45 ${x} ${this.bottom + 14})`}
          : {x, y: this.bottom + LINE + 2, "text-anchor": "middle"};
        add(svg, "text", {class: "tick", ...at}, this.turned ? cut(text, 110) : text);
      }
      last = Infinity;
      const ticks = [...this.y.ticks].sort((a, b) => this.py(b[0]) - this.py(a[0]));
      for (const [value, text] of ticks) {
        const y = this.py(value);
        if (this.y.grid) add(svg, "path", {class: "grid", d: `M${this.left} ${y}H${this.right}`});
        if (last - y < LINE - 2) continue;
        last = y;
        add(svg, "text", {class: "tick ytick", x: this.left - GAP, y: y + 4, "text-anchor": "end"}, cut(text, most));
      }
      if (this.x.ticks.length) add(svg, "path", {class: "axis", d: `M${this.left} ${this.bottom}H${this.right}`});
      const middle = (this.left + this.right) / 2;
      if (this.x.title) add(svg, "text", {class: "title", x: middle, y: this.spec.height - 5, "text-anchor": "middle"}, cut(this.x.title, this.right - this.left));
      const up = (this.top + this.bottom) / 2;
      if (this.y.title) add(svg, "text", {class: "title", x: 12, y: up, "text-anchor": "middle", transform: `rotate(-90 12 ${up})`}, cut(this.y.title, this.bottom - this.top));
    }

    bars(group, trace, number, count) {
      const across = trace.lying ? this.py : this.px, along = trace.lying ? this.px : this.py;
      const base = (trace.lying ? this.x : this.y), zero = along(base.log ? base.range[0] : 0);
      const at = trace.lying ? trace.y : trace.x, ends = trace.lying ? trace.x : trace.y;
      at.forEach((place, k) => {
        if (ends[k] === null) return;
        const least = ends[k] ? 0.5 : 0;
        const width = trace.width ? trace.width[k] : 0.76 / count, low = trace.width ? place - width / 2 : place - 0.38 + number * width;
        const [a, b] = [across(low), across(low + width)].sort((p, q) => p - q), [c, d] = [zero, along(ends[k])].sort((p, q) => p - q);
        const [x, y, w, h] = trace.lying ? [c, a, d - c, b - a] : [a, c, b - a, d - c];
        add(group, "rect", {x, y, width: Math.max(w, least), height: Math.max(h, least)});
        const band = trace.lying ? [this.left, a, this.right - this.left, b - a] : [a, this.top, b - a, this.bottom - this.top];
        this.hits.push({band, x: trace.lying ? along(ends[k]) : x + w / 2, y: trace.lying ? y + h / 2 : along(ends[k]), text: trace.texts[k]});
      });
    }

    points(group, trace) {
      const places = trace.x.map((x, k) => x === null || trace.y[k] === null ? null : [this.px(x), this.py(trace.y[k])]);
      if (trace.dash) {
        let path = "", open = false;
        for (const place of places) {
          if (place) path += `${open ? "L" : "M"}${place[0].toFixed(1)} ${place[1].toFixed(1)}`;
          open = place !== null;
        }
        add(group, "path", {class: "line", d: path || "M0 0", "stroke-dasharray": DASH[trace.dash] || "none"});
      }
      places.forEach((place, k) => {
        if (!place) return;
        if (trace.symbol) add(group, "path", {class: trace.dash ? "dot" : "dot cloud", d: SHAPES[trace.symbol],
          transform: `translate(${place[0].toFixed(1)} ${place[1].toFixed(1)}) scale(${trace.sizes ? trace.sizes[k].toFixed(1) : trace.size})`});
        if (trace.labels) add(group, "text", {class: "note", x: place[0] + 8, y: place[1] - 6}, trace.labels[k]);
        this.hits.push({band: [place[0], place[1], 0, 0], x: place[0], y: place[1], text: trace.texts[k]});
      });
    }

    box(group, trace) {
      trace.x.forEach((place, k) => {
        if (trace.half[k] === null) return;
        const [x, a, b] = [place, place - 0.28, place + 0.28].map(this.px), parts = [trace.least, trace.quarter, trace.half, trace.three, trace.most];
        const [least, quarter, half, three, most] = parts.map(part => this.py(part[k]));
        add(group, "path", {class: "whisker", d: `M${x} ${least}V${quarter}M${x} ${three}V${most}M${(a + x) / 2} ${least}H${(b + x) / 2}M${(a + x) / 2} ${most}H${(b + x) / 2}`});
        add(group, "rect", {x: a, y: three, width: b - a, height: Math.max(quarter - three, 1)});
        add(group, "path", {class: "whisker", d: `M${a} ${half}H${b}`});
        this.hits.push({band: [a, this.top, b - a, this.bottom - this.top], x, y: half, text: trace.texts[k]});
      });
    }

    heat(group, trace) {
      const [low, high] = this.spec.layout.colours.range;
      trace.z.forEach((row, r) => row.forEach((value, c) => {
        const x = this.px(c - 0.5), y = this.py(r - 0.5), w = this.px(c + 0.5) - x, h = this.py(r + 0.5) - y;
        const share = value === null ? 0 : Math.round(100 * (value - low) / (high - low || 1));
        if (value !== null) add(group, "rect", {x: x + 0.5, y: y + 0.5, width: Math.max(w - 1, 0.5), height: Math.max(h - 1, 0.5),
          style: `fill:color-mix(in oklab, var(--high) ${share}%, var(--low))`});
        this.hits.push({band: [x, y, w, h], x: x + w / 2, y: y + h / 2, text: trace.texts[r][c]});
      }));
    }

    point(event) {
      const frame = this.frame.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
      let best = REACH, found = null;
      for (const hit of this.hits) {
        const [l, t, w, h] = hit.band, away = Math.hypot(Math.max(l - x, 0, x - l - w), Math.max(t - y, 0, y - t - h));
        if (away < best) [best, found] = [away, hit];
      }
      if (!found) return this.leave();
      this.tip.replaceChildren();
      found.text.split("\n").forEach((line, k) => html(this.tip, k ? "div" : "b", "", line));
      this.tip.hidden = false;
      const offset = this.frame.offsetTop, left = found.x + 12, right = found.x - 12 - this.tip.offsetWidth;
      this.tip.style.left = `${Math.max(0, left + this.tip.offsetWidth <= this.width ? left : right)}px`;
      this.tip.style.top = `${offset + Math.max(0, Math.min(found.y - this.tip.offsetHeight / 2, this.spec.height - this.tip.offsetHeight))}px`;
      this.mark.setAttribute("d", SHAPES.circle);
      this.mark.setAttribute("transform", `translate(${found.x} ${found.y}) scale(6)`);
    }

    leave() {
      this.tip.hidden = true;
      this.mark.removeAttribute("d");
    }
  }

  document.querySelectorAll(".plot").forEach(root => new Plot(root));
})();
