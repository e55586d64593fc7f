"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const root = document.documentElement;

  // Themes: the system's, light, dark. Storage may be refused to a page opened from a disk.
  const themes = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  const setTheme = (name) => {
    root.dataset.theme = name;
    button.textContent = "Theme: " + name;
  };
  button.addEventListener("click", () => {
    const name = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    setTheme(name);
    try { localStorage.setItem("theme", name); } catch {}
  });
  try {
    const kept = localStorage.getItem("theme");
    if (themes.includes(kept)) setTheme(kept);
  } catch {}

  // Sorting keeps rows in their section, puts cells without a number last in both directions, and
  // remembers the order in which the rows were written.
  const bodyRows = (body) => all(":scope > tr:not(.section)", body);
  const variantOf = (row) => row.cells[0].textContent.trim();
  const written = new Map();
  const sortTable = (table, column, direction) => {
    all(".heads th", table).forEach((head, j) =>
      head.setAttribute("aria-sort", j === column ? direction : "none"));
    const sign = direction === "descending" ? -1 : 1;
    const cells = (row) => row.children[column];
    const numeric = all("tbody > tr:not(.section)", table).some((row) => cells(row).dataset.sort !== undefined);
    const key = (row) => numeric ? cells(row).dataset.sort : cells(row).textContent.trim();
    const compare = (a, b) => {
      const [x, y] = [a && key(a), b && key(b)];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      if (!numeric) return sign * x.localeCompare(y, "en", { numeric: true });
      return sign * (Number(x) - Number(y));
    };
    if (!written.has(table)) written.set(table, [...table.tBodies]);
    const bodies = [...written.get(table)];
    // Where a variant stands beside printed rows, its sections are sorted, each by the variant's row.
    if (table.closest("figure").dataset.variant) {
      const own = (body) => bodyRows(body).find((row) => !row.hidden && variantOf(row) !== "published");
      if (direction !== "none") bodies.sort((a, b) => compare(own(a), own(b)));
      table.append(...bodies);
      return;
    }
    for (const body of bodies) {
      if (!written.has(body)) written.set(body, bodyRows(body));
      const rows = [...written.get(body)];
      if (direction !== "none") rows.sort(compare);
      body.append(...rows);
    }
  };
  const next = { none: "ascending", ascending: "descending", descending: "none" };
  for (const table of all("figure.table table")) {
    all(".heads th", table).forEach((head, column) => {
      head.setAttribute("aria-sort", "none");
      head.querySelector("button").addEventListener("click", () =>
        sortTable(table, column, next[head.getAttribute("aria-sort")]));
    });
  }

  // On the first page: places with every word, those with most in their title first, then the guide. Their list is fetched once.
  const search = document.getElementById("search");
  if (search) {
    const found = document.getElementById("found");
    const show = () => {
      const plain = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
      const words = plain(search.value).split(/\s+/).filter(Boolean);
      // Words begin as those that were typed.
      const has = (text) => (word) => (" " + plain(text).replace(/[^\p{L}\p{N}-]+/gu, " ")).includes(" " + word);
      const rank = ([title]) => words.filter(has(title)).length + title.startsWith("Guide") / 2;
      const places = words.length && globalThis.PLACES ? PLACES : [];
      const link = ([title, address]) => {
        const item = document.createElement("li");
        item.append(Object.assign(document.createElement("a"), { href: address, textContent: title }));
        return item;
      };
      const fit = places.filter(([title, , text]) => words.every(has(title + " " + text)));
      fit.sort((a, b) => rank(b) - rank(a));
      found.replaceChildren(...fit.slice(0, 12).map(link));
      if (fit.length > 12) found.append((fit.length - 12) + " more: add a word");
      if (places.length && !fit.length) found.textContent = "Nothing has all these words.";
      found.hidden = !places.length;
    };
    search.parentElement.hidden = false;
    search.addEventListener("focus", () => {
      document.head.append(Object.assign(document.createElement("script"), { src: "search.js", onload: show }));
    }, { once: true });
    search.addEventListener("input", show);
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") found.querySelector("a")?.click();
    });
  }

  // The filter keeps rows of tables and findings that contain every word; tables that are left
  // empty go too.
  const box = document.getElementById("filter");
  const count = document.getElementById("count");
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (element, more = "") => {
      const text = (element.textContent + " " + more).toLowerCase();
      return words.every((word) => text.includes(word));
    };
    let [shown, total] = [0, 0];
    for (const figure of all("figure.table")) {
      let kept = 0;
      const variant = figure.dataset.variant || "";
      for (const body of all("tbody", figure)) {
        const section = body.querySelector(".section");
        let here = 0;
        for (const row of bodyRows(body)) {
          row.hidden = !fits(row, section ? section.textContent : "")
            || (variant !== "" && ![variant, "published"].includes(variantOf(row)));
          here += !row.hidden;
          total += 1;
        }
        if (section) section.hidden = here === 0;
        kept += here;
      }
      figure.hidden = words.length > 0 && kept === 0;
      shown += kept;
    }
    const findings = all("details.finding");
    for (const finding of findings) finding.hidden = !fits(finding);
    for (const section of all("section")) {
      const own = all("details.finding", section);
      section.hidden = own.length > 0 && own.every((one) => one.hidden);
    }
    const kept = findings.filter((one) => !one.hidden).length;
    const found = total ? shown + " of " + total + " rows" : kept + " of " + findings.length;
    count.textContent = words.length ? found : "";
  };
  if (box) box.addEventListener("input", filter);

  // A table that fits is read with the page; a wider one scrolls in a box, its head in sight. Once a frame, however much
  // unfolds at once; and all are changed, then all measured, so that the page is not laid out anew for each.
  let due;
  const fit = () => {
    cancelAnimationFrame(due);
    due = requestAnimationFrame(() => {
      const boxes = all("figure.table .scroll");
      const wide = (some) => some.filter((own) => own.scrollWidth > own.clientWidth);
      boxes.forEach((own) => own.classList.remove("whole", "tight"));
      const out = wide(boxes);
      out.forEach((own) => own.classList.add("tight"));
      const far = wide(out);
      boxes.forEach((own) => own.classList.toggle("whole", !far.includes(own)));
    });
  };

  // Columns that the shown rows leave empty go, so that the others need no scrolling.
  const dropEmpty = (figure) => {
    const rows = all("tbody > tr:not(.section)", figure).filter((row) => !row.hidden);
    const heads = all(".heads th", figure);
    heads.forEach((head, j) => {
      const empty = j > 0 && rows.every((row) => !row.cells[j].textContent);
      head.hidden = empty;
      for (const row of all("tbody > tr:not(.section)", figure)) row.cells[j].hidden = empty;
    });
    let at = 0;
    for (const group of all(".groups > *", figure)) {
      group.dataset.of = group.dataset.of || group.colSpan;
      const own = heads.slice(at, at += Number(group.dataset.of)).filter((head) => !head.hidden);
      group.hidden = own.length === 0;
      group.colSpan = own.length || 1;
    }
  };

  // Beside printed rows stands one variant at a time, the first one to begin with.
  for (const figure of all("figure.table")) {
    if (figure.querySelector(".heads button")?.textContent !== "Variant") continue;
    const names = [...new Set(all("tbody > tr:not(.section)", figure).map(variantOf))];
    const usual = ["tuned", "released", "printed"];
    const place = (name) => -usual.indexOf(name);
    const written = names.filter((name) => name && name !== "published");
    const own = [...written].sort((a, b) => place(a) - place(b));
    if (!names.includes("published") || own.length < 2) continue;
    const group = document.createElement("div");
    group.className = "variants";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Variant");
    const choose = (name) => {
      figure.dataset.variant = name === "all" ? "" : name;
      for (const one of group.children) one.setAttribute("aria-pressed", one.value === name);
      filter();
      dropEmpty(figure);
      fit();
    };
    const words = { printed: "printed: the paper's settings", released: "released: the authors' code" };
    for (const name of [...own, "all"]) {
      const one = document.createElement("button");
      one.textContent = words[name] || name;
      one.value = name;
      one.addEventListener("click", () => choose(name));
      group.append(one);
    }
    figure.querySelector("figcaption").after(group);
    // The variant with most numbers that agree stands first; of equal ones the paper's own settings.
    const agreeing = (name) => all("tbody > tr:not(.section)", figure)
      .filter((row) => variantOf(row) === name)
      .reduce((sum, row) => sum + row.querySelectorAll(".badge.good").length, 0);
    choose(own.reduce((best, name) => agreeing(name) > agreeing(best) ? name : best));
  }

  // Each table and figure shows its address when pointed at.
  for (const own of all("figure[id]")) {
    const here = Object.assign(document.createElement("a"), { className: "here", href: "#" + own.id, textContent: "¶" });
    own.querySelector("h3")?.append(" ", here);
  }

  // An address opens what it points into, or sets sort, filter and theme.
  const follow = () => {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (hash.includes("=")) {
      const wanted = new URLSearchParams(hash);
      if (themes.includes(wanted.get("theme"))) setTheme(wanted.get("theme"));
      const [id, column, direction] = (wanted.get("sort") || "").split(":");
      const figure = id && document.getElementById(id);
      const table = figure && figure.querySelector("table");
      if (table && Number(column) < all(".heads th", table).length) {
        sortTable(table, Number(column), direction in next ? direction : "ascending");
      }
      if (box && wanted.has("filter")) {
        box.value = wanted.get("filter");
        filter();
      }
      return;
    }
    let element = hash && document.getElementById(hash);
    for (let at = element; at; at = at.parentElement) {
      at.hidden = false;
      if (at.tagName === "DETAILS") at.open = true;
    }
    if (element) element.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();

  addEventListener("resize", fit);
  addEventListener("toggle", fit, true);
  fit();

  // Paper has nothing to unfold.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details.finding:not([open]), td details:not([open]), figcaption details:not([open])");
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });
})();
