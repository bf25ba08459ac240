// Tickets: how many are in each state, and those of one state.

import { el, find, replace, swatch, table } from "./dom.js";
import * as format from "./format.js";
import * as money from "./money.js";
import { request } from "./stream.js";
import { STATES } from "./words.js";

const FEW = 12; // tickets shown at first
const MOST = 50; // tickets of a state that are asked for
const OPEN = ["held", "presumed"];
const TO_TELL = [["tell", "Tell"], ["cancel", "Void", "danger"]];
const VERBS = { held: TO_TELL, presumed: TO_TELL, settled: [["reward", "Reward"]] }; // what can be done with a ticket
let choice = {}; // {state}, or {ids, of}; all open ones without
let matches = []; // of the choice
let few = true;

/** Show the open tickets again, a few of them. */
export function forget() {
  [choice, matches, few] = [{}, [], true];
}

/** Choose tickets: of a state, or by number; resolves when they are there. */
export async function choose(name, wanted) {
  [choice, few] = [wanted, true];
  await refresh(name);
}

/** Ask for the chosen tickets again; the open ones come with each picture. */
export async function refresh(name) {
  const current = choice;
  const at = `campaigns/${encodeURIComponent(name)}/tickets`;
  const get = (path) => request(path).then((answer) => answer.json()).catch(() => null);
  let got = [];
  if (current.ids) got = (await Promise.all(current.ids.map((id) => get(`${at}/${id}`)))).filter(Boolean);
  else if (current.state) got = (await get(`${at}?state=${current.state}&limit=${MOST}`))?.tickets ?? [];
  if (current === choice) matches = got;
}

export const isSpecial = () => Boolean(choice.ids || choice.state);

/** How many tickets are in each state, each a button that shows them, and what the money held for them does. */
export function counts({ status: { counts: all } }, pick) {
  const button = (state, text, title) => el("button", { type: "button", class: "chip", "data-state": state, "data-key": `state-${state}`, title, "aria-pressed": `${(choice.state ?? (choice.ids ? "" : "open")) === state}`, onclick: () => pick(state === "open" ? {} : { state }) }, text);
  const open = all.held + all.presumed;
  const chips = [button("open", `open ${format.count(open)}`, "held or presumed"), ...Object.keys(STATES).filter((state) => all[state]).map((state) => button(state, `${state} ${format.count(all[state])}`, STATES[state]))];
  const note = STATES[choice.state] ? el("p", { class: "quiet small" }, `${choice.state}: ${STATES[choice.state]}.`) : "";
  replace(find("counts"), all.tickets ? el("div", { class: "chips", role: "group", "aria-label": "Tickets by state" }, ...chips) : "", note);
}

/** The chosen tickets, a few until the others are wanted; `allowed` has what the reader may do with one. */
export function tickets(view, allowed) {
  const { status, tickets: open, now } = view;
  const listed = isSpecial() ? matches : open;
  const rows = few ? listed.slice(0, FEW) : listed;
  if (!rows.length) return replace(find("tickets"), el("p", { class: "none" }, isSpecial() ? "No such ticket." : "No ticket is open."));
  const due = rows.some(hasDeadline);
  const act = rows.some(({ state }) => state in VERBS) ? allowed : null;
  const purses = status.purses;
  const shown = purses.map((_, index) => money.column(rows.map(({ held }) => held[index])));
  const columns = [{ name: "Ticket" }, { name: "Arm", text: true }, { name: "State", text: true }, { name: "Age" }, ...(due ? [{ name: "Deadline", label: "due" }] : []), ...purses.map(({ resource }) => ({ name: `Held, ${resource}`, label: resource })), ...(act ? [{ name: "Action" }] : [])];
  const lines = rows.map((ticket, number) => ({
    head: `${ticket.id}`,
    cells: [ticket.arm ?? "none", el("span", { class: "state" }, OPEN.includes(ticket.state) ? swatch(ticket.state) : null, ticket.state), format.duration(now - ticket.asked_at), ...(due ? [deadline(ticket, now)] : []), ...shown.map((cells) => cells[number]), ...(act ? [buttons(ticket, act)] : [])],
  }));
  const all = choice.state ? status.counts[choice.state] : choice.ids ? choice.ids.length : status.counts.held + status.counts.presumed;
  const one = `${choice.state ?? "open"} ticket`;
  const what = choice.ids ? `Tickets of the alarm ${choice.of}` : `${one}s`;
  const caption = rows.length < all ? `The oldest ${rows.length} of ${format.count(all)} ${what}` : choice.ids ? what : `${format.plural(all, one)}, the oldest first`;
  const others = listed.length - rows.length;
  const more = () => {
    few = false;
    tickets(view, allowed);
  };
  return replace(find("tickets"), table(caption, columns, lines, { cards: true, compact: true }), others > 0 ? el("button", { type: "button", class: "button", "data-key": "more", onclick: more }, `Show ${others} more`) : "");
}

function buttons(ticket, act) {
  const button = ([verb, word, kind = ""]) => el("button", { type: "button", class: `button small ${kind}`, "data-key": `${verb}-${ticket.id}`, "aria-label": `${word} ticket ${ticket.id}`, onclick: () => act[verb](ticket) }, word);
  return ticket.state in VERBS ? el("span", { class: "buttons" }, ...VERBS[ticket.state].map(button)) : "";
}

const hasDeadline = ({ deadline: until, state }) => until !== null && ["held", "settled"].includes(state);

function deadline(ticket, now) {
  if (!hasDeadline(ticket)) return "–";
  const until = ticket.deadline;
  if (until > now) return `in ${format.duration(until - now)}`;
  return el("span", { class: "late" }, `${format.duration(now - until)} ago`);
}
