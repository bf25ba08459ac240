// Amounts of a resource, with as many decimals as each other, so that their sums agree.

import { el } from "./dom.js";

const PLACES = 9; // an amount has at most so many decimals
const PARTS = ["spent", "presumed", "held", "left"];
const locale = "en-GB";

/** Decimal text as a whole number of units. */
export function units(text) {
  const [whole, rest = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole + rest.padEnd(PLACES, "0"));
  return text.startsWith("-") ? -size : size;
}

/** How many decimals amounts are shown with: cents, or three digits of the largest; none if none has any. */
export function decimals(values) {
  const needed = Math.max(0, ...values.map((value) => (value.split(".")[1] ?? "").length));
  const largest = Math.max(1e-9, ...values.map(Number));
  return Math.min(needed && Math.max(2, needed), Math.max(2, 2 - Math.floor(Math.log10(largest))));
}

/** The balances of this period, in which what is presumed counts as spent; without periods they are as they were. */
export const inPeriod = (purses, period) => (period ? purses.map((purse, index) => ({ ...purse, budget: period.budget[index], spent: period.spent[index], held: period.held[index], presumed: "0" })) : purses);

/** The decimals of a budget and its parts. */
export const decimalsOf = (purse) => decimals([...PARTS, "budget", "overrun"].map((name) => purse[name]));

/** Units with so many decimals, rounded. */
function rounded(size, places) {
  if (size < 0n) return -rounded(-size, places);
  const step = 10n ** BigInt(PLACES - places);
  return (size + step / 2n) / step;
}

function text(steps, places) {
  if (steps < 0n) return `−${text(-steps, places)}`;
  const digits = `${steps}`.padStart(places + 1, "0");
  const whole = new Intl.NumberFormat(locale).format(BigInt(digits.slice(0, digits.length - places)));
  return places ? `${whole}.${digits.slice(-places)}` : whole;
}

/** One amount: a small one has three digits, however few the others have. */
export function shown(value, places) {
  const steps = rounded(units(value), places);
  return units(value) > 0n && steps < 10n ? text(rounded(units(value), decimals([value])), decimals([value])) : text(steps, places);
}

/** The cells of a column of amounts: with the same decimals, and all digits on hover. */
export function column(values, places = decimals(values)) {
  return values.map((value) => {
    const steps = rounded(units(value), places);
    const words = steps || !units(value) ? text(steps, places) : `<${text(1n, places)}`;
    return steps * 10n ** BigInt(PLACES - places) === units(value) ? words : el("span", { title: `exactly ${value}` }, words);
  });
}

/** The parts of a budget as text that adds up to it: what rounding leaves over is with the largest. */
export function parts(purse) {
  const places = decimalsOf(purse);
  const exact = Object.fromEntries(PARTS.map((name) => [name, units(purse[name])]));
  const steps = Object.fromEntries(PARTS.map((name) => [name, rounded(exact[name], places)]));
  const largest = PARTS.reduce((best, name) => (exact[name] > exact[best] ? name : best));
  const others = PARTS.filter((name) => name !== largest).reduce((sum, name) => sum + steps[name], 0n);
  steps[largest] = rounded(units(purse.budget), places) - others;
  return {
    places,
    ...Object.fromEntries(PARTS.map((name) => [name, name === largest ? text(steps[name], places) : shown(purse[name], places)])),
    budget: text(rounded(units(purse.budget), places), places),
    overrun: shown(purse.overrun, places),
  };
}
