// Amounts of a resource, with as many decimals as each other, so that their sums agree.

const PLACES = 9; // an amount has at most so many decimals
const PARTS = ["spent", "presumed", "held", "left"];
const locale = "en-GB";

/** Decimal text as a whole number of units. */
export function units(text) {
  const [whole, rest = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole + rest.padEnd(PLACES, "0"));
  return text.startsWith("-") ? -size : size;
}

/** How many decimals the amounts of a resource are shown with: as many as they need, and about six digits in all. */
export function decimals(purse) {
  const needed = Math.max(...[...PARTS, "budget", "overrun"].map((name) => (purse[name].split(".")[1] ?? "").length));
  return Math.min(needed && Math.max(2, needed), Math.max(2, 6 - purse.budget.split(".")[0].replace(/^0$/, "").length));
}

/** Units with so many decimals, rounded. */
function rounded(size, places) {
  const step = 10n ** BigInt(PLACES - places);
  return (size + step / 2n) / step;
}

function text(steps, places) {
  const digits = `${steps}`.padStart(places + 1, "0");
  const whole = new Intl.NumberFormat(locale).format(BigInt(digits.slice(0, digits.length - places)));
  return places ? `${whole}.${digits.slice(-places)}` : whole;
}

/** One amount of a resource. */
export const shown = (value, places) => text(rounded(units(value), places), places);

/** The sum of several. */
export const sum = (values, places) => text(rounded(values.reduce((all, value) => all + units(value), 0n), places), places);

/** The parts of a budget as text that adds up to it: what rounding leaves over is with the largest. */
export function parts(purse) {
  const places = decimals(purse);
  const exact = Object.fromEntries(PARTS.map((name) => [name, units(purse[name])]));
  const made = Object.fromEntries(PARTS.map((name) => [name, rounded(exact[name], places)]));
  const largest = PARTS.reduce((best, name) => (exact[name] > exact[best] ? name : best));
  const others = PARTS.filter((name) => name !== largest).reduce((sum, name) => sum + made[name], 0n);
  made[largest] = rounded(units(purse.budget), places) - others;
  const overrun = rounded(units(purse.overrun), places);
  return {
    places,
    ...Object.fromEntries(PARTS.map((name) => [name, text(made[name], places)])),
    budget: text(rounded(units(purse.budget), places), places),
    overrun: text(overrun, places),
    paid: text(made.spent + overrun, places),
  };
}
