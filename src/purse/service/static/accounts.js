// Accounts as a tree: what is left on each level, and where a level above leaves less.

import { sign } from "./alarms.js";
import { gauge } from "./charts.js";
import { el, find, replace, table } from "./dom.js";
import * as money from "./money.js";
import { ALARMS, isSerious } from "./words.js";

/** Each level with its depth and, where a level above has less left, that one; from the top down. */
function* levels(level, depth = 0, above = []) {
  yield { ...level, depth, above };
  for (const child of level.children) yield* levels(child, depth + 1, [...above, level]);
}

/** The level above that has least left of a resource, where that is less than this one has. */
function scarcest({ purses, above }, place) {
  const least = above.reduce((best, each) => (best && money.units(best.purses[place].left) <= money.units(each.purses[place].left) ? best : each), null);
  return least && money.units(least.purses[place].left) < money.units(purses[place].left) ? least : null;
}

/** Left of each budget, as a bar and in words. */
export function left(level) {
  return el("span", { class: "lefts" }, ...level.purses.map((purse, place) => {
    const text = money.parts(purse);
    const least = level.above?.length ? scarcest(level, place) : null;
    return el("span", { class: "left-of" }, gauge(["spent", "presumed", "held", "left"].map((name) => [name, Number(purse[name])])), el("span", {}, el("strong", {}, text.left), ` of ${text.budget} ${purse.resource}`),
      least ? el("small", { class: "quiet" }, `only ${money.parts(least.purses[place]).left} ${purse.resource} in ${least.name}`) : null);
  }));
}

function name({ name: own, kind = "account", status, depth }) {
  const link = kind === "campaign" ? el("a", { href: `#/${encodeURIComponent(own)}`, "data-key": `level-${own}` }, own) : own;
  return el("span", { class: `which level-${depth}` }, link, el("small", {}, kind, status === "running" ? null : el("span", { class: "badge", "data-status": status }, status)));
}

function signs(alarms = []) {
  return el("span", { class: "signs" }, ...alarms.map(({ kind, text }) => el("span", { class: `signed ${isSerious(kind) ? "serious" : "mild"}`, title: text }, sign(isSerious(kind) ? "serious" : "mild"), ALARMS[kind] ?? kind)));
}

const amounts = (level, word) => el("span", { class: "amounts" }, ...level.purses.map((purse) => el("span", {}, `${money.parts(purse)[word]} ${purse.resource}`)));

/** Draw the tree; without accounts there is none. */
export function draw(tops) {
  find("accounts").hidden = !tops.length;
  find("overview-title").textContent = tops.length ? "Accounts and campaigns" : "Campaigns";
  const rows = tops.flatMap((top) => [...levels(top)]);
  const alarmed = rows.some(({ alarms = [] }) => alarms.length);
  const over = rows.some(({ purses }) => purses.some(({ overrun }) => Number(overrun)));
  const words = ["spent", "held", "presumed", ...(over ? ["overrun"] : [])];
  const columns = [{ name: "Account or campaign" }, { name: "Left", text: true, wide: true }, ...words.map((word) => ({ name: word[0].toUpperCase() + word.slice(1) })), ...(alarmed ? [{ name: "Alarms", text: true, wide: true }] : [])];
  const made = rows.map((level) => ({ head: name(level), cells: [left(level), ...words.map((word) => amounts(level, word)), ...(alarmed ? [signs(level.alarms)] : [])] }));
  replace(find("tree"), table("What is left on each level: a ticket has to fit into its campaign and into every account above it", columns, made, { cards: true }));
}
