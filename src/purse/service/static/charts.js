// Charts as inline SVG, drawn again at the width that they have: budgets, pulls and rewards over time, and bars in tables.

import { el, svg, swatch, table } from "./dom.js";
import * as format from "./format.js";

const EDGE = { top: 20, right: 12, bottom: 26, left: 52 };
let serial = 0;

/** A name that nothing else on the page has. */
const unique = (name) => `${name}-${++serial}`;

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
    const index = this.over === undefined ? (by > 0 ? 0 : last) : Math.min(last, Math.max(0, this.nearest(this.over) + by));
    this.over = this.spots[index].x;
    this.show(this.over);
  }

  nearest(x) {
    return this.spots.reduce((best, each, index) => (Math.abs(each.x - x) < Math.abs(this.spots[best].x - x) ? index : best), 0);
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

const scale = (from, to, low, high) => (value) => low + ((value - from) / (to - from || 1)) * (high - low);
const line = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
/** Places of at most 24 rows, the last one among them. */
function sampled(items) {
  const step = Math.ceil(items.length / 24);
  return items.map((_, index) => index).filter((index) => (items.length - 1 - index) % step === 0);
}

/** The last of the `values` that is not after a time: what happened later is not spread over the time before. */
function valueAt(at, values, time) {
  const next = at.findIndex((each) => each > time);
  return values[Math.max(0, next < 0 ? values.length - 1 : next - 1)];
}

/** Equal parts of the time between two times, at most `limit` of them, none shorter than a second. */
function intervals(from, to, limit = 24) {
  const parts = Math.max(1, Math.min(limit, Math.floor(to - from)));
  return Array.from({ length: parts }, (_, index) => [from + ((to - from) * index) / parts, from + ((to - from) * (index + 1)) / parts]);
}

const band = (upper, lower) => `${line([...upper, ...lower.toReversed()])}Z`;
const lineMark = (name) => svg("svg", { viewBox: "0 0 22 12", "aria-hidden": "true" }, svg("path", { class: name, d: "M1 6H21" }));

/** Levels and times with their labels. */
function axes(marks, { x, y, width, height, times, levels, label }) {
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

const STACK = ["spent", "presumed", "held"];
const AHEAD = 3; // lives so far: what lies farther ahead is not in the chart

const hatched = (id) => svg("defs", {}, svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("path", { class: "hatch", d: "M0 0V6" })));

/** What was spent, presumed, held and left of a resource over time; the dashed line goes on at the recent speed. */
export function budget({ resource, granted, places, purse, at: times, now, until: end }, width, height) {
  const at = [...times, end];
  const values = Object.fromEntries(["budget", "left", "overrun", ...STACK].map((name) => [name, [...purse[name], purse[name].at(-1)].map(Number)]));
  const projection = purse.projection;
  const life = end - at[0] || 1;
  const edge = projection ? end + (projection.seconds <= AHEAD * life ? projection.seconds * 1.04 : life * 0.6) : end;
  const fine = format.isFine(at[0], end);
  const show = (value) => format.fixed(value, places);
  const taken = at.map((_, index) => STACK.reduce((sum, name) => sum + values[name][index], 0));
  const highest = Math.max(...values.budget, ...taken);
  const x = scale(at[0], edge, EDGE.left, width - EDGE.right);
  const y = scale(0, highest * 1.04, height - EDGE.bottom, EDGE.top);
  const hatch = unique("hatch");
  const marks = [hatched(hatch)];
  let floor = at.map(() => 0);
  const areas = [];
  for (const name of STACK) {
    const roof = floor.map((low, index) => low + values[name][index]);
    const shape = band(at.map((time, index) => [x(time), y(roof[index])]), at.map((time, index) => [x(time), y(floor[index])]));
    areas.push(svg("path", { class: name, d: shape }));
    if (name === "presumed") areas.push(svg("path", { fill: `url(#${hatch})`, d: shape }));
    floor = roof;
  }
  const steps = values.budget.flatMap((level, index) => (index && level !== values.budget[index - 1] ? [[x(at[index]), y(values.budget[index - 1])], [x(at[index]), y(level)]] : [[x(at[index]), y(level)]]));
  marks.push(svg("path", { class: "left", d: band(steps, at.map((time, index) => [x(time), y(Math.min(floor[index], values.budget[index]))])) }));
  axes(marks, { x, y, width, height, times: format.timeTicks(at[0], edge, Math.max(2, Math.floor(width / 90))), levels: format.ticks(highest, 4), label: format.amount });
  marks.push(...areas, svg("path", { class: "budget-line", d: line([...steps, [x(edge), y(values.budget.at(-1))]]) }));
  const over = values.overrun.at(-1) > 0;
  marks.push(svg("text", { class: "strong", x: width - EDGE.right, y: y(values.budget.at(-1)) + (taken.at(-1) > values.budget.at(-1) ? 16 : -9), "text-anchor": "end" }, `${granted} ${format.amount(values.budget.at(-1))}`));
  if (projection) {
    const left = values.left.at(-1);
    const reach = Math.min(1, (edge - end) / (projection.seconds || 1));
    const tip = [x(end + projection.seconds * reach), y(floor.at(-1) + left * reach)];
    marks.push(svg("line", { class: "now", x1: x(end), x2: x(end), y1: EDGE.top, y2: height - EDGE.bottom }));
    marks.push(svg("path", { class: "ahead", d: line([[x(end), y(floor.at(-1))], tip]) }));
    if (reach === 1) marks.push(svg("circle", { class: "end-dot", cx: tip[0], cy: tip[1], r: 4 }));
    else marks.push(svg("text", { class: "strong", x: tip[0], y: tip[1] - 8, "text-anchor": "end" }, `→ in ${format.duration(projection.seconds)}`));
  }
  const shown = [["spent", "spent"], ["presumed", "presumed"], ["held", "held"], ["left", "left"], ...(over ? [["overrun", "overrun"]] : [])];
  const spots = at.map((time, index) => ({ x: x(time), title: format.moment(time, now, fine), lines: shown.map(([name, label]) => [name, label, show(values[name][index])]) }));
  const last = shown.map(([name, label]) => `${label} ${show(values[name].at(-1))}`).join(", ");
  return {
    marks,
    spots,
    desc: `${resource} since ${format.moment(at[0], now)}: ${last}, of a budget of ${format.amount(values.budget.at(-1))}.${projection ? ` At this speed it runs out in ${format.duration(projection.seconds)}.` : ""}`,
    key: [...shown.filter(([name]) => name !== "overrun").map(([name, label]) => [swatch(name), label]), [lineMark("budget-line"), "budget"], ...(projection ? [[lineMark("ahead"), "at this speed"]] : [])],
    table: () => table(`${resource} over time`, ["Time", ...shown.map(([, label]) => label), "budget"].map((name) => ({ name })),
      sampled(at).map((index) => ({ head: format.moment(at[index], now, fine), cells: [...shown.map(([name]) => show(values[name][index])), show(values.budget[index])] }))),
  };
}

/** The parts of a budget side by side. */
export function gauge(parts) {
  const total = parts.reduce((sum, [, value]) => sum + value, 0) || 1;
  const lines = unique("hatch");
  let x = 0;
  const bars = parts.flatMap(([name, value]) => {
    const width = (value / total) * 1000;
    x += width;
    const box = { x: x - width, width, height: 14 };
    return [svg("rect", { class: name, ...box }), name === "presumed" && svg("rect", { fill: `url(#${lines})`, ...box })];
  });
  return svg("svg", { class: "gauge", viewBox: "0 0 1000 14", preserveAspectRatio: "none", "aria-hidden": "true" }, hatched(lines), ...bars);
}

/** A number with its interval on the scale that all rows share. */
export function interval(value, range, top) {
  const x = (at) => (6 + Math.min(1, at / top) * 164).toFixed(1);
  return svg("svg", { class: "interval", viewBox: "0 0 176 20", "aria-hidden": "true" },
    svg("line", { class: "track", x1: 6, x2: 170, y1: 10, y2: 10 }),
    range && svg("line", { class: "range", x1: x(range[0]), x2: x(range[1]), y1: 10, y2: 10 }),
    svg("circle", { cx: x(value), cy: 10, r: 4.5 }));
}

export const colourOf = (arm, index) => (arm.arm === null ? "others" : `arm-${index % 8}`);
const label = (arm) => arm.arm ?? "others";

/** Bars of counts; an interval in which nothing was pulled is empty. */
export function pulls({ at, rows, now, until }, width, height) {
  const [first, last] = [at[0], until];
  const fine = format.isFine(first, last);
  const bars = intervals(first, last).map(([from, to], index) => {
    const counts = rows.map((arm) => valueAt(at, arm.pulls, to) - (index ? valueAt(at, arm.pulls, from) : arm.pulls[0]));
    return { from, to, counts, sum: counts.reduce((one, two) => one + two, 0) };
  });
  const top = Math.max(1, ...bars.map((bar) => bar.sum));
  const x = scale(first, last, EDGE.left, width - EDGE.right);
  const y = scale(0, top, height - EDGE.bottom, EDGE.top);
  const marks = [];
  const levels = format.ticks(top, 4).filter((level) => Number.isInteger(level));
  axes(marks, { x, y, width, height, times: format.timeTicks(first, last, Math.max(2, Math.floor(width / 90))), levels, label: format.count });
  for (const { from, to, counts } of bars) {
    let floor = 0;
    for (const [index, count] of counts.entries()) {
      if (count) marks.push(svg("rect", { class: colourOf(rows[index], index), x: x(from) + 0.75, width: Math.max(1, x(to) - x(from) - 1.5), y: y(floor + count), height: Math.max(0.5, y(floor) - y(floor + count)) }));
      floor += count;
    }
  }
  const when = ({ from, to }) => `${format.moment(from, now, fine)} to ${format.moment(to, now, fine)}`;
  const words = (bar, index) => `${format.count(bar.counts[index])}${bar.sum ? ` (${format.share(bar.counts[index] / bar.sum)})` : ""}`;
  const busy = bars.filter((bar) => bar.sum);
  return {
    marks,
    spots: bars.map((bar) => ({
      x: (x(bar.from) + x(bar.to)) / 2, title: when(bar),
      lines: bar.sum ? rows.map((arm, index) => [colourOf(arm, index), label(arm), words(bar, index)]).filter((_, index) => bar.counts[index]).toReversed() : [[null, "nothing was pulled", ""]],
    })),
    desc: busy.length ? `${format.plural(busy.length, "interval")} of ${bars.length} with pulls. In the last of them ${rows.map((arm, index) => `${label(arm)} ${words(busy.at(-1), index)}`).join(", ")}.` : "Nothing was pulled yet.",
    key: rows.map((arm, index) => [swatch(colourOf(arm, index)), label(arm)]),
    table: () => table("Pulls of each arm", ["Time", ...rows.map(label)].map((each) => ({ name: each })), sampled(bars).map((index) => ({ head: when(bars[index]), cells: rows.map((_, arm) => words(bars[index], arm)) }))),
  };
}

/** The best arm alone, unless the interval of its gain is wider than the gain: then it says nothing. */
export const certain = (best) => (best && (!best.interval || best.interval[1] - best.interval[0] <= best.gain) ? best : null);

/** The reward for each unit of money, in each interval in which something was paid. */
export function rewardRate({ at, gain, paid, value, resource, now, until }, width, height) {
  const [first, last] = [at[0], until];
  const best = certain(value.best);
  const fine = format.isFine(first, last);
  const bars = intervals(first, last).map(([from, to], index) => {
    const [rewards, money] = [gain, paid].map((series) => valueAt(at, series, to) - (index ? valueAt(at, series, from) : series[0]));
    return { from, to, rewards, money, rate: money > 0 ? rewards / money : null };
  });
  const total = Number(value.paid[0]);
  const lines = [["average", "in all", value.per_unit], ["best-line", best && `always ${best.arm} (estimate)`, best && total ? best.gain / total : null], ["uniform-line", "all arms equally (estimate)", value.uniform !== null && total ? value.uniform / total : null]].filter(([, , level]) => level !== null);
  const rates = bars.map((bar) => bar.rate ?? 0);
  const usual = Math.max(...lines.map(([, , level]) => level), 0);
  const top = Math.max(Math.min(Math.max(...rates), usual ? 3 * usual : Infinity), usual) * 1.08 || 1; // a few cheap pulls do not flatten the rest
  const x = scale(first, last, EDGE.left, width - EDGE.right);
  const y = scale(0, top, height - EDGE.bottom, EDGE.top);
  const marks = [];
  axes(marks, { x, y, width, height, times: format.timeTicks(first, last, Math.max(2, Math.floor(width / 90))), levels: format.ticks(top, 4), label: format.amount });
  for (const bar of bars) {
    if (bar.rate === null) continue;
    const level = y(Math.max(0, Math.min(bar.rate, top)));
    marks.push(svg("rect", { class: "rate", x: x(bar.from) + 0.75, width: Math.max(1, x(bar.to) - x(bar.from) - 1.5), y: Math.min(level, y(0)), height: Math.max(1.5, y(0) - level) }));
    if (bar.rate > top) marks.push(svg("text", { class: "strong", x: (x(bar.from) + x(bar.to)) / 2, y: EDGE.top - 4, "text-anchor": "middle" }, "↑"));
  }
  for (const [name, , level] of lines) marks.push(svg("path", { class: name, d: line([[EDGE.left, y(level)], [width - EDGE.right, y(level)]]) }));
  const when = ({ from, to }) => `${format.moment(from, now, fine)} to ${format.moment(to, now, fine)}`;
  const cells = (bar) => [format.number(bar.rate), format.number(bar.rate === null ? null : bar.rewards), format.number(bar.money)];
  const all = lines.map(([, label, level]) => `${label} ${format.number(level)}`).join(", ");
  return {
    marks,
    spots: bars.map((bar) => ({
      x: (x(bar.from) + x(bar.to)) / 2, title: when(bar),
      lines: bar.money > 0 ? [["rate", `reward per ${resource}`, cells(bar)[0]], [null, "gain", cells(bar)[1]], [null, `${resource} paid`, cells(bar)[2]]] : [[null, "nothing was paid", ""]],
    })),
    desc: `Reward per ${resource} in ${bars.length} intervals of time; ${all || "nothing was paid yet"}.`,
    key: [[swatch("rate"), "in each interval"], ...lines.map(([name, label, level]) => [lineMark(name), `${label}: ${format.number(level)}`])],
    table: () => table(`Reward per ${resource} over time`, ["Time", `Reward per ${resource}`, "Gain", `${resource} paid`].map((name) => ({ name })), bars.map((bar) => ({ head: when(bar), cells: cells(bar) }))),
  };
}
