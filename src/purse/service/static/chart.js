// A chart as inline SVG, drawn again at the width that it has.

import { el, svg, swatch } from "./dom.js";

export const EDGE = { top: 20, right: 12, bottom: 26, left: 52 };
let serial = 0;

/** A name that nothing else on the page has. */
export const unique = (name) => `${name}-${++serial}`;

/** A figure that draws itself at the width it has, and again when that or its data change. */
export class Chart {
  constructor(title, height, draw) {
    this.draw = draw;
    this.height = height;
    this.id = unique("chart");
    this.title = title;
    this.tip = el("div", { class: "tip", hidden: true, role: "status" });
    this.plot = svg("svg", { role: "img", "aria-labelledby": `${this.id}-title ${this.id}-desc`, height, tabindex: 0 });
    this.key = el("ul", { class: "key" });
    this.details = el("details", {}, el("summary", {}, "As a table"));
    this.figure = el("div", { class: "chart" }, this.plot, this.tip);
    this.node = el("div", {}, this.figure, this.key, this.details);
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("pointerdown", (event) => this.point(event));
    for (const away of ["pointerleave", "blur"]) this.plot.addEventListener(away, () => this.leave());
    this.plot.addEventListener("keydown", (event) => this.step(event));
    this.details.addEventListener("toggle", () => this.fill());
    new ResizeObserver(() => this.update()).observe(this.figure);
  }

  update(data = this.data) {
    this.data = data;
    const width = Math.round(this.figure.clientWidth);
    if (!data || width < 80) return;
    const drawn = this.draw(data, width, this.height);
    this.spots = drawn.spots;
    this.rows = drawn.table;
    this.cursor = svg("line", { class: "cursor", y1: EDGE.top, y2: this.height - EDGE.bottom, visibility: "hidden" });
    this.plot.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.plot.replaceChildren(
      svg("title", { id: `${this.id}-title` }, this.title), svg("desc", { id: `${this.id}-desc` }, drawn.desc), ...drawn.marks, this.cursor);
    this.key.replaceChildren(...drawn.key.map(([mark, text]) => el("li", {}, mark, text)));
    this.fill();
    if (this.over !== undefined) this.show(this.over);
  }

  fill() {
    if (this.details.open && this.rows) this.details.replaceChildren(this.details.firstChild, el("div", { class: "table", tabindex: 0, role: "region", "aria-label": this.title }, this.rows()));
  }

  point(event) {
    this.over = event.clientX - this.plot.getBoundingClientRect().left;
    this.show(this.over);
  }

  /** Arrow keys go from one time to the next; Escape ends it. */
  step(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") this.leave();
    if (!by || !this.spots?.length) return;
    event.preventDefault();
    const last = this.spots.length - 1;
    const place = this.over === undefined ? (by > 0 ? 0 : last) : Math.min(last, Math.max(0, this.nearest(this.over) + by));
    this.over = this.spots[place].x;
    this.show(this.over);
  }

  nearest(x) {
    return this.spots.reduce((best, each, place) => (Math.abs(each.x - x) < Math.abs(this.spots[best].x - x) ? place : best), 0);
  }

  show(x) {
    if (!this.spots?.length) return;
    const spot = this.spots[this.nearest(x)];
    for (const name of ["x1", "x2"]) this.cursor.setAttribute(name, spot.x);
    this.cursor.setAttribute("visibility", "visible");
    this.tip.replaceChildren(el("strong", {}, spot.title), el("dl", {}, ...spot.lines.flatMap(([name, label, value]) => [el("dt", {}, name ? swatch(name) : null, label), el("dd", {}, value)])));
    this.tip.hidden = false;
    const room = this.figure.clientWidth - this.tip.offsetWidth;
    const beside = spot.x + 14 > room ? spot.x - this.tip.offsetWidth - 14 : spot.x + 14;
    this.tip.style.left = `${Math.max(0, Math.min(room, beside))}px`;
  }

  leave() {
    this.over = undefined;
    this.tip.hidden = true;
    this.cursor?.setAttribute("visibility", "hidden");
  }
}

export const scale = (from, to, low, high) => (value) => low + ((value - from) / (to - from || 1)) * (high - low);
export const line = (points) => points.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
/** Places of at most 24 rows, the last one among them. */
export function sampled(items) {
  const step = Math.ceil(items.length / 24);
  return items.map((_, place) => place).filter((place) => (items.length - 1 - place) % step === 0);
}

/** The last of the `values` that is not after a time: what happened later is not spread over the time before. */
export function valueAt(at, values, time) {
  const next = at.findIndex((each) => each > time);
  return values[Math.max(0, next < 0 ? values.length - 1 : next - 1)];
}

/** Equal parts of the time between two times, at most `most` of them, none shorter than a second. */
export function intervals(from, to, most = 24) {
  const parts = Math.max(1, Math.min(most, Math.floor(to - from)));
  return Array.from({ length: parts }, (_, place) => [from + ((to - from) * place) / parts, from + ((to - from) * (place + 1)) / parts]);
}

export const band = (upper, lower) => `${line([...upper, ...lower.toReversed()])}Z`;
export const lineMark = (name) => svg("svg", { viewBox: "0 0 22 12", "aria-hidden": "true" }, svg("path", { class: name, d: "M1 6H21" }));

/** Levels and times with their labels. */
export function axes(marks, { x, y, width, height, times, levels, label }) {
  for (const level of levels) {
    marks.push(svg("line", { class: level ? "grid" : "base", x1: EDGE.left, x2: width - EDGE.right, y1: y(level), y2: y(level) }));
    marks.push(svg("text", { x: EDGE.left - 8, y: y(level) + 4, "text-anchor": "end" }, label(level)));
  }
  for (const tick of times) {
    const at = x(tick.at);
    const anchor = at > width - EDGE.right - 18 ? "end" : at < EDGE.left + 18 ? "start" : "middle";
    marks.push(svg("text", { x: at, y: height - 8, "text-anchor": anchor }, tick.label));
  }
}
