// Elements, made in one call.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const el = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);
export const find = (id) => document.getElementById(id);

/** A square in a series' colour; what is presumed is hatched as well. */
export const swatch = (name) =>
  svg("svg", { class: "swatch", viewBox: "0 0 12 12", "aria-hidden": "true" },
    svg("rect", { class: name, width: 12, height: 12, rx: 3 }),
    name === "presumed" && svg("path", { class: "hatch", d: "M-2 8L8 -2M2 12L12 2M6 16L16 6" }));

/** A table; a column is {name, label, text, wide}, where `label` names it on a card; a row is {head, cells}. Rows turn into cards on narrow screens. */
export function table(caption, columns, rows, { cards = false, compact = false, hidden = false } = {}) {
  const head = columns.map(({ name, text }) => el("th", { scope: "col", role: "columnheader", class: text ? "text" : null }, name));
  const body = rows.map(({ head: first, cells }) =>
    el("tr", { role: "row" }, el("th", { scope: "row", role: "rowheader" }, first),
      ...cells.map((cell, index) => {
        const { name, label = name, text, wide } = columns[index + 1];
        return el("td", { role: "cell", "data-label": label, class: [text && "text", wide && "wide"].filter(Boolean).join(" ") || null }, cell);
      })));
  return el("table", { role: "table", class: [cards && "cards", compact && "compact"].filter(Boolean).join(" ") || null },
    el("caption", { class: hidden ? "seen-not" : null }, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head)),
    el("tbody", { role: "rowgroup" }, ...body));
}

const pressed = new Map(); // nodes in which a button is held down, and what they will hold then

addEventListener("pointerup", () => setTimeout(() => pressed.forEach((content, node) => replace(node, ...content))));

/** Put new content into a node; what had the focus, by its data-key, has it again. A button that is held down stays until it is let go: it would lose its click. */
export function replace(node, ...content) {
  pressed.delete(node);
  if (node.querySelector("button:active")) {
    pressed.set(node, content);
    return;
  }
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  node.replaceChildren(...content);
  if (key !== undefined) node.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}
