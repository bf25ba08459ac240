// What an administrator may do here. Each is asked for once more before it is done.

import { el, find } from "./dom.js";
import { request } from "./stream.js";

const WORDS = {
  pause: ["Pause", (name) => `${name} will give out no tickets until it is resumed. Reports are still taken.`],
  resume: ["Resume", (name) => `${name} will give out tickets again, and spend money.`],
  close: ["Close for good", (name) => `${name} will never give out a ticket again. Reports are still taken. This cannot be undone.`],
};

/** A key of its own for each intention, so that sending it twice has one effect. */
const freshKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function post(path, body, key) {
  return request(path, { method: "POST", headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) }, body: JSON.stringify(body) });
}

/** Ask, and do it on yes; a refusal is shown and may be tried again. Resolves to whether it was done. */
function confirmed(title, text, yes, fields, act) {
  const dialog = find("dialog");
  find("dialog-title").textContent = title;
  find("dialog-text").textContent = text;
  find("dialog-yes").textContent = yes;
  find("dialog-error").textContent = "";
  find("dialog-fields").replaceChildren(...fields);
  return new Promise((resolve) => {
    const done = (result) => {
      dialog.querySelector("form").onsubmit = dialog.onclose = null;
      dialog.close();
      resolve(result);
    };
    find("dialog-no").onclick = () => done(false);
    dialog.onclose = () => done(false);
    dialog.querySelector("form").onsubmit = async (event) => {
      event.preventDefault();
      find("dialog-yes").disabled = true;
      find("dialog-error").textContent = "";
      try {
        await act();
        done(true);
      } catch (error) {
        find("dialog-error").textContent = error.message;
      } finally {
        find("dialog-yes").disabled = false;
      }
    };
    dialog.showModal();
  });
}

const at = (name) => `campaigns/${encodeURIComponent(name)}`;

/** Pause, resume or close. */
export function change(name, action) {
  const [yes, text] = WORDS[action];
  return confirmed(`${yes}?`, text(name), yes, [], () => post(`${at(name)}/${action}`, {}));
}

/** Add to the budget. */
export function topUp(name, resources) {
  const key = freshKey();
  const inputs = resources.map((resource) => el("input", { inputmode: "decimal", pattern: "[0-9]+([.][0-9]{1,9})?", required: true, autocomplete: "off", title: "an amount such as 12.50", "data-resource": resource }));
  const fields = inputs.map((input) => el("label", {}, `Amount in ${input.dataset.resource}`, input));
  const amounts = () => Object.fromEntries(inputs.map((input) => [input.dataset.resource, input.value]));
  return confirmed("Top up?", `What is added to the budget of ${name} can be spent at once.`, "Top up", fields, () => post(`${at(name)}/top-ups`, { amount: amounts() }, key));
}

/** Cancel a ticket. */
export function voidTicket(name, id) {
  return confirmed(`Void ticket ${id}?`, "What is held for it is released. If its call was made after all, what it cost will count as overrun.", "Void", [], () => post(`${at(name)}/tickets/${id}/void`, {}));
}
