"use strict";
(() => {
  // A number opens a drawer at the foot of the window: its repeats beside the printed mean and deviation, its
  // tests, and what prints its settings and repeats it.
  const make = (name, text = "") => Object.assign(document.createElement(name), { textContent: text });
  const strip = (repeats, beside) => {
    const [mean, std] = beside;
    const band = mean === undefined ? [] : [mean - (std || 0), mean + (std || 0)];
    const [low, high] = [Math.min(...repeats, ...band), Math.max(...repeats, ...band)];
    const x = (value) => (20 + 400 * (high > low ? (value - low) / (high - low) : 0.5)).toFixed(1);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const add = (name, attributes, text = "") => {
      const part = document.createElementNS(svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
      part.textContent = text;
      svg.append(part);
    };
    svg.setAttribute("viewBox", "0 0 440 58");
    svg.setAttribute("role", "img");
    svg.setAttribute("class", "strip");
    svg.setAttribute("aria-label", repeats.length + " repeats from " + Math.min(...repeats) + " to " + Math.max(...repeats));
    if (band.length) {
      add("rect", { class: "band", x: x(band[0]), y: 2, width: Math.max(2, x(band[1]) - x(band[0])), height: 38 });
      add("path", { class: "second", d: "M" + x(mean) + " 2V40" });
    }
    repeats.forEach((value, at) => add("circle", { class: "first", cx: x(value), cy: 9 + 12 * (at % 3), r: 4 }));
    add("text", { x: 20, y: 54 }, low.toFixed(2));
    add("text", { x: 420, y: 54, "text-anchor": "end" }, high.toFixed(2));
    return svg;
  };
  const drawer = make("dialog");
  drawer.id = "drawer";
  drawer.setAttribute("aria-label", "What stands behind the number");
  let from = null;
  const shut = () => {
    drawer.close();
    if (from) from.focus();
    from = null;
  };
  const openDrawer = (details) => {
    const numbers = (name) => (details.dataset[name] || "").split(" ").filter(Boolean).map(Number);
    const [artefact, variant, method, dataset] = details.dataset.cell.split(":");
    const title = make("h3", [artefact, dataset, method, variant].join(" · "));
    title.tabIndex = -1;
    const button = make("button", "Close");
    button.addEventListener("click", shut);
    const tests = make("p");
    tests.append(...details.lastElementChild.cloneNode(true).childNodes);
    const value = make("p", details.querySelector("summary > span").textContent);
    value.className = "value";
    const badge = details.querySelector("summary .badge");
    if (badge) value.append(" ", badge.cloneNode(true));
    drawer.replaceChildren(title, button, value);
    const [repeats, beside] = [numbers("repeats"), numbers("beside").filter(Number.isFinite)];
    if (repeats.length) {
      drawer.append(strip(repeats, beside));
      const key = repeats.length + (repeats.length > 1 ? " repeats: dots" : " repeat: dot");
      const paper = ["", "; the paper: line", "; the paper: line, ± its standard deviation: band"];
      drawer.append(make("p", key + paper[beside.length]));
    }
    if (tests.textContent) drawer.append(tests);
    const own = make("dl");
    own.append(make("dt", "settings, seconds, records"), make("dd"), make("dt", "run it again"), make("dd"),
      make("dt", "a second run"), make("dd"));
    const typed = (...words) => make("code", words.map((word) => word.includes(" ") ? "'" + word + "'" : word).join(" "));
    own.children[1].append(typed("mercer", "show", details.dataset.cell));
    own.children[3].append(typed("mercer", "reproduce", artefact, "--variant", variant, "--method", method,
      "--dataset", dataset, "--all"));
    const again = Object.assign(make("a", "which trials were run again, and how they came out"), { href: "./verified.html" });
    own.children[5].append(again);
    drawer.append(own);
    if (!drawer.open) drawer.show();
    title.focus();
  };
  if (document.querySelector("[data-cell]")) document.body.append(drawer);
  document.addEventListener("click", (event) => {
    const summary = event.target.closest("[data-cell] > summary");
    if (!summary) return;
    event.preventDefault();
    from = summary;
    openDrawer(summary.parentElement);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && drawer.open) shut();
  });
})();
