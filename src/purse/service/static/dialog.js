// Questions before something is done, and requests that change a campaign.

import { el, find } from "./dom.js";
import { request } from "./stream.js";

/** A key of its own for each intention, so that sending it twice has one effect. */
export const freshKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export function post(path, body, key) {
  return request(path, { method: "POST", headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) }, body: JSON.stringify(body) });
}

/** An input for a decimal amount. */
export const amountInput = (more = {}) => el("input", { inputmode: "decimal", pattern: "[0-9]+([.][0-9]{1,9})?", required: true, autocomplete: "off", title: "an amount such as 12.50", ...more });

/** A field with its label, and a hint under it. */
export const labelled = (text, input, hint) => el("label", {}, text, input, hint ? el("small", {}, hint) : null);

/** Ask, and do it on yes; a refusal is shown and may be tried again. `final` is for what cannot be undone. Resolves to whether it was done. */
export function confirmed({ title, text, yes, fields = [], final = false, ready = () => true }, act) {
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
