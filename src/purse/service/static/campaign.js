// The page of one campaign.

import * as actions from "./actions.js";
import * as arms from "./arms.js";
import { el, find } from "./dom.js";
import * as format from "./format.js";
import * as labels from "./labels.js";
import * as panels from "./panels.js";
import { request } from "./stream.js";
import * as tickets from "./tickets.js";
import { GLOSSARY } from "./words.js";

const QUIET = 20_000; // ms without news after which rates and forecasts, which fade, are asked for
let picture;
let taken = 0; // when the picture came, in ms
let came = 0; // pictures that have come
let drawn = 0; // the number of the one that is drawn
let chances; // the policy's probabilities, once they were asked for
let server = () => ({});
let may = { tell: false, manage: false };

/** The picture, with the server's time of this moment. */
const current = () => ({ ...picture, now: picture.now + (Date.now() - taken) / 1000 });
const name = () => picture.status.name;

/** Show another campaign, from its first picture on. */
export function begin() {
  picture = chances = undefined;
  drawn = ++came; // what is on its way is of another campaign
  delete document.documentElement.dataset.entries;
  for (const id of ["done", "saved", "foreseen"]) find(id).textContent = "";
  tickets.forget();
  labels.forget();
  arms.forget();
  panels.forgetCharts();
  find("campaign").hidden = true;
}

/** Take a picture of the campaign. */
export async function take(facts, allowed) {
  const number = ++came;
  if (picture && tickets.isSpecial()) await tickets.refresh(facts.status.name);
  if (number < drawn) return; // a newer one came first
  [picture, taken, drawn] = [facts, Date.now(), number];
  draw(allowed);
}

/** Draw the campaign again; `allowed` says what the reader may do. */
export function draw(allowed = may) {
  may = allowed;
  if (!picture) return;
  const view = { ...current(), until: panels.end(current()) };
  const { status } = view;
  document.title = `${status.name} · purse`;
  find("campaign").hidden = false;
  panels.title(view, server().storage);
  panels.alarms(view, look);
  panels.firstAsk(status, server().storage);
  panels.budgets(view);
  panels.value(view);
  arms.cooling(view);
  find("alerts").hidden = !status.alerts.length;
  find("alerts").textContent = `Alerts at ${status.alerts.join(", ")}`;
  arms.draw(view, chances);
  labels.draw(view);
  drawTickets(view);
  const wanted = { pause: ["running", "exhausted"].includes(status.status), resume: status.status === "paused", end: status.status !== "ended", "top-up": status.status !== "ended", expire: status.overdue > 0 };
  for (const button of find("actions").querySelectorAll("button")) button.hidden = !wanted[button.dataset.action];
  find("actions").hidden = !may.manage;
  find("foresee").hidden = !may.tell || status.status === "ended";
  find("server-time").textContent = `Server time ${format.time(view.now)}, journal entry ${format.count(status.entries)}`;
  document.documentElement.dataset.entries = status.entries;
}

function drawTickets(view) {
  const resources = view.status.purses.map((purse) => purse.resource);
  const act = may.tell && {
    tell: (ticket) => perform(() => actions.tell(name(), ticket, resources)),
    reward: (ticket) => perform(() => actions.reward(name(), ticket)),
    cancel: (ticket) => perform(() => actions.voidTicket(name(), ticket)),
  };
  tickets.counts(view, pick);
  tickets.tickets(view, act || null);
}

async function pick(choice) {
  await tickets.choose(name(), choice);
  drawTickets(current());
}

/** Show the tickets that an alarm is about. */
async function look(choice) {
  await pick(choice);
  find("tickets-title").scrollIntoView({ block: "start" });
  find("tickets-title").focus({ preventScroll: true });
}

async function perform(action) {
  const words = await action();
  if (words) find("done").textContent = words;
  if (words && tickets.isSpecial()) await pick({});
}

/** Count ages on while nothing happens; ask for a new picture if rates have faded. */
export async function tick(live) {
  if (!picture) return;
  if (Date.now() - taken < QUIET) return draw();
  const wanted = live.name;
  const facts = await request(`campaigns/${encodeURIComponent(wanted)}/picture?span=${live.span}`).then((answer) => answer.json()).catch(() => null);
  if (facts && live.name === wanted) await take(facts, may);
}

/** Count cool-downs on. */
export const tock = () => picture?.status.cooling.length && arms.cooling(current());

async function foresee() {
  find("foreseen").textContent = "Asking the policy …";
  try {
    chances = await actions.foresee(name());
    find("foreseen").textContent = `Next round, seen at ${format.time(current().now)}`;
  } catch (error) {
    chances = undefined;
    find("foreseen").textContent = error.message;
  }
  draw();
}

async function download() {
  const tell = (words) => { find("saved").textContent = words; };
  try {
    await actions.download(name(), server().version, (entries) => tell(`${format.plural(entries, "entry").replace("entrys", "entries")} …`));
    tell("The journal is downloaded.");
  } catch (error) {
    tell(`The journal was not downloaded: ${error.message}`);
  }
}

/** Listen to the buttons of the page; `facts()` are the server's version and storage. */
export function listen(facts) {
  server = facts;
  find("words").querySelector("dl").append(...Object.entries(GLOSSARY).flatMap(([word, text]) => [el("dt", {}, word), el("dd", {}, text)]));
  find("foresee").addEventListener("click", foresee);
  find("export").addEventListener("click", download);
  find("actions").addEventListener("click", ({ target: { dataset: { action } } }) => {
    if (action === "top-up") perform(() => actions.topUp(name(), picture.status.purses.map((purse) => purse.resource)));
    else if (action === "end") perform(() => actions.end(name()));
    else if (action) perform(() => actions.change(name(), action));
  });
}
