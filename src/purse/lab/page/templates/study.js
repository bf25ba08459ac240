// Draws every panel again so that it answers: pointing shows numbers, and picking policies, or methods, in the legend picks them out everywhere.
(() => {
  const by = document.querySelector(".legend").dataset.by;
  const chosen = new Set();
  const views = [];
  const figures = {};
  for (const script of document.querySelectorAll('script[id^="spec-"]')) figures[script.id.slice(5)] = JSON.parse(script.textContent);

  function alone(figure, axes, index) {
    const { title, ...panel } = structuredClone(figure.concat[index]);
    for (const layer of panel.layer ?? [panel]) for (const [name, channel] of Object.entries(layer.encoding)) {
      if (channel.legend) channel.legend = null;
      if (channel.axis?.title && channel.axis.title === axes[name]) channel.axis = { ...channel.axis, title: null };
    }
    const config = { ...figure.config, background: null, font: getComputedStyle(document.body).fontFamily };
    const shared = { $schema: figure.$schema, params: figure.params, datasets: figure.datasets, ...(figure.data && { data: figure.data }) };
    return { ...panel, ...shared, config, width: "container", autosize: { type: "fit-x", contains: "padding" } };
  }

  async function draw() {
    const look = { renderer: "svg", actions: false, tooltip: { disableDefaultStyle: true, anchor: "mark", position: ["top", "right", "left", "bottom"], offset: 6 } };
    for (const place of document.querySelectorAll(".panel")) {
      const { view } = await vegaEmbed(place, alone(figures[place.dataset.figure], JSON.parse(place.closest(".figure").dataset.axes), Number(place.dataset.index)), look);
      view.addEventListener("click", (_, item) => item?.datum?.[by] && toggle(item.datum[by]));
      views.push(view);
    }
    document.documentElement.dataset.drawn = views.length;
  }

  function show() {
    for (const view of views) view.signal("chosen", [...chosen]).run();
    for (const each of document.querySelectorAll("[data-policy]")) each.classList.toggle("faint", chosen.size > 0 && !chosen.has(each.dataset.policy));
    for (const each of document.querySelectorAll("[data-choose]")) each.setAttribute("aria-pressed", chosen.has(each.dataset.choose));
    document.querySelector(".legend .all").hidden = chosen.size === 0;
  }

  function toggle(name) {
    if (!document.querySelector(`[data-choose="${CSS.escape(name)}"]`)) return;
    if (!chosen.delete(name)) chosen.add(name);
    show();
  }

  async function save(name, kind) {
    const { view, finalize } = await vegaEmbed(document.createElement("div"), figures[name], { renderer: "none", actions: false });
    const url = await view.signal("chosen", [...chosen]).toImageURL(kind, 2);
    const link = Object.assign(document.createElement("a"), { href: url, download: `${name}.${kind}` });
    link.click();
    finalize();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.choose !== undefined) toggle(button.dataset.choose);
    else if (button?.dataset.save) save(button.dataset.save, button.dataset.kind);
    else if (button?.classList.contains("all")) { chosen.clear(); show(); }
  });
  draw();
})();
