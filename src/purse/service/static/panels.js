// The parts of the page, from a picture of the campaign.

import { Chart } from "./chart.js";
import { badge } from "./cooling.js";
import { budget, gauge, interval, shares } from "./charts.js";
import { el, find, replace, svg, swatch, table } from "./dom.js";
import * as format from "./format.js";

const SERIOUS = ["overrun", "exhausted", "conflict", "overdue", "storage"];
const KINDS = { overrun: "Overrun", presumed: "Presumed spent", overdue: "Overdue", conflict: "Conflict", "below-minimum": "Below the minimum", exhausted: "Exhausted", "cooling-down": "Cooling down", silent: "No rewards", "outside-range": "Outside the range", storage: "Storage" };
const SIGN = { serious: "M12 3L22 20H2zM12 10v4M12 17v.01", mild: "M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18M12 8v5M12 16v.01" };
const FEW = 12; // tickets shown at first
// states in the order of a ticket's life, with what a reader may not know
const STATES = { held: "", settled: "wait for their reward", told: "", unrewarded: "no reward came in time", failed: "", void: "", presumed: "no report came in time", released: "no report came in time", skipped: "" };
const charts = new Map();

export function title({ status, history }) {
  find("name").textContent = status.name;
  find("standing").textContent = status.status;
  find("standing").dataset.status = status.status;
  const rounds = `round ${format.count(status.rounds)}${status.horizon ? ` of ${format.count(status.horizon)}` : ""}`;
  const rates = status.status === "running" ? [format.often(history.rates.asks, "asks"), format.often(history.rates.tells, "reports")] : [];
  find("facts").textContent = [status.policy, rounds, ...rates, `since ${format.moment(status.created_at, Date.now() / 1000)}`].join(" · ");
  find("promise").hidden = !status.promise;
  find("promise").textContent = status.promise ?? "";
}

/** Alarms; the same ones are left alone, so that they are not read out again. */
export function alarms({ status }) {
  const place = find("alarms");
  const said = JSON.stringify(status.alarms);
  if (place.dataset.said === said) return;
  place.dataset.said = said;
  place.replaceChildren(...status.alarms.map(({ kind, text }) => {
    const grade = SERIOUS.includes(kind) ? "serious" : "mild";
    return el("div", { class: `alarm ${grade}`, "data-kind": kind },
      svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: SIGN[grade] })),
      el("p", {}, el("strong", {}, `${KINDS[kind] ?? kind}: `), text));
  }));
}

function stat(name, label, value, { note, kind = "" } = {}) {
  return el("div", { class: kind, "data-stat": label.toLowerCase() }, el("dt", {}, name ? swatch(name) : null, label), el("dd", { title: value }, format.amount(value), note ? el("small", {}, note) : null));
}

function runsOut(forecast, now) {
  const value = forecast ? (forecast.at <= now + 1 ? "now" : `in ${format.duration(forecast.at - now)}`) : "–";
  const note = forecast ? `${format.moment(forecast.at, now)}, at ${format.rate(forecast.per_second)}` : "nothing was spent of late";
  return el("div", { class: "end", "data-stat": "runs out" }, el("dt", {}, "Runs out"), el("dd", {}, value, el("small", {}, note)));
}

/** The chart of a name, made when it is first asked for. */
function chart(name, ...how) {
  if (!charts.has(name)) charts.set(name, new Chart(...how));
  return charts.get(name);
}

export function forgetCharts() {
  charts.clear();
  find("budgets").replaceChildren();
  find("shares").replaceChildren();
  find("alarms").dataset.said = "";
}

export function budgets({ status, history, now }) {
  const place = find("budgets");
  for (const [number, purse] of status.purses.entries()) {
    const drawn = chart(`budget ${number}`, `${purse.resource}: spent, presumed, held and left over time`, 280, budget);
    if (!drawn.node.isConnected) {
      const label = `budget-${number}`;
      drawn.top = el("div");
      place.append(el("section", { class: "card", "aria-labelledby": label }, el("h2", { id: label }, `Budget, ${purse.resource}`), drawn.top, drawn.node));
    }
    const over = Number(purse.overrun) > 0;
    drawn.top.replaceChildren(
      el("dl", { class: over ? "stats five" : "stats" },
        stat("left", "Left", purse.left, { kind: "first", note: `of ${format.amount(purse.budget)} ${purse.resource}` }),
        runsOut(history.purses[number].forecast, now),
        stat("spent", "Spent", purse.spent, { note: format.share(purse.spent / purse.budget) }),
        stat("presumed", "Presumed", purse.presumed, { note: `${format.count(status.counts.presumed)} tickets` }),
        stat("held", "Held", purse.held, { note: `${format.count(status.counts.held)} tickets` }),
        over ? stat("overrun", "Overrun", purse.overrun, { kind: "over", note: "not in the budget" }) : null),
      gauge(["spent", "presumed", "held", "left"].map((name) => [name, Number(purse[name])])));
    drawn.update({ resource: purse.resource, purse: history.purses[number], at: history.series.at, now });
  }
}

