// What a campaign without asks shows: the code for the first one, and no empty charts.

import { find } from "./dom.js";

const AFTER = ["times", "bought", "ticketed"]; // parts that are there from the first ask on

/** Show the code, or what there is to see after the first ask. */
export function firstAsk({ name, arms, counts, purses }, storage) {
  const isNew = !counts.tickets;
  find("first").hidden = !isNew;
  for (const part of AFTER) find(part).hidden = isNew;
  if (!isNew) return;
  const text = JSON.stringify;
  const cost = purses.length === 1 ? 'cost="0.002"' : `cost={${purses.map(({ resource }) => `${text(resource)}: "0.002"`).join(", ")}}`;
  find("first-code").textContent = `from purse import Campaign

campaign = Campaign.open(${text(name)}, storage=${text(storage?.includes(":") ? storage : location.href.replace(/\/?(#.*)?$/, ""))})
with campaign.spending() as call:
    print(call.arm)  # make the call: ${arms.length > 3 ? `one of ${arms.length} arms` : arms.join(" or ")}
    call.tell(reward=1.0, ${cost})  # what it was worth, and what it cost`;
}
