// What the charts show.

import { axes, band, EDGE, line, lineMark, sampled, scale, unique } from "./chart.js";
import { svg, swatch, table } from "./dom.js";
import * as format from "./format.js";

const STACK = ["spent", "presumed", "held"];
const AHEAD = 3; // lives so far: what lies farther ahead is not in the chart

const hatched = (id) => svg("defs", {}, svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("path", { class: "hatch", d: "M0 0V6" })));

/** What was spent, presumed, held and left of a resource over time; the dashed line goes on at the recent speed. */
export function budget({ resource, granted, places, purse, at: given, now, until: end }, width, height) {
  const at = [...given, end];
  const values = Object.fromEntries(["budget", "left", "overrun", ...STACK].map((name) => [name, [...purse[name], purse[name].at(-1)].map(Number)]));
  const projection = purse.projection;
  const life = end - at[0] || 1;
  const edge = projection ? end + (projection.seconds <= AHEAD * life ? projection.seconds * 1.04 : life * 0.6) : end;
  const fine = format.isFine(at[0], end);
  const show = (value) => format.fixed(value, places);
  const paid = values.spent.map((inside, place) => inside + values.overrun[place]);
  const highest = Math.max(...values.budget, ...paid);
  const x = scale(at[0], edge, EDGE.left, width - EDGE.right);
  const y = scale(0, highest * 1.04, height - EDGE.bottom, EDGE.top);
  const hatch = unique("hatch");
  const marks = [hatched(hatch)];
  let floor = at.map(() => 0);
  const areas = [];
  for (const name of STACK) {
    const roof = floor.map((low, place) => low + values[name][place]);
    const shape = band(at.map((time, place) => [x(time), y(roof[place])]), at.map((time, place) => [x(time), y(floor[place])]));
    areas.push(svg("path", { class: name, d: shape }));
    if (name === "presumed") areas.push(svg("path", { fill: `url(#${hatch})`, d: shape }));
    floor = roof;
  }
  const steps = values.budget.flatMap((level, place) => (place && level !== values.budget[place - 1] ? [[x(at[place]), y(values.budget[place - 1])], [x(at[place]), y(level)]] : [[x(at[place]), y(level)]]));
  marks.push(svg("path", { class: "left", d: band(steps, at.map((time, place) => [x(time), y(floor[place])])) }));
  axes(marks, { x, y, width, height, times: format.timeTicks(at[0], edge, Math.max(2, Math.floor(width / 90))), levels: format.ticks(highest, 4), label: format.amount });
  marks.push(...areas, svg("path", { class: "budget-line", d: line([...steps, [x(edge), y(values.budget.at(-1))]]) }));
  const over = values.overrun.at(-1) > 0;
  if (over) marks.push(svg("path", { class: "paid-line", d: line(at.map((time, place) => [x(time), y(paid[place])])) }));
  marks.push(svg("text", { class: "strong", x: width - EDGE.right, y: y(values.budget.at(-1)) + (paid.at(-1) > values.budget.at(-1) ? 16 : -9), "text-anchor": "end" }, `${granted} ${format.amount(values.budget.at(-1))}`));
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
  const spots = at.map((time, place) => ({ x: x(time), title: format.moment(time, now, fine), lines: shown.map(([name, label]) => [name, label, show(values[name][place])]) }));
  const last = shown.map(([name, label]) => `${label} ${show(values[name].at(-1))}`).join(", ");
  return {
    marks,
    spots,
    desc: `${resource} since ${format.moment(at[0], now)}: ${last}, of a budget of ${format.amount(values.budget.at(-1))}.${projection ? ` At this speed it runs out in ${format.duration(projection.seconds)}.` : ""}`,
    key: [...shown.filter(([name]) => name !== "overrun").map(([name, label]) => [swatch(name), label]), ...(over ? [[lineMark("paid-line"), "paid in all, overrun included"]] : []), [lineMark("budget-line"), "budget"], ...(projection ? [[lineMark("ahead"), "at this speed"]] : [])],
    table: () => table(`${resource} over time`, ["Time", ...shown.map(([, label]) => label), "budget"].map((name) => ({ name })),
      sampled(at).map((place) => ({ head: format.moment(at[place], now, fine), cells: [...shown.map(([name]) => show(values[name][place])), show(values.budget[place])] }))),
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
    const place = { x: x - width, width, height: 14 };
    return [svg("rect", { class: name, ...place }), name === "presumed" && svg("rect", { fill: `url(#${lines})`, ...place })];
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