export function arms({ status, history, now }) {
  const resources = status.purses.map((purse) => purse.resource);
  const colours = new Map(history.series.pulls.map(({ arm }, place) => [arm, `arm-${place % 8}`]));
  const best = Math.max(0, ...history.arms.map((arm) => arm.efficiency ?? 0));
  const top = Math.min(2.5 * best, Math.max(best, ...history.arms.map((arm) => arm.interval?.[1] ?? 0))) || 1;
  const shown = ["settled", "failed"].filter((name) => history.arms.some((arm) => arm[name]));
  const columns = [{ name: "Arm" }, { name: "Pulls" }, { name: "Reports" }, ...shown.map((name) => ({ name: name === "failed" ? "Failed" : "No reward yet", label: name === "failed" ? "Failed" : "Waiting" })), { name: "Share" }, { name: "Recent share", label: "Recent" }, { name: "Mean reward", label: "Reward" },
    ...resources.map((resource) => ({ name: `Mean cost, ${resource}`, label: resources.length > 1 ? resource : "Cost" })), { name: `Reward per ${resources[0]}, 95%`, label: `Per ${resources[0]}`, wide: true }];
  const rows = history.arms.map((arm) => ({
    head: el("span", { class: "named" }, swatch(colours.get(arm.arm) ?? "others"), el("span", {}, arm.arm, badge(status, arm.arm))),
    cells: [format.count(arm.pulls), format.count(arm.told), ...shown.map((name) => format.count(arm[name])), format.share(arm.share), format.share(arm.recent_share), format.number(arm.mean_reward),
      ...resources.map((_, place) => format.number(arm.mean_costs?.[place] ?? null)), ratio(arm, top)],
  }));
  find("arms").dataset.more = shown.length;
  replace(find("arms"), table("What was reported of each arm. Recent: in the last eighth of the campaign's life.", columns, rows, { cards: true }));
  const drawn = chart("shares", "Share of each arm in the pulls over time", 220, shares);
  if (!drawn.node.isConnected) find("shares").replaceChildren(el("h3", {}, "Share of pulls over time"), drawn.node);
  drawn.update({ at: history.series.at, pulls: history.series.pulls, now });
}

function ratio({ efficiency, interval: range }, top) {
  if (efficiency === null) return "–";
  const words = `${format.number(efficiency)}${range ? ` (${format.number(range[0])} to ${format.number(range[1])})` : ""}`;
  return el("span", { class: "ratio" }, el("span", {}, words), interval(efficiency, range, top));
}

/** How many tickets are in each state, and what the money held for them does. */
export function counts({ status: { counts: all } }) {
  const states = Object.entries(STATES).filter(([name]) => all[name]);
  const list = el("dl", { class: "counts" }, ...states.map(([name, note]) => el("div", { "data-state": name }, el("dt", {}, name), el("dd", {}, format.count(all[name]), note ? el("small", {}, note) : null))));
  const crowded = all.crowded && el("p", { id: "crowded", class: "quiet" }, `Money held for open tickets excluded an arm in ${format.count(all.crowded)} ${all.crowded === 1 ? "ask" : "asks"}.`);
  find("counts").replaceChildren(...[states.length && list, crowded].filter(Boolean));
}

/** Open tickets, a few until `more` shows the others; `cancel` voids one where the reader may. */
export function tickets({ status, tickets: known, now }, cancel, more) {
  const all = status.counts.held + status.counts.presumed;
  const open = more ? known.slice(0, FEW) : known;
  if (!open.length) return replace(find("tickets"), el("p", { class: "none" }, "No ticket is out."));
  const resources = status.purses.map((purse) => purse.resource);
  const columns = [{ name: "Ticket" }, { name: "Arm", text: true }, { name: "State", text: true }, { name: "Age" }, { name: "Deadline", label: "Due" }, ...resources.map((resource) => ({ name: `Set apart, ${resource}`, label: resources.length > 1 ? resource : "Set apart" })), ...(cancel ? [{ name: "Action" }] : [])];
  const rows = open.map((ticket) => ({
    head: `${ticket.id}`,
    cells: [ticket.arms.join(", "), el("span", { class: "state" }, swatch(ticket.state), ticket.state), format.duration(now - ticket.asked_at), deadline(ticket, now), ...ticket.held.map((held) => format.amount(held)),
      ...(cancel ? [el("button", { type: "button", class: "button small", "data-key": `void-${ticket.id}`, "aria-label": `Void ticket ${ticket.id}`, onclick: () => cancel(ticket.id) }, "Void")] : [])],
  }));
  const caption = open.length < all ? `The oldest ${open.length} of ${format.count(all)} open tickets` : `${format.count(all)} open, the oldest first`;
  const others = known.length - open.length;
  return replace(find("tickets"), table(caption, columns, rows, { cards: true }), others > 0 ? el("button", { type: "button", class: "button", "data-key": "more", onclick: more }, `Show ${others} more`) : "");
}

function deadline({ deadline: until, state }, now) {
  if (until === null) return "none";
  if (until > now) return `in ${format.duration(until - now)}`;
  return el("span", { class: state === "held" ? "late" : "" }, `${format.duration(now - until)} ago`);
}
