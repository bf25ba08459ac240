// Numbers, amounts and times as people read them.

const locale = "en-GB";
const plain = new Intl.NumberFormat(locale, { maximumSignificantDigits: 5 });
const short = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
const three = new Intl.NumberFormat(locale, { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat(locale, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const wholePercent = new Intl.NumberFormat(locale, { style: "percent" });
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minute = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" });
const FINE = 7200; // seconds: times within so short a span have seconds

/** A level of an axis. */
export const amount = (value) => (Math.abs(value) >= 1000 ? new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }).format(value) : plain.format(value));
export const number = (value) => (value === null || value === undefined ? "–" : Math.abs(value) >= 1000 ? whole.format(value) : value === 0 ? "0" : three.format(value));
export const count = (value) => whole.format(value);
export const share = (value) => percent.format(value);
export const part = (value) => wholePercent.format(value);
export const time = (seconds) => clock.format(seconds * 1000);
export const plural = (value, what) => `${count(value)} ${what}${value === 1 ? "" : "s"}`;

/** A number of so many decimals. */
export const fixed = (value, decimals) => new Intl.NumberFormat(locale, { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value);

/** A time of day, with the date if it is not today, and with seconds if `fine`. */
export function moment(seconds, now, fine = false) {
  const at = new Date(seconds * 1000);
  const today = new Date(now * 1000);
  const ofDay = fine ? clock : minute;
  if (at.toDateString() === today.toDateString()) return ofDay.format(at);
  return at.getFullYear() === today.getFullYear() ? `${day.format(at)}, ${ofDay.format(at)}` : dayOfYear.format(at);
}

/** A moment as a clock in a time zone shows it. */
export function zoned(seconds, now, zone) {
  try {
    const show = (at, parts) => new Intl.DateTimeFormat(locale, { timeZone: zone, ...parts }).format(at * 1000);
    const [year, date, time] = [{ year: "numeric" }, { day: "numeric", month: "short" }, { hour: "2-digit", minute: "2-digit" }];
    const isSame = (parts) => show(seconds, parts) === show(now, parts);
    return show(seconds, { ...(isSame(year) ? isSame(date) ? {} : date : { ...date, ...year }), ...time });
  } catch {
    return moment(seconds, now); // the server knows a zone that this browser does not
  }
}

/** Whether the times of a span are told to the second. */
export const isFine = (from, to) => to - from <= FINE;

/** A time of day to the second, with the date if it is not today. */
export const exact = (seconds, now) => moment(seconds, now, true);

const SPANS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/** How long, in the two largest units: 2 h 5 min. */
export function duration(seconds) {
  const total = Math.max(0, Math.round(seconds));
  if (total >= 86400 * 1000) return "years";
  const index = SPANS.findIndex(([, length]) => total >= length);
  if (index < 0) return "0 s";
  const [unit, length] = SPANS[index];
  const next = SPANS[index + 1];
  const remainder = next ? Math.floor((total % length) / next[1]) : 0;
  return `${Math.floor(total / length)} ${unit}${remainder ? ` ${remainder} ${next[0]}` : ""}`;
}

/** How long ago, in the largest unit: 2 h ago. */
export const ago = (seconds) => `${duration(seconds).split(" ").slice(0, 2).join(" ")} ago`;

/** A rate in the unit of time in which it is at least a tenth, or per day: 3.2 USD per hour. */
export function rate(perSecond, what) {
  const [unit, length] = [["second", 1], ["minute", 60], ["hour", 3600], ["day", 86400]].find(([name, each]) => perSecond * each >= 0.1 || name === "day");
  return `${short.format(perSecond * length)} ${what} per ${unit}`;
}

/** How often something happens: 3.2 asks/s, or by the minute if it is rare. */
export function often(perSecond, what) {
  const [text, unit] = perSecond >= 1 ? [short.format(perSecond), "s"] : [short.format(perSecond * 60), "min"];
  return `${text} ${what}${text === "1" ? "" : "s"}/${unit}`;
}

/** How to show the numbers of a column: the same decimals, three digits of the largest and two of the smallest, within bounds. */
export function column(values) {
  const sizes = values.map(Math.abs).filter((value) => value > 0).map((value) => Math.floor(Math.log10(value)));
  const decimals = 2 - Math.max(...sizes, -6);
  const places = values.every(Number.isInteger) ? 0 : Math.max(0, Math.min(decimals + 2, Math.max(decimals, 1 - Math.min(...sizes, 2))));
  return (value) => (value === null || value === undefined ? "–" : value === 0 ? "0" : fixed(value, places));
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

/** Times at round steps between two times, at most `limit` of them, with their labels. */
export function timeTicks(from, to, limit) {
  const step = STEPS.find((each) => (to - from) / each <= limit) ?? 31536000 * Math.ceil((to - from) / 31536000 / limit);
  const shift = new Date(from * 1000).getTimezoneOffset() * 60;
  const first = Math.ceil((from - shift) / step) * step + shift;
  const label = step >= 86400 ? day : step >= 60 ? minute : clock;
  const ticks = [];
  for (let at = first; at <= to; at += step) {
    const midnight = step < 86400 && to - from > 86400 && minute.format(at * 1000) === "00:00";
    ticks.push({ at, label: (midnight ? day : label).format(at * 1000) });
  }
  return ticks;
}

/** Round numbers from zero up to a value. */
export function ticks(top, limit) {
  const rough = top / limit || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999999);
  return Array.from({ length: Math.floor((top / step) * 1.000001) + 1 }, (_, index) => index * step);
}
