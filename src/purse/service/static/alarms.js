// Alarms: what a person should look at, since when, and the tickets that it is about.

import { el, find, svg } from "./dom.js";
import * as format from "./format.js";
import { ALARMS, isSerious } from "./words.js";

const SIGN = { serious: "M12 3L22 20H2zM12 10v4M12 17v.01", mild: "M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18M12 8v5M12 16v.01" };
const STATES = { presumed: "presumed", overdue: "held", silent: "settled" }; // tickets that an alarm is about, all of them

/** The sign before an alarm. */
export const sign = (grade) => svg("svg", { class: `sign ${grade}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: SIGN[grade] }));

/** Alarms; the same ones are left alone, so that they are not read out again. `look` shows tickets. */
export function alarms({ status, history, now }, look) {
  const place = find("alarms");
  const said = JSON.stringify([status.alarms, history.incidents]);
  if (place.dataset.said === said) return;
  place.dataset.said = said;
  place.replaceChildren(...status.alarms.map(({ kind, text, last_at }) => {
    const grade = isSerious(kind) ? "serious" : "mild";
    const rows = history.incidents[kind] ?? [];
    const last = last_at ?? rows.at(-1)?.[0];
    const tickets = [...new Set(rows.map(([, ticket]) => ticket))];
    const links = STATES[kind] && status.counts[STATES[kind]] ? [el("button", { type: "button", class: "link", onclick: () => look({ state: STATES[kind] }) }, "See the tickets")]
      : tickets.length ? [el("button", { type: "button", class: "link", onclick: () => look({ ids: tickets, of: ALARMS[kind] }) }, tickets.length === 1 ? `See ticket ${tickets[0]}` : `See the last ${tickets.length} tickets`)] : [];
    return el("div", { class: `alarm ${grade}`, "data-kind": kind }, sign(grade),
      el("p", {}, el("strong", {}, `${ALARMS[kind] ?? kind}: `), text, "."),
      el("p", { class: "about" }, last ? el("span", { class: "quiet" }, `Last at ${format.exact(last, now)}`) : null, ...links));
  }));
}
