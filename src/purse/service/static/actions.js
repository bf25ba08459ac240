// What those who may act do here: questions before something is done, and requests that change a campaign.

import { el, find } from "./dom.js";
import { request } from "./stream.js";

/** A key of its own for each intention, so that sending it twice has one effect. */
const freshKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function post(path, body, key) {
  return request(path, { method: "POST", headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) }, body: JSON.stringify(body) });
}

/** An input for a decimal amount. */
const amountInput = (more = {}) => el("input", { inputmode: "decimal", pattern: "[0-9]+([.][0-9]{1,9})?", required: true, autocomplete: "off", title: "an amount such as 12.50", ...more });

/** A field with its label, and a hint under it. */
const labelled = (text, input, hint) => el("label", {}, text, input, hint ? el("small", {}, hint) : null);

/** Ask, and do it on yes; a refusal is shown and may be tried again. `final` is for what cannot be undone. Resolves to whether it was done. */
function confirmed({ title, text, yes, fields = [], final = false, ready = () => true }, act) {
  const dialog = find("dialog");
  const form = dialog.querySelector("form");
  const button = find("dialog-yes");
  find("dialog-title").textContent = title;
  find("dialog-text").textContent = text;
  find("dialog-error").textContent = "";
  find("dialog-fields").replaceChildren(...fields);
  button.textContent = yes;
  button.className = final ? "button final" : "button primary";
  return new Promise((resolve) => {
    const check = () => { button.disabled = !ready(); };
    const done = (result) => {
      form.onsubmit = form.oninput = dialog.onclose = null;
      button.disabled = false;
      dialog.close();
      resolve(result);
    };
    find("dialog-no").onclick = () => done(false);
    dialog.onclose = () => done(false);
    form.oninput = check;
    form.onsubmit = async (event) => {
      event.preventDefault();
      button.disabled = true;
      find("dialog-error").textContent = "";
      try {
        await act();
        done(true);
      } catch (error) {
        find("dialog-error").textContent = error.message;
        check();
      }
    };
    check();
    dialog.showModal();
  });
}

const WORDS = {
  pause: ["Pause", (name) => `${name} will give out no tickets until it is resumed. Reports are still taken.`, "Paused."],
  resume: ["Resume", (name) => `${name} will give out tickets again, and spend money.`, "Running again."],
  expire: ["Expire overdue tickets", () => "Tickets past their deadline expire now, as they do at the next ask: what is held for them counts as spent until a report says what they cost.", "The overdue tickets have expired."],
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
  const question = { title: `Void ticket ${id}?`, text: "What is held for it is free again. If its call was made after all, what it cost is spent all the same. This cannot be undone.", yes: "Void", final: true };
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

/** Save the journal as a file that `purse campaign restore` reads; `progress(entries)` hears how far it is. */
export async function download(name, version, progress) {
  const parts = [`${JSON.stringify({ purse: version, format: 2, campaign: name })}\n`];
  for (let after = 0; ;) {
    const text = await request(`${at(name)}/journal?after=${after}&limit=10000`).then((answer) => answer.text());
    if (!text) break;
    parts.push(text);
    after = JSON.parse(text.slice(text.lastIndexOf("\n", text.length - 2) + 1)).seq;
    progress(after);
  }
  const link = el("a", { href: URL.createObjectURL(new Blob(parts, { type: "application/x-ndjson" })), download: `${name}.jsonl` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const HINT = "One on each line: a name and the most that a pull may cost.";

/** {name: amount} of lines such as "small 0.01"; throws what is wrong with a line. */
function armsOf(text) {
  const rows = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return Object.fromEntries(rows.map((line) => {
    const [, name, cost] = /^(.+?)[\s=:]+([0-9.]+)$/.exec(line) ?? [];
    if (!name) throw new Error(`"${line}": must be a name and an amount, such as small 0.01`);
    return [name, cost];
  }));
}

/** Create a campaign; resolves to its name, or false. */
export async function create() {
  const text = (more) => el("input", { autocomplete: "off", spellcheck: "false", ...more });
  const name = text({ required: true });
  const resource = text({ required: true, value: "USD" });
  const [budget, least] = [amountInput(), amountInput()];
  const arms = el("textarea", { rows: 4, required: true, spellcheck: "false", placeholder: "small 0.01\nlarge 0.05" });
  const policy = text({ placeholder: "the default" });
  const horizon = text({ inputmode: "numeric", pattern: "[0-9]+", placeholder: "no limit" });
  const account = text({ placeholder: "none" });
  const fields = [
    labelled("Name", name), labelled("What is spent", resource), labelled("Budget", budget), labelled("Arms", arms, HINT),
    labelled("The least that a pull costs", least), labelled("Policy", policy), labelled("Rounds", horizon),
    labelled("Account", account, "The account above it, whose budget its money comes from, too."),
  ];
  const body = () => ({
    name: name.value, resources: [resource.value], budget: budget.value, arms: armsOf(arms.value), cost_min: least.value,
    ...(policy.value && { policy: policy.value }), ...(horizon.value && { horizon: Number(horizon.value) }), ...(account.value && { account: account.value }),
  });
  const question = { title: "New campaign", text: "Its budget, costs and policy stay as they are. The budget can be topped up.", yes: "Create", fields };
  return (await confirmed(question, () => post("campaigns", body()))) && name.value;
}
