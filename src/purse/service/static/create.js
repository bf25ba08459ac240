// The form for a new campaign.

import { amountInput, confirmed, labelled, post } from "./dialog.js";
import { el } from "./dom.js";

const HINT = "One on each line: a name and the most that a pull may cost.";

/** {name: amount} of lines such as "small 0.01"; throws what is wrong with a line. */
function armsOf(text) {
  const rows = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return Object.fromEntries(rows.map((line) => {
    const [, name, most] = /^(.+?)[\s=:]+([0-9.]+)$/.exec(line) ?? [];
    if (!name) throw new Error(`"${line}": must be a name and an amount, such as small 0.01`);
    return [name, most];
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
