// Arms: what was reported of each, how often each was pulled over time, and those whose calls fail.

import { colourOf, interval, pulls } from "./charts.js";
import { el, find, replace, swatch, table } from "./dom.js";
import * as format from "./format.js";
import { chart } from "./panels.js";

const MANY = 8; // arms of which all are shown, in the order of their places
const FEW = 10; // of more than that: those with the largest shares
let few = true;

/** Show another campaign. */
export function forget() {
  few = true;
}

/** The arms that are shown: of many those pulled most, without those that were tried once. */
function chosen(all) {
  if (all.length <= MANY) return all;
  const sorted = all.toSorted((one, two) => two.pulls - one.pulls);
  return few ? sorted.filter(({ pulls: count }, index) => index < FEW && (count > 1 || index < 1)) : sorted;
}

/** Draw the arms; `chances` are the policy's probabilities, if they were asked for. */
export function draw(view, chances) {
  const { status, history, now, until } = view;
  const resources = status.purses.map((purse) => purse.resource);
  const colours = new Map(history.series.pulls.map((arm, index) => [arm.arm, colourOf(arm, index)]));
  const best = Math.max(0, ...history.arms.map((arm) => arm.efficiency ?? 0));
  const top = Math.min(2.5 * best, Math.max(best, ...history.arms.map((arm) => arm.interval?.[1] ?? 0))) || 1;
  const waits = ["settled", "failed"].filter((name) => history.arms.some((arm) => arm[name]));
  const columns = [{ name: "Arm" }, { name: "Pulls" }, { name: "Reports" }, ...waits.map((name) => ({ name: name === "failed" ? "Failed" : "No reward yet", label: name === "failed" ? "Failed" : "Waiting" })), { name: "Share" }, { name: "Recent share", label: "Recent" }, ...(chances ? [{ name: "Next", label: "Next" }] : []), { name: "Mean reward", label: "Reward" },
    ...resources.map((resource) => ({ name: `Mean cost, ${resource}`, label: resources.length > 1 ? resource : "Cost" })), { name: `Reward per ${resources[0]}, 95%`, label: `Per ${resources[0]}`, wide: true }];
  const shown = chosen(history.arms);
  const reward = format.column(shown.map((arm) => arm.mean_reward));
  const costs = resources.map((_, index) => format.column(shown.map((arm) => arm.mean_costs?.[index])));
  const ratio = format.column(shown.map((arm) => arm.efficiency));
  const exact = (show, value) => el("span", { title: value ?? null }, show(value));
  const rows = shown.map((arm) => ({
    head: el("span", { class: "named" }, swatch(colours.get(arm.arm) ?? "others"), el("span", {}, arm.arm, badge(status, arm.arm))),
    cells: [format.count(arm.pulls), format.count(arm.told), ...waits.map((name) => format.count(arm[name])), format.share(arm.share), format.share(arm.recent_share), ...(chances ? [arm.arm in chances ? format.share(chances[arm.arm]) : "–"] : []), exact(reward, arm.mean_reward),
      ...costs.map((show, index) => exact(show, arm.mean_costs?.[index])), efficiency(arm, ratio, top)],
  }));
  find("arms").toggleAttribute("data-long", shown.some(({ arm }) => arm.length > 20));
  find("arms").dataset.more = waits.length + (chances ? 1 : 0) + resources.length - 1;
  const recent = format.duration(Math.max(60, (now - history.started_at) / 8));
  const others = history.arms.length - shown.length;
  const caption = status.counts.tickets ? `What was reported of each arm. Recent share: in the last ${recent}.${chances ? " Next: the policy's probabilities for the next round." : ""}` : "Nothing was asked for yet.";
  const more = () => {
    few = false;
    draw(view, chances);
  };
  replace(find("arms"), table(caption, columns, rows, { cards: true }), others ? el("button", { type: "button", class: "button", "data-key": "more-arms", onclick: more }, `Show ${others} more, tried less often`) : "");
  find("pulls").hidden = !status.counts.tickets;
  const drawn = chart("pulls", "Pulls of each arm over time", 220, pulls);
  if (!drawn.node.isConnected) find("pulls").replaceChildren(el("h3", {}, "Pulls over time"), drawn.node);
  drawn.update({ at: history.series.at, rows: history.series.pulls, now, until });
}

function efficiency({ efficiency: value, interval: range }, show, top) {
  if (value === null) return "–";
  return el("span", { class: "ratio" }, el("span", {}, `${show(value)}${range ? ` (${show(range[0])} to ${show(range[1])})` : ""}`), interval(value, range, top));
}

/** What an arm that has not recovered waits for. */
function waits({ until, probe }, now) {
  if (now < until) return `cools down, ${format.duration(Math.max(1, until - now))} left`;
  return probe === null ? "the next ask may try it" : `ticket ${probe} tries it`;
}

/** The arms that have not recovered; nothing if there are none. */
export function cooling({ status, now }) {
  if (!status.cooling.length) return find("cooling").replaceChildren();
  const columns = [{ name: "Arm" }, { name: "State", text: true, wide: true }, { name: "Cools down until", label: "Until" }, { name: "Length" }];
  const rows = status.cooling.map((arm) => ({ head: arm.arm, cells: [waits(arm, now), format.exact(arm.until, now), format.duration(arm.length)] }));
  return replace(find("cooling"), table("Arms whose calls fail. After each cool-down one ticket tries the arm; a success ends this, a failure doubles the next cool-down.", columns, rows, { cards: true }));
}

/** A word beside the name of an arm that is not chosen as usual. */
function badge(status, name) {
  const word = status.retired.includes(name) ? "retired" : status.cooling.some(({ arm }) => arm === name) ? "fails" : null;
  return word && el("span", { class: "badge", "data-arm": word }, word);
}
