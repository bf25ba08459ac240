// The parts of a campaign's page, from a picture of it.

import { Chart } from "./chart.js";
import { budget, gauge } from "./charts.js";
import { el, find, swatch } from "./dom.js";
import * as format from "./format.js";
import * as money from "./money.js";
import { rewardRate, stats } from "./value.js";
import { COMMANDS, MONEY, runsOut } from "./words.js";

const IDLE = 60; // seconds: the least after which a campaign is called idle
const charts = new Map();

/** The option that makes a command work on the storage that the server shows, where it is known and has an address. */
export const option = (storage) => (storage?.includes(":") ? ` --storage ${storage}` : "");

export function title({ status, history, now }, storage) {
  find("name").textContent = status.name;
  find("status").textContent = find("status").dataset.status = status.status;
  const isOwn = !/^(account|all|the only round) /.test(status.why); // neither an account above it nor rounds
  const command = isOwn && COMMANDS[status.status]?.(status.name);
  find("why").replaceChildren(status.why, ...(command ? [". To go on: ", el("code", {}, `${command}${option(storage)}`)] : []));
  find("answer").textContent = history.answer;
  const [asked, span] = status.period ? [status.period.rounds, " in this period"] : [status.rounds, ""];
  const rounds = `round ${format.count(asked)}${status.horizon ? ` of ${format.count(status.horizon)}` : ""}${span}`;
  const rates = [["asks", "ask"], ["tells", "report"]].filter(([kind]) => history.rates[kind]).map(([kind, word]) => format.often(history.rates[kind], word));
  const at = (time) => format.zoned(time, now, status.time_zone);
  const seen = status.features.length ? [`contexts of ${format.plural(status.features.length, "number")}`] : [];
  const above = status.account ? [`account ${status.account}`] : [];
  find("facts").textContent = [status.policy, ...above, rounds, ...rates, ...seen, `since ${format.moment(status.created_at, now)}`, ...(status.until ? [`until ${at(status.until)}`] : []), ...expected(status, at)].join(" · ");
  find("period").hidden = !status.period;
  find("period").textContent = status.period ? periodText(status.period, status.purses, at) : "";
}

/** The requests to come, unless the horizon says so, and how many the money pays for. */
function expected({ forecast, horizon }, at) {
  if (!forecast) return [];
  const until = forecast.until === null ? "" : ` until ${at(forecast.until)}`;
  const words = [horizon === null && `about ${format.plural(forecast.requests, "more request")}${until}`, forecast.affords !== null && `money for about ${format.count(forecast.affords)}${horizon === null ? "" : " more"}`];
  return words.filter(Boolean);
}

/** The period of a budget that is renewed, on one line. */
function periodText({ number, every, time_zone: zone, ends_at: ends, spent, allowance, carried }, purses, at) {
  const until = ends === null ? "" : `, until ${at(ends)}`;
  const parts = purses.map(({ resource }, place) => {
    const more = Number(carried[place]) ? ` and ${carried[place]} carried over` : "";
    return `${spent[place]} of ${allowance[place]} ${resource} spent${more}`;
  });
  return `Period ${format.count(number)} (every ${every}, ${zone}${until}): ${parts.join(", ")}.`;
}

function stat(name, label, value, { note, exact, kind = "" } = {}) {
  return el("div", { class: kind, "data-stat": label.toLowerCase() }, el("dt", { title: MONEY[name] }, exact ? swatch(name) : null, label), el("dd", { title: exact }, value, note ? el("small", {}, note) : null));
}

/** What the campaign has earned for certain of what was possible, or why nothing is known. */
function certified({ share, confidence, reason }) {
  const [value, note] = share === null ? ["–", reason] : [`at least ${format.part(Math.floor(100 * share) / 100)}`, `of the best way to spend this money, ${format.part(confidence)} sure`];
  return stat("earned", "Earned", value, { note });
}

/** The chart of a name, made when it is first asked for. */
export function chart(name, ...how) {
  if (!charts.has(name)) charts.set(name, new Chart(...how));
  return charts.get(name);
}

export function forgetCharts() {
  charts.clear();
  for (const place of ["budgets", "pulls", "value"]) find(place).replaceChildren();
  find("alarms").dataset.said = "";
}

