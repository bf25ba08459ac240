// How often each arm was pulled, by intervals of time.

import { axes, EDGE, intervals, sampled, scale, valueAt } from "./chart.js";
import { svg, swatch, table } from "./dom.js";
import * as format from "./format.js";

export const nameOf = (arm, place) => (arm.arm === null ? "others" : `arm-${place % 8}`);
const label = (arm) => arm.arm ?? "others";

/** Bars of counts; an interval in which nothing was pulled is empty. */
export function pulls({ at, rows, now, until }, width, height) {
  const [first, last] = [at[0], until];
  const fine = format.isFine(first, last);
  const bars = intervals(first, last).map(([from, to], place) => {
    const made = rows.map((arm) => valueAt(at, arm.pulls, to) - (place ? valueAt(at, arm.pulls, from) : arm.pulls[0]));
    return { from, to, made, sum: made.reduce((one, two) => one + two, 0) };
  });
  const top = Math.max(1, ...bars.map((bar) => bar.sum));
  const x = scale(first, last, EDGE.left, width - EDGE.right);
  const y = scale(0, top, height - EDGE.bottom, EDGE.top);
  const marks = [];
  const levels = format.ticks(top, 4).filter((level) => Number.isInteger(level));
  axes(marks, { x, y, width, height, times: format.timeTicks(first, last, Math.max(2, Math.floor(width / 90))), levels, label: format.count });
  for (const { from, to, made } of bars) {
    let floor = 0;
    for (const [place, count] of made.entries()) {
      if (count) marks.push(svg("rect", { class: nameOf(rows[place], place), x: x(from) + 0.75, width: Math.max(1, x(to) - x(from) - 1.5), y: y(floor + count), height: Math.max(0.5, y(floor) - y(floor + count)) }));
      floor += count;
    }
  }
  const when = ({ from, to }) => `${format.moment(from, now, fine)} to ${format.moment(to, now, fine)}`;
  const words = (bar, place) => `${format.count(bar.made[place])}${bar.sum ? ` (${format.share(bar.made[place] / bar.sum)})` : ""}`;
  const busy = bars.filter((bar) => bar.sum);
  return {
    marks,
    spots: bars.map((bar) => ({
      x: (x(bar.from) + x(bar.to)) / 2, title: when(bar),
      lines: bar.sum ? rows.map((arm, place) => [nameOf(arm, place), label(arm), words(bar, place)]).filter((_, place) => bar.made[place]).toReversed() : [[null, "nothing was pulled", ""]],
    })),
    desc: busy.length ? `${format.plural(busy.length, "interval")} of ${bars.length} with pulls. In the last of them ${rows.map((arm, place) => `${label(arm)} ${words(busy.at(-1), place)}`).join(", ")}.` : "Nothing was pulled yet.",
    key: rows.map((arm, place) => [swatch(nameOf(arm, place)), label(arm)]),
    table: () => table("Pulls of each arm", ["Time", ...rows.map(label)].map((each) => ({ name: each })), sampled(bars).map((place) => ({ head: when(bars[place]), cells: rows.map((_, arm) => words(bars[place], arm)) }))),
  };
}
