// What the money bought: the gain, beside what one arm alone or all arms equally often might have gained.

import { axes, EDGE, intervals, line, lineMark, scale, valueAt } from "./chart.js";
import { el, svg, swatch, table } from "./dom.js";
import * as format from "./format.js";
import * as money from "./money.js";
import { MONEY } from "./words.js";

function stat(label, value, note, { title, key = label.toLowerCase() } = {}) {
  return el("div", { "data-stat": key }, el("dt", { title }, label), el("dd", {}, value, el("small", {}, note)));
}

/** What the campaign gained against another gain: 12% more, or 10.7 times as much. */
function against(gain, other) {
  if (!other) return "";
  const more = gain / other - 1;
  const words = Math.abs(more) < 0.005 ? "as much" : more >= 1 ? `${format.number(gain / other)} times as much` : `${format.part(Math.abs(more))} ${more > 0 ? "more" : "less"}`;
  return `this campaign gained ${words}`;
}

/** The best arm alone, unless the interval of its gain is wider than the gain: then it says nothing. */
const told = (best) => (best && (!best.interval || best.interval[1] - best.interval[0] <= best.gain) ? best : null);

/** The gain in numbers; `compares`: beside other gains. */
export function stats({ value, compares, worth, resource, places, waiting }) {
  const { gain, paid, per_unit: each } = value;
  const own = [
    stat("Gain", format.number(gain), `for ${money.shown(paid[0], places)} ${resource} paid${worth === null ? "" : `; a request is worth ${format.number(worth)}`}`, { title: MONEY.gain }),
    stat(`Reward per ${resource}`, format.number(each), waiting ? `in all; ${format.plural(waiting, "ticket")} paid for, reward not known yet` : "in all"),
  ];
  const [others, note] = compares ? comparisons(value, resource) : [[], []];
  return [el("dl", { class: "stats four" }, ...own, ...others), ...note];
}

/** What one arm alone and all arms equally often might have gained, and what that is. */
function comparisons({ gain, paid, best, uniform }, resource) {
  const known = told(best);
  const range = known?.interval ? `, 95%: ${format.number(best.interval[0])} to ${format.number(best.interval[1])}` : "";
  const isLimited = best && !best.interval && paid.length === 1; // by rounds, too
  const why = best?.interval ? `most reward per ${resource}` : "most gain";
  const others = [
    stat(best ? el("span", {}, "Always ", el("em", {}, best.arm)) : "Always one arm", known ? `≈ ${format.number(best.gain)}` : "–", known ? `${why}${range}; ${against(gain, best.gain)}` : best ? `${why}, but too few reports to say how much` : "no arm has two reports yet", { key: "always" }),
    stat("All arms equally often", uniform === null ? "–" : `≈ ${format.number(uniform)}`, uniform === null ? "not every arm has a report yet" : against(gain, uniform)),
  ];
  return [others, [el("p", { class: "quiet small" }, `≈ are estimates of the gain for the same money${isLimited ? ", in at most as many pulls because rounds are limited" : ""}, from the mean reward and cost that each arm's own reports had. Which arm is best is known only in hindsight, and few reports flatter it.`)]];
}

/** The reward for each unit of money, in each interval in which something was paid. */
export function rewardRate({ at, gain, paid, value, resource, now, until }, width, height) {
  const [first, last] = [at[0], until];
  const best = told(value.best);
  const fine = format.isFine(first, last);
  const bars = intervals(first, last).map(([from, to], place) => {
    const [rewards, money] = [gain, paid].map((series) => valueAt(at, series, to) - (place ? valueAt(at, series, from) : series[0]));
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
