// Which page is shown, who reads, and how live it is.

import { create } from "./actions.js";
import * as campaign from "./campaign.js";
import { el, find } from "./dom.js";
import * as format from "./format.js";
import * as overview from "./overview.js";
import { Live, Refusal, token } from "./stream.js";

const SECOND = 1000; // ms after which cool-downs are counted on
const TICK = 5000; // ms after which ages are counted on
const AGAIN = 2000; // ms after which the list is asked for again
const WORDS = { connecting: "Connecting", live: "Live", reconnecting: "Reconnecting", off: "" };
let role;
let unlocked = token.get() !== null;
let server = {}; // version and storage
let heard = Date.now(); // when the list came last
let timer;

/** The campaign in the address, after #/; "" is the list. */
function chosen() {
  try {
    return location.hash.startsWith("#/") ? decodeURIComponent(location.hash.slice(2)) : "";
  } catch {
    return "";
  }
}
const allowed = () => ({ tell: unlocked && ["act", "admin"].includes(role), manage: unlocked && role === "admin" });

const live = new Live({
  picture: (facts) => {
    find("notice").hidden = true;
    campaign.take(facts, allowed());
  },
  role: (name) => {
    role = name;
    controls();
  },
  state: connection,
  refused,
});

function connection(state, since) {
  const node = find("connection");
  const words = state === "stale" ? `Stale since ${format.time(since)}, reconnecting` : WORDS[state];
  node.dataset.state = state;
  if (node.textContent !== words) node.textContent = words;
}

function controls() {
  const mayUnlock = ["act", "admin"].includes(role);
  find("unlock").hidden = !mayUnlock || unlocked;
  find("lock").hidden = !mayUnlock || !unlocked;
  find("forget").hidden = token.get() === null;
  find("create").hidden = !allowed().manage;
  find("mode").textContent = allowed().tell ? "Actions are unlocked in this tab." : "Reads only: nothing here changes a campaign until actions are unlocked.";
}

/** Show one part of the page. */
function page(id) {
  for (const part of ["overview", "campaign", "notice", "token-form"]) find(part).hidden = part !== id;
  find("back").hidden = chosen() === "";
}

function notice(title, text) {
  page("notice");
  find("notice").replaceChildren(el("h2", {}, title), text ? el("p", { class: "quiet" }, text) : "", chosen() ? el("p", {}, el("a", { href: "#/" }, "All campaigns")) : "");
}

function refused(refusal) {
  connection("off");
  if (refusal.status === 401) askForToken();
  else if (refusal.status === 404) notice(`There is no campaign “${chosen()}”`);
  else notice("Not allowed", refusal.message);
}

function askForToken() {
  live.stop();
  clearTimeout(timer);
  find("token-error").textContent = token.get() === null ? "" : "The server does not take this token.";
  token.forget();
  role = undefined;
  unlocked = false;
  controls();
  page("token-form");
  find("token").focus();
}

/** Show the list, again and again while nothing else is shown. */
async function list() {
  clearTimeout(timer);
  if (chosen()) return;
  try {
    const facts = await overview.fetchAll();
    if (chosen()) return;
    server = facts;
    role = facts.role;
    heard = Date.now();
    document.title = "Campaigns · purse";
    page("overview");
    controls();
    if (facts.campaigns.length) overview.draw(facts);
    else overview.empty(facts, allowed().manage);
    find("server-time").textContent = `Server time ${format.time(facts.now)}`;
    connection("live");
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return askForToken();
    if (error instanceof Refusal && error.status === 403) return refused(error);
    if (find("overview").hidden) notice("The server does not answer", error.message);
    connection(Date.now() - heard > 3 * AGAIN ? "stale" : "reconnecting", heard / 1000);
  }
  if (!chosen()) timer = setTimeout(list, AGAIN);
}

/** Show what the address says. */
function show() {
  const name = chosen();
  const span = document.querySelector("[name=range]:checked").value;
  if (name && live.name === name && live.span === span) return;
  const other = live.name !== name;
  if (other) campaign.begin();
  if (!name) {
    live.stop();
    list();
    return;
  }
  clearTimeout(timer);
  find("back").hidden = false;
  if (other) for (const part of ["overview", "notice", "token-form"]) find(part).hidden = true;
  live.follow(name, span);
}

async function begin() {
  connection("connecting");
  if (!server.version) await overview.fetchAll().then((facts) => { server = facts; }).catch(() => {});
  controls();
  find("token-form").hidden = true;
  show();
}

function unlock(yes) {
  unlocked = yes;
  controls();
  if (chosen()) campaign.draw(allowed());
  else list();
  find(yes ? "lock" : "unlock").focus();
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address stays the campaign's
  find("main").focus();
});
addEventListener("hashchange", () => {
  find("main").focus({ preventScroll: true });
  scrollTo(0, 0);
  show();
});
find("range").addEventListener("change", show);
find("search").addEventListener("input", () => overview.draw());
find("unlock").addEventListener("click", () => unlock(true));
find("lock").addEventListener("click", () => unlock(false));
find("forget").addEventListener("click", () => {
  token.forget();
  location.reload();
});
find("create").addEventListener("click", async () => {
  const name = await create();
  if (name) location.hash = `/${encodeURIComponent(name)}`;
});
find("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(find("token").value.trim());
  find("token").value = "";
  unlocked = true;
  begin();
});
campaign.listen(() => server);
setInterval(() => find("connection").dataset.state === "live" && chosen() && campaign.tick(live), TICK);
setInterval(campaign.tock, SECOND);
begin();
