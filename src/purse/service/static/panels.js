// The parts of a campaign's page, from a picture of it.

import { budget, certain, Chart, gauge, rewardRate } from "./charts.js";
import { el, find, svg, swatch } from "./dom.js";
import * as format from "./format.js";
import * as money from "./money.js";
import { ALARMS, COMMANDS, isSerious, MONEY, runsOut } from "./words.js";

const IDLE = 60; // seconds: the least after which a campaign is called idle
const charts = new Map();

/** The option that makes a command work on the storage that the server shows, if it is known and has an address. */
export const option = (storage) => (storage?.includes(":") ? ` --storage ${storage}` : "");

export function title({ status, history, now }, storage) {
  find("name").textContent = status.name;
  find("status").textContent = find("status").dataset.status = status.status;
  const isOwn = !/^(account|all|the only round) /.test(status.why); // neither an account above it nor rounds
  const command = isOwn && COMMANDS[status.status]?.(status.name);
  find("why").replaceChildren(status.why, ...(command ? [". To go on: ", el("code", {}, `${command}${option(storage)}`)] : []));
  find("answer").textContent = history.answer;
  const [number, span] = status.period ? [status.period.rounds, " in this period"] : [status.rounds, ""];
  const rounds = `round ${format.count(number)}${status.horizon ? ` of ${format.count(status.horizon)}` : ""}${span}`;
  const rates = [["asks", "ask"], ["tells", "report"]].filter(([kind]) => history.rates[kind]).map(([kind, word]) => format.often(history.rates[kind], word));
  const at = (time) => format.zoned(time, now, status.time_zone);
  const contexts = status.features.length ? [`contexts of ${format.plural(status.features.length, "number")}`] : [];
  const above = status.account ? [`account ${status.account}`] : [];
  find("facts").textContent = [status.policy, ...above, rounds, ...rates, ...contexts, `since ${format.moment(status.created_at, now)}`, ...(status.until ? [`until ${at(status.until)}`] : []), ...expected(status, at)].join(" · ");
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
  const parts = purses.map(({ resource }, index) => {
    const more = Number(carried[index]) ? ` and ${carried[index]} carried over` : "";
    return `${spent[index]} of ${allowance[index]} ${resource} spent${more}`;
  });
  return `Period ${format.count(number)} (every ${every}, ${zone}${until}): ${parts.join(", ")}.`;
}

/** A number with its label and a note; `name` is what it is of the money. */
function stat(name, label, value, { note, exact, kind = "", key = label.toLowerCase() } = {}) {
  return el("div", { class: kind, "data-stat": key }, el("dt", { title: MONEY[name] }, exact ? swatch(name) : null, label), el("dd", { title: exact }, value, note ? el("small", {}, note) : null));
}

/** What the campaign has earned for certain of what was possible: a figure once it is most of it, before in a few small words. */
function certified({ share, confidence, reason }) {
  const sure = share !== null && `at least ${format.part(Math.floor(100 * share) / 100)}`;
  const what = `of the best way to spend this money, ${format.part(confidence)} sure`;
  if (share !== null && share >= 0.5) return stat("earned", "Earned", sure, { note: what });
  return stat("earned", "Earned", "", { kind: "later", note: `not certain yet: ${sure ? `${sure} ${what}` : reason}` });
}

/** The chart of a name, made when it is first asked for. */
export function chart(name, ...how) {
  if (!charts.has(name)) charts.set(name, new Chart(...how));
  return charts.get(name);
}