/** When the charts end: now; those of a campaign that has been idle for longer than it was active, at its last entry. */
export function end({ history: { series: { at } }, now }) {
  const [first, last] = [at[0], at.at(-1)];
  const isIdle = document.querySelector("[name=range]:checked").value === "all" && now - last > Math.max(IDLE, last - first);
  find("idle").textContent = isIdle ? `idle since ${format.moment(last, now)}` : "";
  return Math.max(isIdle ? last : now, last, first + 1);
}

/** The budget of each resource; a campaign without asks has no course yet. */
export function budgets({ status, history, now, until }) {
  const place = find("budgets");
  const { period } = status;
  for (const [number, purse] of money.inPeriod(status.purses, period).entries()) {
    const { resource } = purse;
    const whole = status.purses[number]; // of all periods
    const drawn = chart(`budget ${number}`, `${resource}: spent, presumed, held and left over time`, 280, budget);
    if (!drawn.node.isConnected) {
      const label = `budget-${number}`;
      drawn.top = el("div");
      place.append(el("section", { class: "card", "aria-labelledby": label }, el("h2", { id: label }, `Budget, ${resource}`), drawn.top, drawn.node));
    }
    const text = money.parts(purse);
    const over = Number(purse.overrun) > 0;
    const { projection } = history.purses[number];
    const [when, note] = runsOut(status, projection, now);
    const known = (name, of = purse) => ({ exact: `exactly ${of[name]} ${resource}` });
    const set = (name) => (period ? money.shown(whole[name], text.places) : text[name]); // for tickets of any period
    drawn.top.replaceChildren(
      el("dl", { class: "stats" },
        stat("left", "Left", text.left, { ...known("left"), kind: "first", note: `of ${text.budget} ${resource}${period ? " in this period" : ""}` }),
        number || !history.certificate ? null : certified(history.certificate),
        stat("", "Runs out", when, { note: projection ? `${note}, at ${format.rate(projection.per_second, resource)}` : note })),
      el("dl", { class: "stats" },
        stat("spent", "Spent", text.spent, { ...known("spent"), note: `${format.share(purse.spent / purse.budget || 0)}${period && Number(whole.presumed) ? ", presumed included" : ""}` }),
        stat("presumed", "Presumed", set("presumed"), { ...known("presumed", whole), note: format.plural(status.counts.presumed, "ticket") }),
        stat("held", "Held", set("held"), { ...known("held", whole), note: format.plural(status.counts.held, "ticket") }),
        over ? stat("overrun", "Overrun", text.overrun, { ...known("overrun"), kind: "over", note: "above the budget" }) : null),
      over ? el("p", { class: "paid" }, `Paid in all ${money.parts(whole).paid} ${resource} = ${money.parts(whole).spent} within the budget + ${text.overrun} above it.`) : "",
      gauge(["spent", "presumed", "held", "left"].map((name) => [name, Number(purse[name])])));
    drawn.update({ resource, granted: period ? "all budgets so far" : "budget", places: text.places, purse: history.purses[number], at: history.series.at, now, until });
    drawn.node.hidden = !status.counts.tickets;
  }
}

/** What the money bought, in units of the first resource; a campaign without a certificate does not try to gain, and is not compared. */
export function value({ status, history, now, until }) {
  const { resource } = status.purses[0];
  const compares = history.certificate !== null;
  const gained = compares ? history.value : { ...history.value, best: null, uniform: null };
  const drawn = chart("value", `Reward per ${resource} over time`, 220, rewardRate);
  if (!drawn.node.isConnected) {
    drawn.top = el("div");
    find("value").replaceChildren(drawn.top, el("h3", {}, `Reward per ${resource} over time`), drawn.node);
  }
  drawn.top.replaceChildren(...stats({ value: gained, compares, worth: history.worth, resource, places: money.decimalsOf(status.purses[0]), waiting: status.counts.settled }));
  const { spent, overrun } = history.purses[0];
  drawn.update({ at: history.series.at, gain: history.series.gain, paid: spent.map((inside, place) => Number(inside) + Number(overrun[place])), value: gained, resource, now, until });
}
