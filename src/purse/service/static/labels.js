// Labels of asks: the values of a key on which most was spent.

import { el, find, replace, table } from "./dom.js";
import * as format from "./format.js";
import * as money from "./money.js";
import { request } from "./stream.js";

const FEW = 10; // values shown at first
const MANY = 100; // values that are asked for
const WORDS = { held: "Held", presumed: "Presumed", left: "Left of its limit" };
const AGAIN = 5000; // ms after which sums that may have changed are asked for again
let rows = [];
let query = { entries: 0, at: 0 }; // what the rows are of, and when they were asked for
let latest; // the newest picture: it may come while sums are on their way
let later; // the timer of what will be asked for again
let key; // the one that is shown
let few = true;

/** Show another campaign. */
export function forget() {
  clearTimeout(later);
  find("spender").textContent = "";
  [rows, query, latest, key, few] = [[], { entries: 0, at: 0 }, undefined, undefined, true];
}

/** Draw the sums; if the journal has grown, ask for newer ones, now or in a moment. */
export function draw(picture) {
  latest = picture;
  const { entries, labels } = latest.status;
  find("labelled").hidden = !labels.length;
  if (!labels.length) return;
  if (!labels.includes(key)) [key] = labels;
  show();
  if (query.entries === entries) return;
  clearTimeout(later);
  later = setTimeout(ask, Math.max(0, query.at + AGAIN - Date.now()));
}

async function ask() {
  const wanted = (query = { entries: latest.status.entries, at: Date.now() });
  const got = await request(`campaigns/${encodeURIComponent(latest.status.name)}/labels?key=${encodeURIComponent(key)}&limit=${MANY}`).then((answer) => answer.json()).catch(() => null);
  if (wanted !== query) return;
  if (got) {
    rows = got.labels;
    show();
  } else {
    query.entries = 0; // as if it had not been asked
    draw(latest);
  }
}

function show() {
  const { purses, labels } = latest.status;
  const choose = (wanted) => {
    if (wanted === key) return;
    clearTimeout(later);
    [key, few, rows] = [wanted, true, []];
    show();
    ask();
  };
  const showAll = () => {
    few = false;
    show();
  };
  const chips = labels.map((each) => el("button", { type: "button", class: "chip", "data-key": `key-${each}`, "aria-pressed": `${each === key}`, onclick: () => choose(each) }, each));
  replace(find("label-keys"), labels.length > 1 ? el("div", { class: "chips", role: "group", "aria-label": "Keys of labels" }, ...chips) : "");
  const listed = few ? rows.slice(0, FEW) : rows;
  const all = Number(purses[0].spent);
  const limit = latest.status.limits[key];
  const parts = ["held", ...(rows.some((row) => row.presumed.some(Number)) ? ["presumed"] : []), ...(limit ? ["left"] : [])];
  const columns = [{ name: key }, { name: "Tickets" }, ...columnsOf("Spent", purses), { name: "Share of all spent", label: "Share" }, ...parts.flatMap((part) => columnsOf(WORDS[part], purses))];
  const columnsOfAmounts = (of) => purses.map((_, index) => money.column(listed.map((row) => of(row, index))));
  const spent = columnsOfAmounts((row, index) => row.spent[index]);
  const apart = parts.flatMap((part) => columnsOfAmounts((row, index) => row[part][index]));
  const lines = listed.map((row, number) => ({
    head: row.value,
    cells: [format.count(row.tickets), ...spent.map((cells, index) => total(row, index, cells[number])), all ? format.share(Number(row.spent[0]) / all) : "–", ...apart.map((cells) => cells[number])],
  }));
  const caption = rows.length < MANY ? `${format.plural(rows.length, "value")} of ${key}, those that spent most first` : `The ${MANY} values of ${key} that spent most`;
  const each = limit ? `; the limit of each is ${limit.map((units, index) => `${units} ${purses[index].resource}`).join(", ")}` : "";
  const [first] = rows;
  find("spender").textContent = first && all ? `Most was spent on ${key} ${first.value}: ${format.share(Number(first.spent[0]) / all)}` : "";
  const others = rows.length - listed.length;
  replace(find("labels"), rows.length ? table(caption + each, columns, lines, { cards: true }) : el("p", { class: "none" }, "Asking for the sums …"), others > 0 ? el("button", { type: "button", class: "button", "data-key": "more-labels", onclick: showAll }, `Show ${others} more`) : "");
}

const columnsOf = (word, purses) => purses.map(({ resource }) => ({ name: `${word}, ${resource}` }));

/** What was spent; if some of it was above what was held, how much, on hover. */
function total({ overrun }, index, words) {
  return overrun[index] === "0" ? words : el("span", { title: `${overrun[index]} of it above what was held` }, words);
}