export function forgetCharts() {
  charts.clear();
  for (const id of ["budgets", "pulls", "value"]) find(id).replaceChildren();
  find("alarms").dataset.shown = "";
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
  const section = find("budgets");
  const { period } = status;
  for (const [number, purse] of money.inPeriod(status.purses, period).entries()) {
    const { resource } = purse;
    const whole = status.purses[number]; // of all periods
    const drawn = chart(`budget ${number}`, `${resource}: spent, presumed, held and left over time`, 280, budget);
    if (!drawn.node.isConnected) {
      const label = `budget-${number}`;
      drawn.top = el("div");
      section.append(el("section", { class: "card", "aria-labelledby": label }, el("h2", { id: label }, `Budget, ${resource}`), drawn.top, drawn.node));
    }
    const text = money.parts(purse);
    const over = Number(purse.overrun) > 0;
    const { projection } = history.purses[number];
    const [when, note] = runsOut(status, projection, now);
    const exactly = (name, of = purse) => ({ exact: `exactly ${of[name]} ${resource}` });
    const set = (name) => (period ? money.shown(whole[name], text.places) : text[name]); // for tickets of any period
    drawn.top.replaceChildren(
      el("dl", { class: "stats" },
        stat("left", "Left", text.left, { ...exactly("left"), kind: "first", note: `of ${text.budget} ${resource}${period ? " in this period" : ""}` }),
        stat("", "Runs out", when, { note: projection ? `${note}, at ${format.rate(projection.per_second, resource)}` : note }),
        number || !history.certificate ? null : certified(history.certificate)),
      el("dl", { class: "stats" },
        stat("spent", "Spent", text.spent, { ...exactly("spent"), note: `${format.share(purse.spent / purse.budget || 0)}${period && Number(whole.presumed) ? ", presumed included" : ""}` }),
        stat("presumed", "Presumed", set("presumed"), { ...exactly("presumed", whole), note: format.plural(status.counts.presumed, "ticket") }),
        stat("held", "Held", set("held"), { ...exactly("held", whole), note: format.plural(status.counts.held, "ticket") }),
        over ? stat("overrun", "Overrun", text.overrun, { ...exactly("overrun"), kind: "over", note: "of what is spent, above what was held" }) : null),
      gauge(["spent", "presumed", "held", "left"].map((name) => [name, Math.max(0, Number(purse[name]))])));
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
  const { spent } = history.purses[0];
  drawn.update({ at: history.series.at, gain: history.series.gain, paid: spent.map(Number), value: gained, resource, now, until });
}

/** What the campaign gained against another gain: 12% more, or 10.7 times as much. */
function against(gain, other) {
  if (!other) return "";
  const more = gain / other - 1;
  const words = Math.abs(more) < 0.005 ? "as much" : more >= 1 ? `${format.number(gain / other)} times as much` : `${format.part(Math.abs(more))} ${more > 0 ? "more" : "less"}`;
  return `this campaign gained ${words}`;
}

/** The gain in numbers; `compares`: beside other gains. */
function stats({ value, compares, worth, resource, places, waiting }) {
  const { gain, paid, per_unit: each } = value;
  const own = [
    stat("gain", "Gain", format.number(gain), { note: `for ${money.shown(paid[0], places)} ${resource} paid${worth === null ? "" : `; a request is worth ${format.number(worth)}`}` }),
    stat("", `Reward per ${resource}`, format.number(each), { note: waiting ? `in all; ${format.plural(waiting, "ticket")} paid for, reward not known yet` : "in all" }),
  ];
  const [others, note] = compares ? comparisons(value, resource) : [[], []];
  return [el("dl", { class: "stats four" }, ...own, ...others), ...note];
}

/** What one arm alone and all arms equally often might have gained, and what that is. */
function comparisons({ gain, paid, best, uniform }, resource) {
  const sure = certain(best);
  const range = sure?.interval ? `, 95%: ${format.number(best.interval[0])} to ${format.number(best.interval[1])}` : "";
  const isLimited = best && !best.interval && paid.length === 1; // by rounds, too
  const why = best?.interval ? `most reward per ${resource}` : "most gain";
  const others = [
    stat("", best ? el("span", {}, "Always ", el("em", {}, best.arm)) : "Always one arm", sure ? `≈ ${format.number(best.gain)}` : "–", { note: sure ? `${why}${range}; ${against(gain, best.gain)}` : best ? `${why}, but too few reports to say how much` : "no arm has two reports yet", key: "always" }),
    stat("", "All arms equally often", uniform === null ? "–" : `≈ ${format.number(uniform)}`, { note: uniform === null ? "not every arm has a report yet" : against(gain, uniform) }),
  ];
  return [others, [el("p", { class: "quiet small" }, `≈ are estimates of the gain for the same money${isLimited ? ", in at most as many pulls because rounds are limited" : ""}, from the mean reward and cost that each arm's own reports had. Which arm is best is known only in hindsight, and few reports flatter it.`)]];
}


const SIGN = { serious: "M12 3L22 20H2zM12 10v4M12 17v.01", mild: "M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18M12 8v5M12 16v.01" };
const STATES = { presumed: "presumed", overdue: "held", silent: "settled" }; // tickets that an alarm is about, all of them

/** The sign before an alarm. */
export const sign = (grade) => svg("svg", { class: `sign ${grade}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: SIGN[grade] }));

/** Alarms; the same ones are left alone, so that they are not read out again. `look` shows tickets. */
export function alarms({ status, history, now }, look) {
  const section = find("alarms");
  const shown = JSON.stringify([status.alarms, history.incidents]);
  if (section.dataset.shown === shown) return;
  section.dataset.shown = shown;
  section.replaceChildren(...status.alarms.map(({ kind, text, last_at }) => {
    const grade = isSerious(kind) ? "serious" : "mild";
    const rows = history.incidents[kind === "overdrawn" ? "overrun" : kind] ?? [];
    const last = last_at ?? rows.at(-1)?.[0];
    const tickets = [...new Set(rows.map(([, ticket]) => ticket))];
    const links = STATES[kind] && status.counts[STATES[kind]] ? [el("button", { type: "button", class: "link", onclick: () => look({ state: STATES[kind] }) }, "See the tickets")]
      : tickets.length ? [el("button", { type: "button", class: "link", onclick: () => look({ ids: tickets, of: ALARMS[kind] }) }, tickets.length === 1 ? `See ticket ${tickets[0]}` : `See the last ${tickets.length} tickets`)] : [];
    return el("div", { class: `alarm ${grade}`, "data-kind": kind }, sign(grade),
      el("p", {}, el("strong", {}, `${ALARMS[kind] ?? kind}: `), text, "."),
      el("p", { class: "about" }, last ? el("span", { class: "quiet" }, `Last at ${format.exact(last, now)}`) : null, ...links));
  }));
}

const AFTER = ["times", "bought", "ticketed"]; // parts that are there from the first ask on

/** Show the code, or what there is to see after the first ask. */
export function firstAsk({ name, arms, counts, purses }, storage) {
  const isNew = !counts.tickets;
  find("first").hidden = !isNew;
  for (const part of AFTER) find(part).hidden = isNew;
  if (!isNew) return;
  const text = JSON.stringify;
  const cost = purses.length === 1 ? 'cost="0.002"' : `cost={${purses.map(({ resource }) => `${text(resource)}: "0.002"`).join(", ")}}`;
  find("first-code").textContent = `from purse import Campaign

campaign = Campaign.open(${text(name)}, storage=${text(storage?.includes(":") ? storage : location.href.replace(/\/?(#.*)?$/, ""))})
with campaign.spending() as call:
    print(call.arm)  # make the call: ${arms.length > 3 ? `one of ${arms.length} arms` : arms.join(" or ")}
    call.tell(reward=1.0, ${cost})  # what it was worth, and what it cost`;
}
