// The first page: accounts as a tree, and all campaigns, those with alarms first, then the most recently active.

import { gauge } from "./charts.js";
import { el, find, replace, table } from "./dom.js";
import * as format from "./format.js";
import * as money from "./money.js";
import { option, sign } from "./panels.js";
import { request } from "./stream.js";
import { ALARMS, isSerious, runsOut } from "./words.js";

/** Each level with its depth and, if a level above has less left, that one; from the top down. */
function* levels(level, depth = 0, above = []) {
  yield { ...level, depth, above };
  for (const child of level.children) yield* levels(child, depth + 1, [...above, level]);
}

/** The accounts above each campaign, by its name. */
const accountsAbove = (tops) => new Map(tops.flatMap((top) => [...levels(top)]).filter(({ kind }) => kind === "campaign").map((level) => [level.name, level.above]));

/** The level above that has least left of a resource, if that is less than this one has. */
function scarcest({ purses, above }, index) {
  const least = above.reduce((best, each) => (best && money.units(best.purses[index].left) <= money.units(each.purses[index].left) ? best : each), null);
  return least && money.units(least.purses[index].left) < money.units(purses[index].left) ? least : null;
}

/** Left of each budget, as a bar and in words. */
function left(level) {
  return el("span", { class: "lefts" }, ...money.inPeriod(level.purses, level.period).map((purse, index) => {
    const text = money.parts(purse);
    const least = level.above?.length ? scarcest(level, index) : null;
    return el("span", { class: "left-of" }, gauge(["spent", "presumed", "held", "left"].map((name) => [name, Number(purse[name])])), el("span", {}, el("strong", {}, text.left), ` left of ${text.budget} ${purse.resource}${level.period ? " in this period" : ""}`),
      least ? el("small", { class: "quiet" }, `only ${money.parts(least.purses[index]).left} ${purse.resource} in ${least.name}`) : null);
  }));
}

function accountName({ name: own, status, why, depth, children }) {
  const campaigns = children.filter(({ kind }) => kind === "campaign").length;
  return el("span", { class: `which level-${depth}` }, own, el("small", {}, el("span", { class: "badge", "data-status": status, title: why }, status), campaigns ? format.plural(campaigns, "campaign") : null));
}

/** Kinds of alarms, serious ones first. */
function signs(alarms = []) {
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
    return words.map((word) => ({ ...(isRenewed && word === "spent" ? { name: `Spent in all, ${resource}`, wide: true } : { name: `${word[0].toUpperCase()}${word.slice(1)}, ${resource}` }), cells: money.column(of(word), places).map((cell, index) => (known[index] ? cell : "–")) }));
  });
}

/** Draw the tree; without accounts there is none. */
function drawAccounts(tops) {
  find("accounts").hidden = !tops.length;
  find("overview-title").textContent = tops.length ? "Accounts and campaigns" : "Campaigns";
  const rows = tops.flatMap((top) => [...levels(top)]).filter(({ kind = "account" }) => kind === "account");
  const alarmed = rows.some(({ alarms = [] }) => alarms.length);
  const over = rows.some(({ purses }) => purses.some(({ overrun }) => Number(overrun)));
  const columnsOfAmounts = amounts(rows, ["spent", "held", "presumed", ...(over ? ["overrun"] : [])]);
  const columns = [{ name: "Account" }, { name: "Budget", text: true, wide: true }, ...columnsOfAmounts.map(({ cells, ...column }) => column), ...(alarmed ? [{ name: "Alarms", text: true, wide: true }] : [])];
  const lines = rows.map((level, index) => ({ head: accountName(level), cells: [left(level), ...columnsOfAmounts.map(({ cells }) => cells[index]), ...(alarmed ? [signs(level.alarms)] : [])] }));
  replace(find("tree"), table("A ticket has to fit into its campaign and into every account above it", columns, lines, { cards: true }));
}

const requested = new Set(); // campaigns whose history was asked for, once: that may take long
let asking = Promise.resolve();

/** Two for a serious alarm or no money, one for another alarm. */
const gravity = ({ status: { status, alarms } }) => Math.max(status === "exhausted" ? 2 : 0, ...alarms.map(({ kind }) => (isSerious(kind) ? 2 : 1)));
const ORDER = ["exhausted", "running", "paused", "ended"];
const MANY = 12; // campaigns above which there is a search
let shown; // what is drawn

