"use strict";
// Theme, filters, sorting, copying. Every page is whole without any of it.
(() => {
  const all = (selector, where = document) => [...where.querySelectorAll(selector)];
  const root = document.documentElement;
  const make = (tag, attributes = {}, text = "") => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    return made;
  };

  // -- theme ---------------------------------------------------------------------------------------------------------
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const toggle = document.getElementById("theme");
  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const tell = () => toggle.setAttribute("aria-pressed", String(theme() === "dark"));
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    tell();
    try {
      localStorage.setItem("wireproof-theme", root.dataset.theme);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // the choice then lasts as long as the page
    }
  });
  dark.addEventListener("change", tell);
  tell();

  // -- sorting -------------------------------------------------------------------------------------------------------
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell ? cell.dataset.v ?? cell.textContent.trim() : "";
  };
  const compare = (one, other) => {
    const a = Number(one), b = Number(other);
    if (one !== "" && other !== "" && !Number.isNaN(a) && !Number.isNaN(b)) return a - b;
    return one.localeCompare(other, "en", { numeric: true });
  };
  const sort = (table, head) => {
    const down = head.getAttribute("aria-sort") === "ascending" ||
      (head.hasAttribute("data-down") && !head.hasAttribute("aria-sort"));
    const column = head.cellIndex;
    for (const other of all("th[aria-sort]", table.tHead)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row, column), row]);
    rows.sort(([a], [b]) => (down ? compare(b, a) : compare(a, b)));
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of all("table.sortable")) {
    for (const head of all("th[data-sort]", table.tHead)) {
      const button = make("button", { type: "button", class: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head));
    }
  }

  // -- filters of simple tables ----------------------------------------------------------------------------------------
  const hits = (row, words) => {
    row.text ??= row.textContent.toLowerCase();
    return words.every((word) => row.text.includes(word));
  };
  const split = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const [number, table] of all("table.filterable").entries()) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 8) continue;
    const box = make("div", { class: "filters", role: "search" });
    const label = make("label", { for: `filter-${number}` }, "Filter");
    const input = make("input", { id: `filter-${number}`, type: "search", autocomplete: "off" });
    const count = make("output", { for: input.id, "aria-live": "polite" });
    label.append(input);
    box.append(label, count);
    (table.closest(".scroll") ?? table).before(box);
    const run = () => {
      const words = split(input.value);
      let shown = 0;
      for (const row of rows) shown += !(row.hidden = !hits(row, words));
      count.textContent = words.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
    };
    input.addEventListener("input", run);
    run();
  }

  // -- filters of the matrix -------------------------------------------------------------------------------------------
  const form = document.getElementById("matrix-filters");
  if (form) {
    const table = document.getElementById("matrix");
    const older = document.getElementById("older");
    const count = document.getElementById("matrix-count");
    const heads = all("th[data-impl]", table.tHead);
    const rows = [...table.tBodies[0].rows].map((row) => ({
      row, cells: heads.map((head) => row.cells[head.cellIndex]), ...row.dataset,
    }));
    const fails = new Set(["failed", "warned", "accepted"]);
    const names = ["q", "impl", "section", "level", "standing", "only"];
    const state = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
    const run = () => {
      const want = state(), words = split(want.q), impls = split(want.impl);
      const columns = heads.map((head) => {
        const name = head.dataset.impl.toLowerCase();
        const shown = (!head.classList.contains("old") || older?.checked) &&
          (!impls.length || impls.some((word) => name.includes(word)));
        head.hidden = !shown;
        return shown;
      });
      let shown = 0;
      for (const { row, cells, section, level } of rows) {
        const stands = new Set();
        cells.forEach((cell, place) => {
          cell.hidden = !columns[place];
          if (columns[place]) stands.add(cell.dataset.s);
        });
        const failing = [...stands].some((word) => fails.has(word));
        const keep = (!want.section || section === want.section) && (!want.level || level === want.level) &&
          (!want.standing || stands.has(want.standing)) &&
          (want.only !== "failing" || failing) &&
          (want.only !== "differences" || (failing && stands.has("passed"))) && hits(row, words);
        row.hidden = !keep;
        shown += keep;
      }
      const visible = columns.filter(Boolean).length;
      count.textContent = `${shown} of ${rows.length} requirements, ${visible} of ${heads.length} columns`;
      const kept = new URLSearchParams(Object.entries(want).filter(([, text]) => text));
      const hash = kept.size ? `#${kept}` : "";
      if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname + location.search);
    };
    const given = new URLSearchParams(location.hash.slice(1));
    for (const name of names) {
      const control = form.elements[name], wanted = given.get(name);
      if (wanted === null) continue;
      if (!control.options || [...control.options].some((option) => option.value === wanted)) control.value = wanted;
    }
    form.addEventListener("input", run);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(run));
    older?.addEventListener("change", run);
    run();
  }

  // -- copying -----------------------------------------------------------------------------------------------------------
  const copied = (text) => {
    if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
    const area = make("textarea", { class: "away", readonly: "" }); // what a page from a disk may do
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done ? Promise.resolve() : Promise.reject(new Error("the browser refused"));
  };
  for (const button of all("button[data-copy]")) {
    button.hidden = false;
    const label = button.textContent;
    const say = (text) => {
      button.textContent = text;
      setTimeout(() => { button.textContent = label; }, 2000);
    };
    button.addEventListener("click", () => {
      const text = document.getElementById(button.dataset.copy).textContent;
      copied(text).then(() => say("Copied"), () => say("Select and copy by hand"));
    });
  }
})();
