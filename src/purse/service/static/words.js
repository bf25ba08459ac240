// The words of the page, and what they mean: one word for each thing.

/** Parts of a budget, and what each is. */
export const MONEY = {
  left: "What new tickets can still be given out for: the budget less what is spent, presumed and held.",
  spent: "What reports say that calls cost, as far as it was held for them.",
  held: "Set aside for tickets whose report has not come yet, at the most that each may cost.",
  presumed: "Set aside for tickets whose report did not come in time. It counts as spent until somebody tells what the call cost.",
  overrun: "What calls cost above the most that was declared for them. It was paid on top of the budget.",
  gain: "The sum of all rewards that were told.",
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
  overrun: "Overrun", presumed: "Presumed spent", overdue: "Overdue", conflict: "Conflict", "below-minimum": "Below the minimum", exhausted: "Exhausted",
  "cooling-down": "Cooling down", silent: "No rewards", "outside-range": "Outside the range", storage: "Storage",
  clock: "Clock",
};
const SERIOUS = ["overrun", "exhausted", "conflict", "overdue", "storage", "clock"];
export const isSerious = (kind) => SERIOUS.includes(kind);

/** The state of a campaign in one word: one that runs and has no money left for any arm is exhausted. */
export const standing = ({ status, alarms }) => (status === "running" && alarms.some(({ kind }) => kind === "exhausted") ? "exhausted" : status);

/** What a campaign in this state does, and how it is changed; `command` is one for a terminal. */
export const HOW = {
  paused: (name) => [`Paused: no tickets are given out, and reports are taken. To go on, unlock actions and press Resume, or run `, `purse campaign resume ${name}`],
  exhausted: (name) => ["Exhausted: what is left covers no arm, so every ask is refused. To go on, unlock actions and press Top up, or run ", `purse campaign top-up ${name} AMOUNT`],
  ended: () => ["Ended for good: no tickets are given out any more, and reports are still taken."],
};

/** Arms, tickets and the rest, for those who are new. */
export const GLOSSARY = {
  ...MONEY,
  arm: "One of the things that money can be spent on, such as a model.",
  pull: "One use of an arm. Each has a ticket.",
  ticket: "Permission to pull an arm once. The most that it may cost is held until somebody tells what it brought and cost.",
  reward: "What a pull was worth, as reported.",
};
