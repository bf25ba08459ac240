// Accounts as a tree: what is left on each level, and where a level above leaves less.

import { sign } from "./alarms.js";
import { gauge } from "./charts.js";
import { el, find, replace, table } from "./dom.js";
import * as format from "./format.js";
import * as money from "./money.js";
import { ALARMS, isSerious } from "./words.js";

/** Each level with its depth and, where a level above has less left, that one; from the top down. */
function* levels(level, depth = 0, above = []) {
  yield { ...level, depth, above };
  for (const child of level.children) yield* levels(child, depth + 1, [...above, level]);
}

/** The accounts above each campaign, by its name. */
export const above = (tops) => new Map(tops.flatMap((top) => [...levels(top)]).filter(({ kind }) => kind === "campaign").map((level) => [level.name, level.above]));

/** The level above that has least left of a resource, where that is less than this one has. */
function scarcest({ purses, above }, place) {
  const least = above.reduce((best, each) => (best && money.units(best.purses[place].left) <= money.units(each.purses[place].left) ? best : each), null);
  return least && money.units(least.purses[place].left) < money.units(purses[place].left) ? least : null;
}

/** Left of each budget, as a bar and in words. */
export function left(level) {
  return el("span", { class: "lefts" }, ...money.inPeriod(level.purses, level.period).map((purse, place) => {
    const text = money.parts(purse);
    const least = level.above?.length ? scarcest(level, place) : null;
    return el("span", { class: "left-of" }, gauge(["spent", "presumed", "held", "left"].map((name) => [name, Number(purse[name])])), el("span", {}, el("strong", {}, text.left), ` left of ${text.budget} ${purse.resource}${level.period ? " in this period" : ""}`),
      least ? el("small", { class: "quiet" }, `only ${money.parts(least.purses[place]).left} ${purse.resource} in ${least.name}`) : null);
  }));
}

function name({ name: own, status, why, depth, children }) {
  const campaigns = children.filter(({ kind }) => kind === "campaign").length;
  return el("span", { class: `which level-${depth}` }, own, el("small", {}, el("span", { class: "badge", "data-status": status, title: why }, status), campaigns ? format.plural(campaigns, "campaign") : null));
}

/** Kinds of alarms, serious ones first. */
export function signs(alarms = []) {
  const kinds = [...new Set(alarms.map(({ kind }) => kind))].toSorted((one, two) => isSerious(two) - isSerious(one));
  return el("span", { class: "signs" }, ...kinds.map((kind) => {
    const grade = isSerious(kind) ? "serious" : "mild";
    return el("span", { class: `signed ${grade}`, title: alarms.filter((each) => each.kind === kind).map(({ text }) => text).join("; ") }, sign(grade), ALARMS[kind] ?? kind);
  }));
}

/** What is spent or set apart on each level, in a column for each resource. */
function amounts(rows, words) {
  const isRenewed = rows.some(({ period }) => period);
  const resources = [...new Set(rows.flatMap(({ purses }) => purses.map(({ resource }) => resource)))];
  return resources.flatMap((resource) => {
    const known = rows.map(({ purses }) => purses.find((purse) => purse.resource === resource));
    const of = (word) => known.map((purse) => purse?.[word] ?? "0");
    const places = money.decimals(words.flatMap(of));
    return words.map((word) => ({ ...(isRenewed && word === "spent" ? { name: `Spent in all, ${resource}`, wide: true } : { name: `${word[0].toUpperCase()}${word.slice(1)}, ${resource}` }), cells: money.column(of(word), places).map((cell, place) => (known[place] ? cell : "–")) }));
  });
}

/** Draw the tree; without accounts there is none. */
export function draw(tops) {
  find("accounts").hidden = !tops.length;
  find("overview-title").textContent = tops.length ? "Accounts and campaigns" : "Campaigns";
  const rows = tops.flatMap((top) => [...levels(top)]).filter(({ kind = "account" }) => kind === "account");
  const alarmed = rows.some(({ alarms = [] }) => alarms.length);
  const over = rows.some(({ purses }) => purses.some(({ overrun }) => Number(overrun)));
  const columnsOfAmounts = amounts(rows, ["spent", "held", "presumed", ...(over ? ["overrun"] : [])]);
  const columns = [{ name: "Account" }, { name: "Budget", text: true, wide: true }, ...columnsOfAmounts.map(({ cells, ...column }) => column), ...(alarmed ? [{ name: "Alarms", text: true, wide: true }] : [])];
  const made = rows.map((level, place) => ({ head: name(level), cells: [left(level), ...columnsOfAmounts.map(({ cells }) => cells[place]), ...(alarmed ? [signs(level.alarms)] : [])] }));
  replace(find("tree"), table("A ticket has to fit into its campaign and into every account above it", columns, made, { cards: true }));
}
