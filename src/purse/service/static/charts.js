// What the charts show.

import { axes, band, EDGE, line, lineMark, scale, unique } from "./chart.js";
import { svg, swatch, table } from "./dom.js";
import * as format from "./format.js";

const STACK = ["spent", "presumed", "held"];

/** What was spent, presumed, held and left of a resource over time; the dashed line goes on at the recent rate. */
export function budget({ resource, purse, at: given, now }, width, height) {
  const at = [...given, Math.max(now, given.at(-1))];
  const values = Object.fromEntries(["budget", "left", "overrun", ...STACK].map((name) => [name, [...purse[name], purse[name].at(-1)].map(Number)]));
  const forecast = purse.forecast;
  const end = at.at(-1);
  const life = end - at[0] || 1;
  const until = forecast ? end + Math.min(forecast.seconds * 1.06, life * 0.6) : end;
  const highest = Math.max(...values.budget, ...values.overrun);
  const x = scale(at[0], until, EDGE.left, width - EDGE.right);
  const y = scale(0, highest * 1.04, height - EDGE.bottom, EDGE.top);
  const hatch = unique("hatch");
  const marks = [svg("defs", {}, svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("path", { class: "hatch", d: "M0 0V6" })))];
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
  axes(marks, { x, y, width, height, times: format.timeTicks(at[0], until, Math.max(2, Math.floor(width / 90))), levels: format.ticks(highest, 4), label: format.amount });
  marks.push(...areas, svg("path", { class: "budget-line", d: line([...steps, [x(until), y(values.budget.at(-1))]]) }));
  if (values.overrun.at(-1) > 0) marks.push(svg("path", { class: "overrun-line", d: line(at.map((time, place) => [x(time), y(values.overrun[place])])) }));
  marks.push(svg("text", { class: "strong", x: width - EDGE.right, y: y(values.budget.at(-1)) - 9, "text-anchor": "end" }, `budget ${format.amount(values.budget.at(-1))}`));
  if (forecast) {
    const left = values.left.at(-1);
    const reach = Math.min(1, (until - end) / (forecast.seconds || 1));
    const tip = [x(end + forecast.seconds * reach), y(floor.at(-1) + left * reach)];
    marks.push(svg("line", { class: "now", x1: x(end), x2: x(end), y1: EDGE.top, y2: height - EDGE.bottom }));
    marks.push(svg("path", { class: "forecast", d: line([[x(end), y(floor.at(-1))], tip]) }));
    if (reach === 1) marks.push(svg("circle", { class: "end-dot", cx: tip[0], cy: tip[1], r: 4 }));
  }
  const shown = [["spent", "spent"], ["presumed", "presumed"], ["held", "held"], ["left", "left"], ...(values.overrun.at(-1) > 0 ? [["overrun", "overrun"]] : [])];
  const spots = at.map((time, place) => ({ x: x(time), title: format.moment(time, now), lines: shown.map(([name, label]) => [name, label, format.amount(values[name][place])]) }));
  const last = shown.map(([name, label]) => `${label} ${format.amount(values[name].at(-1))}`).join(", ");
  return {
    marks,
    spots,
    desc: `${resource} since ${format.moment(at[0], now)}: ${last}, of a budget of ${format.amount(values.budget.at(-1))}.${forecast ? ` At the recent rate it runs out in ${format.duration(forecast.seconds)}.` : ""}`,
    key: [...shown.filter(([name]) => name !== "overrun").map(([name, label]) => [swatch(name), label]), [lineMark("budget-line"), "budget"],
      ...(values.overrun.at(-1) > 0 ? [[lineMark("overrun-line"), "overrun"]] : []), ...(forecast ? [[lineMark("forecast"), "forecast at the recent rate"]] : [])],
    table: () => table(`${resource} over time`, ["Time", ...shown.map(([, label]) => label), "budget"].map((name) => ({ name })),
      sampled(at).map((place) => ({ head: format.moment(at[place], now), cells: [...shown.map(([name]) => format.amount(values[name][place])), format.amount(values.budget[place])] }))),
  };
}

