// The parts of a campaign's page, from a picture of it.

import { Chart } from "./chart.js";
import { budget, gauge, interval } from "./charts.js";
import { badge } from "./cooling.js";
import { el, find, replace, swatch, table } from "./dom.js";
import * as format from "./format.js";
import * as money from "./money.js";
import { nameOf, pulls } from "./pulls.js";
import { rewardRate, stats } from "./value.js";
import { HOW, MONEY, standing } from "./words.js";

const charts = new Map();

/** The option that makes a command work on the storage that the server shows, where it is known and has an address. */
export const option = (storage) => (storage?.includes(":") ? ` --storage ${storage}` : "");

export function title({ status, history, now }, storage) {
  find("name").textContent = status.name;
  const state = standing(status);
  find("standing").textContent = find("standing").dataset.status = state;
  const [asked, span] = status.period ? [status.period.rounds, " in this period"] : [status.rounds, ""];
  const rounds = `round ${format.count(asked)}${status.horizon ? ` of ${format.count(status.horizon)}` : ""}${span}`;
  const rates = status.status === "running" ? [format.often(history.rates.asks, "asks"), format.often(history.rates.tells, "reports")] : [];
  const seen = status.features.length ? [`contexts of ${format.plural(status.features.length, "number")}`] : [];
  const above = status.account ? [`account ${status.account}`] : [];
  find("facts").textContent = [status.policy, ...above, rounds, ...rates, ...seen, `since ${format.moment(status.created_at, now)}`, ...(status.until ? [`until ${format.moment(status.until, now)}`] : []), ...expected(status.forecast, now)].join(" · ");
  const [words = "", command] = HOW[state]?.(status.name) ?? [];
  find("how").hidden = !words;
  find("how").replaceChildren(words, command ? el("code", {}, `${command}${option(storage)}`) : "");
  find("period").hidden = !status.period;
  find("period").textContent = status.period ? periodText(status.period, status.purses, now) : "";
}

/** The requests to come, if the horizon is a forecast. */
function expected(forecast, now) {
  if (!forecast) return [];
  const paid = forecast.affords === null ? "" : `, money for about ${format.count(forecast.affords)}`;
  return [`about ${format.count(forecast.requests)} more requests until ${format.moment(forecast.until, now)}${paid}`];
}

/** The period of a budget that is renewed, on one line. */
function periodText({ number, every, time_zone: zone, ends_at: ends, spent, allowance, carried }, purses, now) {
  const until = ends === null ? "" : `, until ${format.moment(ends, now)}`;
  const parts = purses.map(({ resource }, place) => {
    const more = Number(carried[place]) ? ` and ${carried[place]} carried over` : "";
    return `${spent[place]} of ${allowance[place]} ${resource} spent${more}`;
  });
  return `Period ${format.count(number)} (every ${every}, ${zone}${until}): ${parts.join(", ")}.`;
}

function stat(name, label, value, { note, exact, kind = "" } = {}) {
  return el("div", { class: kind, "data-stat": label.toLowerCase() }, el("dt", { title: MONEY[name] }, swatch(name), label), el("dd", { title: exact }, value, note ? el("small", {}, note) : null));
}

function runsOut(forecast, now) {
  const value = forecast ? (forecast.at <= now + 1 ? "now" : `in ${format.duration(forecast.at - now)}`) : "–";
  const note = forecast ? `${format.moment(forecast.at, now)}, at ${format.rate(forecast.per_second)}` : "nothing was spent recently";
  return el("div", { class: "end", "data-stat": "runs out" }, el("dt", {}, "Runs out"), el("dd", {}, value, el("small", {}, note)));
}

/** The chart of a name, made when it is first asked for. */
function chart(name, ...how) {
  if (!charts.has(name)) charts.set(name, new Chart(...how));
  return charts.get(name);
}

export function forgetCharts() {
  charts.clear();
  for (const place of ["budgets", "pulls", "value"]) find(place).replaceChildren();
  find("alarms").dataset.said = "";
}

