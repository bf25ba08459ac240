// Arms whose calls fail: when each is tried again.

import { el, find, replace, table } from "./dom.js";
import * as format from "./format.js";

/** What an arm that has not recovered waits for. */
function waits({ until, probe }, now) {
  if (now < until) return `cools down, ${format.duration(Math.max(1, until - now))} left`;
  return probe === null ? "the next ask may try it" : `ticket ${probe} tries it`;
}

/** The arms that have not recovered; nothing where there are none. */
export function cooling({ status, now }) {
  if (!status.cooling.length) return find("cooling").replaceChildren();
  const columns = [{ name: "Arm" }, { name: "State", text: true, wide: true }, { name: "Cools down until", label: "Until" }, { name: "Length" }];
  const rows = status.cooling.map((arm) => ({ head: arm.arm, cells: [waits(arm, now), format.exact(arm.until, now), format.duration(arm.length)] }));
  return replace(find("cooling"), table("Arms whose calls fail. After each cool-down one ticket tries the arm; a success ends this, a failure doubles the next cool-down.", columns, rows, { cards: true }));
}

/** A word beside the name of an arm that is not chosen as usual. */
export function badge(status, name) {
  const word = status.retired.includes(name) ? "retired" : status.cooling.some(({ arm }) => arm === name) ? "fails" : null;
  return word && el("span", { class: "badge", "data-arm": word }, word);
}
