// The first page: all campaigns, those with alarms first, then the most recently active.

import * as accounts from "./accounts.js";
import { el, find, replace, table } from "./dom.js";
import * as format from "./format.js";
import { option } from "./panels.js";
import { request } from "./stream.js";
import { isSerious, runsOut } from "./words.js";

const asked = new Set(); // campaigns whose history was asked for, once: that may take long
let asking = Promise.resolve();

/** Two for a serious alarm or no money, one for another alarm. */
const gravity = ({ status: { status, alarms } }) => Math.max(status === "exhausted" ? 2 : 0, ...alarms.map(({ kind }) => (isSerious(kind) ? 2 : 1)));
const ORDER = ["exhausted", "running", "paused", "ended"];
const MANY = 12; // campaigns above which there is a search
let shown; // what is drawn

/** The campaigns in the order of the page. */
export const sorted = (rows) =>
  rows.toSorted((one, two) => gravity(two) - gravity(one) || ORDER.indexOf(one.status.status) - ORDER.indexOf(two.status.status) || two.status.changed_at - one.status.changed_at);

/** Fetch how all campaigns stand; histories that the server has not read yet are asked for, one after the other. */
export async function fetchAll() {
  const answer = await request("overview");
  const facts = await answer.json();
  facts.role = answer.headers.get("X-Purse-Role");
  for (const { status, summary } of facts.campaigns) {
    if (summary || asked.has(status.name)) continue;
    asked.add(status.name);
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
  return { head: name, cells: [accounts.left({ ...status, above }), end(each, now), value ? shows.gain(value.gain) : "…", value ? shows.rate(value.per_unit) : "…", status.alarms.length ? accounts.signs(status.alarms) : el("span", { class: "quiet free" }, "none"), format.ago(now - status.changed_at)] };
}

/** Draw the list: all campaigns, or those that a search finds. */
export function draw(facts = shown) {
  shown = facts;
  const { campaigns: all, accounts: tops, now } = facts;
  accounts.draw(tops);
  find("search").hidden = all.length <= MANY;
  const wanted = find("search").hidden ? "" : find("search").value.trim().toLowerCase();
  const campaigns = all.filter(({ status }) => [status.name, status.account, status.policy, status.status].some((text) => text.toLowerCase().includes(wanted)));
  const above = accounts.above(tops);
  const resources = [...new Set(all.map(({ status }) => status.purses[0].resource))];
  const shows = { gain: format.column(campaigns.map(({ summary }) => summary?.value.gain ?? 0)), rate: format.column(campaigns.map(({ summary }) => summary?.value.per_unit ?? 0)) };
  const columns = [{ name: "Campaign" }, { name: "Budget", text: true, wide: true }, { name: "Runs out" }, { name: "Gain" }, { name: `Reward per ${resources.length === 1 ? resources[0] : "unit"}`, label: "Reward" }, { name: "Alarms", text: true, wide: true }, { name: "Last change", label: "Changed" }];
  const rows = sorted(campaigns).map((each) => row(each, above.get(each.status.name), shows, now));
  replace(find("list"), el("div", { class: "card" }, table(`${format.plural(campaigns.length, "campaign")}; those that need a look first, then the most recently active`, columns, rows, { cards: true })));
}

/** What a server without campaigns shows: a whole command for the storage that it serves. */
export function empty({ storage, accounts: tops }, mayCreate) {
  accounts.draw(tops);
  find("search").hidden = true;
  const press = mayCreate ? "Press" : "Unlock actions and press";
  const command = `purse campaign new prompts --arm small=0.01 --arm large=0.05 --budget 25 --cost-min 0.0001 --resource USD${option(storage)}`;
  replace(find("list"), el("div", { class: "card" }, el("h2", {}, "No campaign yet"), el("p", {}, storage ? `${press} New campaign, or run this on the machine of the storage:` : "An administrator makes one with New campaign, or with:"), el("pre", { tabindex: 0 }, el("code", {}, command)), el("p", { class: "quiet" }, "It will show up here by itself.")));
}