/** Places of at most 24 rows, the last one among them. */
function sampled(items) {
  const step = Math.ceil(items.length / 24);
  return items.map((_, place) => place).filter((place) => (items.length - 1 - place) % step === 0);
}

/** A cumulative count at a time, on the straight line between its points. */
function between(at, totals, time) {
  const next = at.findIndex((each) => each >= time);
  if (next <= 0) return next ? totals.at(-1) : totals[0];
  return totals[next - 1] + ((time - at[next - 1]) / (at[next] - at[next - 1] || 1)) * (totals[next] - totals[next - 1]);
}

/** The share of each arm in the pulls of its time. */
export function shares({ at, pulls, now }, width, height) {
  const first = at[0];
  const last = at.at(-1);
  const parts = Math.max(1, Math.min(24, at.length - 1));
  const edges = Array.from({ length: parts + 1 }, (_, place) => first + ((last - first) * place) / parts);
  const totals = pulls.map((arm) => edges.map((time) => between(at, arm.pulls, time)));
  let before = pulls.map(() => 0);
  const columns = Array.from({ length: parts }, (_, place) => {
    const made = totals.map((each) => each[place + 1] - each[place]);
    const sum = made.reduce((one, two) => one + two, 0);
    if (sum > 0) before = made.map((each) => each / sum);
    return { at: (edges[place] + edges[place + 1]) / 2, shares: before };
  }).filter((column) => column.shares.some((each) => each > 0));
  const x = scale(first, last, EDGE.left, width - EDGE.right);
  const y = scale(0, 1, height - EDGE.bottom, EDGE.top);
  const name = (arm, place) => (arm.arm === null ? "others" : `arm-${place % 8}`);
  const label = (arm) => arm.arm ?? "others";
  const marks = [];
  axes(marks, { x, y, width, height, times: format.timeTicks(first, last, Math.max(2, Math.floor(width / 90))), levels: [0, 0.25, 0.5, 0.75, 1], label: format.part });
  if (columns.length) {
    const spread = [{ ...columns[0], at: first }, ...columns, { ...columns.at(-1), at: last }];
    let floor = spread.map(() => 0);
    for (const [place, arm] of pulls.entries()) {
      const roof = floor.map((low, spot) => low + spread[spot].shares[place]);
      marks.push(svg("path", { class: `seam ${name(arm, place)}`, d: band(spread.map((each, spot) => [x(each.at), y(roof[spot])]), spread.map((each, spot) => [x(each.at), y(floor[spot])])) }));
      floor = roof;
    }
  }
  const words = (column) => pulls.map((arm, place) => `${label(arm)} ${format.share(column.shares[place])}`).join(", ");
  return {
    marks,
    spots: columns.map((column) => ({ x: x(column.at), title: format.moment(column.at, now), lines: pulls.map((arm, place) => [name(arm, place), label(arm), format.share(column.shares[place])]).toReversed() })),
    desc: columns.length ? `At first ${words(columns[0])}. At last ${words(columns.at(-1))}.` : "Nothing was pulled yet.",
    key: pulls.map((arm, place) => [swatch(name(arm, place)), label(arm)]),
    table: () => table("Share of pulls over time", ["Time", ...pulls.map(label)].map((each) => ({ name: each })),
      sampled(columns).map((place) => ({ head: format.moment(columns[place].at, now), cells: columns[place].shares.map(format.share) }))),
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
  const hatch = svg("pattern", { id: lines, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("path", { class: "hatch", d: "M0 0V6" }));
  return svg("svg", { class: "gauge", viewBox: "0 0 1000 14", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("defs", {}, hatch), ...bars);
}

/** A number with its interval on the scale that all rows share. */
export function interval(value, range, top) {
  const x = (at) => (6 + Math.min(1, at / top) * 164).toFixed(1);
  return svg("svg", { class: "interval", viewBox: "0 0 176 20", "aria-hidden": "true" },
    svg("line", { class: "track", x1: 6, x2: 170, y1: 10, y2: 10 }),
    range && svg("line", { class: "range", x1: x(range[0]), x2: x(range[1]), y1: 10, y2: 10 }),
    svg("circle", { cx: x(value), cy: 10, r: 4.5 }));
}