export function budgets({ status, history, now }) {
  const place = find("budgets");
  for (const [number, purse] of status.purses.entries()) {
    const { resource } = purse;
    const drawn = chart(`budget ${number}`, `${resource}: spent, presumed, held and left over time`, 280, budget);
    if (!drawn.node.isConnected) {
      const label = `budget-${number}`;
      drawn.top = el("div");
      place.append(el("section", { class: "card", "aria-labelledby": label }, el("h2", { id: label }, `Budget, ${resource}`), drawn.top, drawn.node));
    }
    const text = money.parts(purse);
    const over = Number(purse.overrun) > 0;
    const known = (name) => ({ exact: `exactly ${purse[name]} ${resource}` });
    drawn.top.replaceChildren(
      el("dl", { class: over ? "stats five" : "stats" },
        stat("left", "Left", text.left, { ...known("left"), kind: "first", note: `of ${text.budget} ${resource}` }),
        runsOut(history.purses[number].forecast, now),
        stat("spent", "Spent", text.spent, { ...known("spent"), note: format.share(purse.spent / purse.budget) }),
        stat("presumed", "Presumed", text.presumed, { ...known("presumed"), note: format.plural(status.counts.presumed, "ticket") }),
        stat("held", "Held", text.held, { ...known("held"), note: format.plural(status.counts.held, "ticket") }),
        over ? stat("overrun", "Overrun", text.overrun, { ...known("overrun"), kind: "over", note: "above the budget" }) : null),
      over ? el("p", { class: "paid" }, `Paid in all ${text.paid} ${resource} = ${text.spent} within the budget + ${text.overrun} above it.`) : "",
      gauge(["spent", "presumed", "held", "left"].map((name) => [name, Number(purse[name])])));
    drawn.update({ resource, places: text.places, purse: history.purses[number], at: history.series.at, now });
  }
}

/** What the money bought, in units of the first resource. */
export function value({ status, history, now }) {
  const { resource } = status.purses[0];
  const drawn = chart("value", `Reward per ${resource} over time`, 220, rewardRate);
  if (!drawn.node.isConnected) {
    drawn.top = el("div");
    find("value").replaceChildren(drawn.top, el("h3", {}, `Reward per ${resource} over time`), drawn.node);
  }
  drawn.top.replaceChildren(...stats({ value: history.value, resource, places: money.decimals(status.purses[0]), waiting: status.counts.settled, horizon: status.horizon }));
  const { spent, overrun } = history.purses[0];
  drawn.update({ at: history.series.at, gain: history.series.gain, paid: spent.map((inside, place) => Number(inside) + Number(overrun[place])), value: history.value, resource, now });
}

/** Arms; `chances` are the policy's probabilities, where somebody asked for them. */
export function arms({ status, history, now }, chances) {
  const resources = status.purses.map((purse) => purse.resource);
  const colours = new Map(history.series.pulls.map((arm, place) => [arm.arm, nameOf(arm, place)]));
  const best = Math.max(0, ...history.arms.map((arm) => arm.efficiency ?? 0));
  const top = Math.min(2.5 * best, Math.max(best, ...history.arms.map((arm) => arm.interval?.[1] ?? 0))) || 1;
  const shown = ["settled", "failed"].filter((name) => history.arms.some((arm) => arm[name]));
  const columns = [{ name: "Arm" }, { name: "Pulls" }, { name: "Reports" }, ...shown.map((name) => ({ name: name === "failed" ? "Failed" : "No reward yet", label: name === "failed" ? "Failed" : "Waiting" })), { name: "Share" }, { name: "Recent share", label: "Recent" }, ...(chances ? [{ name: "Next", label: "Next" }] : []), { name: "Mean reward", label: "Reward" },
    ...resources.map((resource) => ({ name: `Mean cost, ${resource}`, label: resources.length > 1 ? resource : "Cost" })), { name: `Reward per ${resources[0]}, 95%`, label: `Per ${resources[0]}`, wide: true }];
  const rows = history.arms.map((arm) => ({
    head: el("span", { class: "named" }, swatch(colours.get(arm.arm) ?? "others"), el("span", {}, arm.arm, badge(status, arm.arm))),
    cells: [format.count(arm.pulls), format.count(arm.told), ...shown.map((name) => format.count(arm[name])), format.share(arm.share), format.share(arm.recent_share), ...(chances ? [arm.arm in chances ? format.share(chances[arm.arm]) : "–"] : []), format.number(arm.mean_reward),
      ...resources.map((_, place) => format.number(arm.mean_costs?.[place] ?? null)), ratio(arm, top)],
  }));
  find("arms").dataset.more = shown.length + (chances ? 1 : 0) + resources.length - 1;
  const recent = format.duration(Math.max(60, (now - history.started_at) / 8));
  replace(find("arms"), table(`What was reported of each arm. Recent share: in the last ${recent}.${chances ? " Next: the policy's probabilities for the next round." : ""}`, columns, rows, { cards: true }));
  const drawn = chart("pulls", "Pulls of each arm over time", 220, pulls);
  if (!drawn.node.isConnected) find("pulls").replaceChildren(el("h3", {}, "Pulls over time"), drawn.node);
  drawn.update({ at: history.series.at, rows: history.series.pulls, now });
}

function ratio({ efficiency, interval: range }, top) {
  if (efficiency === null) return "–";
  const words = `${format.number(efficiency)}${range ? ` (${format.number(range[0])} to ${format.number(range[1])})` : ""}`;
  return el("span", { class: "ratio" }, el("span", {}, words), interval(efficiency, range, top));
}
