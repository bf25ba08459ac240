// The words of the page, and what they mean: one word for each thing.

import * as format from "./format.js";

/** Parts of a budget, and what each is. */
export const MONEY = {
  left: "What new tickets can still be given out for: the budget less what is spent, presumed and held. Below 0 if calls cost more than was held for them.",
  spent: "What reports say that calls cost, and what was charged without a ticket.",
  held: "Set aside for tickets whose report has not come yet, at the most that each may cost.",
  presumed: "Set aside for tickets whose report did not come in time. It counts as spent until a report says what the call cost.",
  overrun: "The part of what is spent for which nothing was held: calls cost more than was declared.",
  gain: "The sum of all rewards that were told.",
  earned: "A share of what the best way to spend the same money could have brought, for certain, whenever you look.",
};

/** States of a ticket, in the order of its life. */
export const STATES = {
  held: "a report is expected",
  presumed: "no report came in time: counts as spent at its maximum",
  settled: "the cost is known, the reward is not",
  told: "reported",
  failed: "the call did not work",
  void: "cancelled",
  skipped: "the policy let the round pass",
};

/** Kinds of alarms. */
export const ALARMS = {
  overdrawn: "Overdrawn", overrun: "Overrun", dearer: "Dearer than declared", presumed: "Presumed spent", overdue: "Overdue", conflict: "Conflict", "below-minimum": "Below the minimum",
  "cooling-down": "Cooling down", silent: "No rewards", "outside-range": "Outside the range", storage: "Storage",
  clock: "Clock",
};
const SERIOUS = ["overdrawn", "overrun", "dearer", "conflict", "overdue", "storage", "clock"];
export const isSerious = (kind) => SERIOUS.includes(kind);

/** When a resource runs out at this speed, in few words and in more. */
export function runsOut({ status, period, time_zone: zone }, projection, now) {
  if (status !== "running") return [status === "exhausted" ? "now" : "–", status];
  if (!projection) return ["–", "nothing was spent recently"];
  if (period?.ends_at < projection.at) return ["–", `not before it is renewed, ${format.zoned(period.ends_at, now, zone)}`];
  return [projection.at <= now + 1 ? "now" : `in ${format.duration(projection.at - now)}`, format.moment(projection.at, now)];
}

/** The command after which a campaign in this state goes on. */
export const COMMANDS = { paused: (name) => `purse campaign resume ${name}`, exhausted: (name) => `purse campaign top-up ${name} AMOUNT` };

/** Arms, tickets and the rest, for those who are new. */
export const GLOSSARY = {
  ...MONEY,
  arm: "One of the things that money can be spent on, such as a model.",
  pull: "One use of an arm. Each has a ticket.",
  ticket: "Permission to pull an arm once. The most that it may cost is held until a report says what it brought and cost.",
  reward: "What a pull was worth, as reported.",
};
