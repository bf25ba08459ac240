// The page: which campaign is shown, who reads, and how live it is.

import * as actions from "./actions.js";
import { cooling } from "./cooling.js";
import { el, find } from "./dom.js";
import * as format from "./format.js";
import * as panels from "./panels.js";
import { Live, Refusal, request, token } from "./stream.js";

const SECOND = 1000; // ms after which cool-downs are counted on
const TICK = 5000; // ms after which ages are counted on
const QUIET = 20_000; // ms without news after which rates and forecasts, which fade, are asked for
const LATER = 5000; // ms until the list is asked for again where it is empty or did not come
const WORDS = { connecting: "Connecting", live: "Live", reconnecting: "Reconnecting", off: "Not connected" };
let picture;
let role;
let unlocked = false;
let few = true; // tickets
let taken = 0; // when the picture came, in ms

/** The campaign in the address, after #/. */
function chosen() {
  try {
    return location.hash.startsWith("#/") ? decodeURIComponent(location.hash.slice(2)) : "";
  } catch {
    return "";
  }
}
const mayAct = () => role === "admin" && (unlocked || token.get() !== null);

const live = new Live({
  picture: (facts) => {
    take(facts);
  },
  role: (name) => {
    role = name;
    controls();
  },
  state: connection,
  refused,
});

function connection(state, since) {
  const place = find("connection");
  const words = state === "stale" ? `Stale since ${format.time(since)}, reconnecting` : WORDS[state];
  place.dataset.state = state;
  if (place.textContent !== words) place.textContent = words;
}

function controls() {
  find("unlock").hidden = role !== "admin" || mayAct();
  find("forget").hidden = token.get() === null;
  find("actions").hidden = !mayAct();
}

function take(facts) {
  picture = facts;
  taken = Date.now();
  render();
}

/** The picture, with the server's time of this moment. */
const current = () => ({ ...picture, now: picture.now + (Date.now() - taken) / 1000 });

function render() {
  const seen = current();
  const { status } = picture;
  find("notice").hidden = true;
  find("campaign").hidden = false;
  document.title = `${status.name} · purse`;
  panels.title(seen);
  panels.alarms(seen);
  panels.budgets(seen);
  cooling(seen);
  panels.arms(seen);
  const cancel = (id) => perform(() => actions.voidTicket(status.name, id), `Ticket ${id} is void.`);
  const more = () => {
    few = false;
    render();
  };
  panels.counts(seen);
  panels.tickets(seen, mayAct() ? cancel : null, few ? more : null);
  for (const button of find("actions").querySelectorAll("button")) {
    const wanted = { pause: status.status === "running", resume: status.status === "paused", close: status.status !== "closed", "top-up": status.status !== "closed" };
    button.hidden = !wanted[button.dataset.action];
  }
  find("server-time").textContent = `Server time ${format.time(seen.now)}, journal entry ${format.count(status.entries)}`;
  controls();
  document.documentElement.dataset.entries = status.entries;
}

/** Count ages on while nothing happens. */
async function tick() {
  if (find("connection").dataset.state !== "live" || find("campaign").hidden) return;
  if (Date.now() - taken < QUIET) return render();
  const name = live.name;
  const facts = await request(`campaigns/${encodeURIComponent(name)}/picture`).then((answer) => answer.json()).catch(() => null);
  if (facts && live.name === name) take(facts);
}

async function perform(action, words) {
  if (await action()) find("done").textContent = words;
}

function notice(...content) {
  find("campaign").hidden = true;
  find("notice").hidden = false;
  find("notice").replaceChildren(...content);
}

function refused(refusal) {
  connection("off");
  find("campaign").hidden = true;
  if (refusal.status === 401) askForToken();
  else notice(el("h2", {}, refusal.status === 404 ? "There is no such campaign" : "Not allowed"), el("p", { class: "quiet" }, refusal.message));
}

function askForToken() {
  live.stop();
  find("token-error").textContent = token.get() === null ? "" : "The server does not take this token.";
  token.forget();
  role = undefined;
  unlocked = false;
  controls();
  find("campaign").hidden = find("notice").hidden = true;
  find("token-form").hidden = false;
  find("token").focus();
}

/** Fill the picker; returns the names. */
async function list() {
  const answer = await request("campaigns");
  role = answer.headers.get("X-Purse-Role");
  const names = (await answer.json()).campaigns;
  const picker = find("picker");
  const wanted = names.includes(chosen()) || !chosen() ? names : [...names, chosen()];
  if (wanted.join() !== [...picker.options].map((option) => option.value).join()) picker.replaceChildren(...wanted.map((name) => el("option", { value: name }, name)));
  picker.disabled = wanted.length === 0;
  picker.value = chosen() || names[0];
  return names;
}

async function begin() {
  connection("connecting");
  try {
    const names = await list();
    find("token-form").hidden = true;
    controls();
    if (chosen() || names.length) return show(chosen() || names[0]);
    notice(el("h2", {}, "No campaign yet"), el("p", { class: "quiet" }, "Make one with ", el("code", {}, "purse campaign new"), "; it will show up here."));
    connection("off");
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return askForToken();
    notice(el("h2", {}, "The server does not answer"), el("p", { class: "quiet" }, error.message));
    connection("reconnecting");
  }
  return setTimeout(begin, LATER);
}

function show(name) {
  if (live.name === name) return;
  find("picker").value = name;
  find("done").textContent = "";
  few = true;
  panels.forgetCharts();
  find("campaign").hidden = true;
  live.follow(name);
}

find("picker").addEventListener("change", (event) => { location.hash = `/${encodeURIComponent(event.target.value)}`; });
find("picker").addEventListener("focus", () => list().catch(() => {}));
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address stays the campaign's
  find("main").focus();
});
addEventListener("hashchange", () => chosen() && show(chosen()));
find("unlock").addEventListener("click", () => {
  unlocked = true;
  controls();
  if (picture) render();
  find("actions").querySelector("button:not([hidden])")?.focus();
});
find("forget").addEventListener("click", () => {
  token.forget();
  location.reload();
});
find("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(find("token").value.trim());
  find("token").value = "";
  begin();
});
find("actions").addEventListener("click", (event) => {
  const action = event.target.dataset.action;
  const name = picture.status.name;
  if (action === "top-up") perform(() => actions.topUp(name, picture.status.purses.map((purse) => purse.resource)), "The budget is topped up.");
  else if (action) perform(() => actions.change(name, action), `Done: ${action}.`);
});
setInterval(tick, TICK);
setInterval(() => picture?.status.cooling.length && cooling(current()), SECOND);
begin();