/** The campaigns in the order of the page. */
const sorted = (rows) =>
  rows.toSorted((one, two) => gravity(two) - gravity(one) || ORDER.indexOf(one.status.status) - ORDER.indexOf(two.status.status) || two.status.changed_at - one.status.changed_at);

/** Fetch how all campaigns stand; histories that the server has not read yet are asked for, one after the other. */
export async function fetchAll() {
  const answer = await request("overview");
  const facts = await answer.json();
  facts.role = answer.headers.get("X-Purse-Role");
  for (const { status, summary } of facts.campaigns) {
    if (summary || requested.has(status.name)) continue;
    requested.add(status.name);
    asking = asking.then(() => request(`campaigns/${encodeURIComponent(status.name)}/picture`).catch(() => {}));
  }
  return facts;
}

/** When the first resource runs out. */
function end({ status, summary }, now) {
  const [first] = (summary?.projections ?? []).filter(Boolean).toSorted((one, two) => one.at - two.at);
  const [when, why] = runsOut(status, first, now);
  return el("span", { title: why }, when);
}

function row(each, above, shows, now) {
  const { status, summary } = each;
  const value = summary?.value;
  const name = el("span", { class: "which" }, el("a", { href: `#/${encodeURIComponent(status.name)}`, "data-key": status.name }, status.name), el("small", {}, el("span", { class: "badge", "data-status": status.status, title: status.why }, status.status), status.policy, status.account ? ` · ${status.account}` : null));
  return { head: name, cells: [left({ ...status, above }), end(each, now), value ? shows.gain(value.gain) : "…", value ? shows.rate(value.per_unit) : "…", status.alarms.length ? signs(status.alarms) : el("span", { class: "quiet free" }, "none"), format.ago(now - status.changed_at)] };
}

/** Draw the list: all campaigns, or those that a search finds. */
export function draw(facts = shown) {
  shown = facts;
  const { campaigns: all, accounts: tops, now } = facts;
  drawAccounts(tops);
  find("search").hidden = all.length <= MANY;
  const wanted = find("search").hidden ? "" : find("search").value.trim().toLowerCase();
  const campaigns = all.filter(({ status }) => [status.name, status.account, status.policy, status.status].some((text) => text.toLowerCase().includes(wanted)));
  const above = accountsAbove(tops);
  const resources = [...new Set(all.map(({ status }) => status.purses[0].resource))];
  const shows = { gain: format.column(campaigns.map(({ summary }) => summary?.value.gain ?? 0)), rate: format.column(campaigns.map(({ summary }) => summary?.value.per_unit ?? 0)) };
  const columns = [{ name: "Campaign" }, { name: "Budget", text: true, wide: true }, { name: "Runs out" }, { name: "Gain" }, { name: `Reward per ${resources.length === 1 ? resources[0] : "unit"}`, label: "Reward" }, { name: "Alarms", text: true, wide: true }, { name: "Last change", label: "Changed" }];
  const rows = sorted(campaigns).map((each) => row(each, above.get(each.status.name), shows, now));
  replace(find("list"), el("div", { class: "card" }, table(`${format.plural(campaigns.length, "campaign")}; those that need a look first, then the most recently active`, columns, rows, { cards: true })));
}

/** What a server without campaigns shows: a whole command for the storage that it serves. */
export function empty({ storage, accounts: tops }, mayCreate) {
  drawAccounts(tops);
  find("search").hidden = true;
  const press = mayCreate ? "Press" : "Unlock actions and press";
  const command = `purse campaign new prompts --arm small=0.01 --arm large=0.05 --budget 25 --cost-min 0.0001 --resource USD${option(storage)}`;
  replace(find("list"), el("div", { class: "card" }, el("h2", {}, "No campaign yet"), el("p", {}, storage ? `${press} New campaign, or run this on the machine of the storage:` : "An administrator makes one with New campaign, or with:"), el("pre", { tabindex: 0 }, el("code", {}, command)), el("p", { class: "quiet" }, "It will show up here by itself.")));
}
