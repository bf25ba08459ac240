// What those who may act do here. Each is asked for once more before it is done.

import { amountInput, confirmed, freshKey, labelled, post } from "./dialog.js";
import { el } from "./dom.js";
import { request } from "./stream.js";

const WORDS = {
  pause: ["Pause", (name) => `${name} will give out no tickets until it is resumed. Reports are still taken.`, "Paused."],
  resume: ["Resume", (name) => `${name} will give out tickets again, and spend money.`, "Running again."],
  expire: ["Expire overdue tickets", () => "Tickets past their deadline expire now, as they do at the next ask: what is held for them counts as spent until somebody tells what they cost.", "The overdue tickets have expired."],
};
const at = (name) => `campaigns/${encodeURIComponent(name)}`;

/** Pause, resume or expire; resolves to what to say, or false. */
export async function change(name, action) {
  const [yes, text, done] = WORDS[action];
  return (await confirmed({ title: `${yes}?`, text: text(name), yes }, () => post(`${at(name)}/${action}`, {}))) && done;
}

/** End for good, once the name is typed. */
export async function end(name) {
  const input = el("input", { autocomplete: "off", spellcheck: "false", required: true });
  const question = {
    title: "End for good?", text: `${name} will never give out a ticket again. Reports are still taken. This cannot be undone.`, yes: "End for good", final: true,
    fields: [labelled(`Type ${name} to confirm`, input)], ready: () => input.value === name,
  };
  return (await confirmed(question, () => post(`${at(name)}/end`, {}))) && "Ended for good.";
}

/** Add to the budget. */
export async function topUp(name, resources) {
  const key = freshKey();
  const inputs = resources.map((resource) => amountInput({ "data-resource": resource }));
  const fields = inputs.map((input) => labelled(`Amount in ${input.dataset.resource}`, input));
  const amounts = () => Object.fromEntries(inputs.map((input) => [input.dataset.resource, input.value]));
  const question = { title: "Top up?", text: `What is added to the budget of ${name} can be spent at once, and not be taken back.`, yes: "Top up", fields };
  return (await confirmed(question, () => post(`${at(name)}/top-ups`, { amount: amounts() }, key))) && "The budget is topped up.";
}

/** Cancel a ticket. */
export async function voidTicket(name, { id }) {
  const question = { title: `Void ticket ${id}?`, text: "What is held for it is free again. If its call was made after all, what it cost will count as overrun. This cannot be undone.", yes: "Void", final: true };
  return (await confirmed(question, () => post(`${at(name)}/tickets/${id}/void`, {}))) && `Ticket ${id} is void.`;
}

const rewardInput = () => el("input", { inputmode: "decimal", pattern: "-?[0-9]*[.]?[0-9]+(e-?[0-9]+)?", required: true, autocomplete: "off", title: "a number such as 0.9" });

/** Tell what a ticket brought and cost. */
export async function tell(name, { id, arm }, resources) {
  const reward = rewardInput();
  const costs = resources.map((resource) => [resource, amountInput()]);
  const fields = [labelled("Reward", reward), ...costs.map(([resource, input]) => labelled(`Cost in ${resource}`, input))];
  const cost = () => (costs.length === 1 ? costs[0][1].value : Object.fromEntries(costs.map(([resource, input]) => [resource, input.value])));
  const question = { title: `Tell ticket ${id}`, text: `What did ${arm} bring and cost? The first report of a ticket stands; it cannot be changed.`, yes: "Tell", fields };
  return (await confirmed(question, () => post(`${at(name)}/tickets/${id}/tell`, { reward: Number(reward.value), cost: cost() }))) && `Ticket ${id} is told.`;
}

/** Tell what a ticket brought whose cost is known. */
export async function reward(name, { id, arm }) {
  const input = rewardInput();
  const question = { title: `Reward of ticket ${id}`, text: `What did ${arm} bring? It cannot be changed.`, yes: "Tell", fields: [labelled("Reward", input)] };
  return (await confirmed(question, () => post(`${at(name)}/tickets/${id}/reward`, { reward: Number(input.value) }))) && `Ticket ${id} is told.`;
}

/** The policy's probabilities for the next round. */
export const foresee = (name) => post(`${at(name)}/probabilities`, {}).then((answer) => answer.json()).then((facts) => facts.probabilities);

/** Save the journal as a file that `purse campaign restore` reads; `told(entries)` hears how far it is. */
export async function download(name, version, told) {
  const parts = [`${JSON.stringify({ purse: version, format: 2, campaign: name })}\n`];
  for (let after = 0; ;) {
    const text = await request(`${at(name)}/journal?after=${after}&limit=10000`).then((answer) => answer.text());
    if (!text) break;
    parts.push(text);
    after = JSON.parse(text.slice(text.lastIndexOf("\n", text.length - 2) + 1)).seq;
    told(after);
  }
  const link = el("a", { href: URL.createObjectURL(new Blob(parts, { type: "application/x-ndjson" })), download: `${name}.jsonl` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
