// Webhooks: what they are told of, and what waits.

import { find } from "./dom.js";
import * as format from "./format.js";

/** A line about alerts and webhooks; nothing where there are none. */
export function deliveries({ status }) {
  const sum = (name) => status.deliveries.reduce((total, each) => total + each[name], 0);
  const errors = [...new Set(status.deliveries.map(({ error }) => error).filter(Boolean))];
  const hooks = status.deliveries.length
    ? [`${format.plural(status.deliveries.length, "webhook")}: ${format.plural(sum("waiting"), "event")} waiting, ${format.count(sum("delivered"))} delivered${sum("skipped") ? `, ${format.count(sum("skipped"))} given up` : ""}${errors.length ? `, last error ${errors.join(", ")}` : ""}`]
    : status.alerts.length ? ["no webhook is told of them"] : [];
  const rules = status.alerts.length ? [`Alerts at ${status.alerts.join(", ")}`] : [];
  find("deliveries").hidden = !hooks.length && !rules.length;
  find("deliveries").textContent = [...rules, ...hooks].join(" · ");
}
