"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const data = JSON.parse($("data").textContent);
  const items = [...document.querySelectorAll("#map .item")];
  const entries = [...document.querySelectorAll(".entry")];
  const rows = [...document.querySelectorAll("tbody tr")];
  const chips = [...document.querySelectorAll(".chip")];
  const search = $("search"), panel = $("panel"), tip = $("tip");
  let current = items[0] || null;
  let opened = null;
  root.classList.add("script");

  // What is known of an item: its own facts, those of its pool, and those of its cluster.
  const of = (item) => {
    const [card, pool, title, facts] = data.items[item.dataset.i];
    const more = [...(data.cards[card].pools[pool] || []), ...data.cards[card].facts];
    return { title, facts: [...facts, ...more] };
  };
  const words = (item) => `${item.ariaLabel} ${of(item).facts.flat().join(" ")}`.toLowerCase();

  // One item at a time is in the order of the Tab key; arrow keys go to the nearest one in their direction.
  const rove = (item) => {
    if (current) current.tabIndex = -1;
    current = item;
    item.tabIndex = 0;
  };
  const middle = (item) => {
    const box = item.querySelector(".base").getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const towards = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  const nearest = (from, [dx, dy]) => {
    const [x, y] = middle(from);
    let best = null, least = Infinity;
    for (const item of items) {
      const [to_x, to_y] = middle(item);
      const along = (to_x - x) * dx + (to_y - y) * dy;
      const aside = Math.abs((to_x - x) * dy) + Math.abs((to_y - y) * dx);
      if (along > 2 && along + 3 * aside < least) [best, least] = [item, along + 3 * aside];
    }
    return best;
  };
  const go = (item) => {
    if (!item) return;
    rove(item);
    item.focus();
    item.scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  const show = (item) => {
    if (opened) opened.classList.remove("open");
    opened = item;
    item.classList.add("open");
    const { title, facts } = of(item);
    $("panel-title").textContent = title;
    $("panel-facts").replaceChildren(...facts.flatMap(([name, value]) => {
      const term = document.createElement("dt"), text = document.createElement("dd");
      term.textContent = name;
      text.textContent = value;
      return [term, text];
    }));
    panel.hidden = false;
    panel.focus({ preventScroll: true });
  };
  const close = () => {
    if (!opened) return;
    const item = opened;
    item.classList.remove("open");
    opened = null;
    panel.hidden = true;
    go(item);
  };

  const point = (item) => {
    tip.textContent = item.ariaLabel;
    tip.hidden = false;
    const box = item.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.x + box.width / 2 - own.width / 2), innerWidth - own.width - 8);
    const top = box.y > own.height + 16 ? box.y - own.height - 8 : box.bottom + 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${top}px`;
  };
  const unpoint = () => { tip.hidden = true; };

  for (const item of items) {
    item.setAttribute("role", "button");
    item.tabIndex = -1;
    item.addEventListener("click", () => { rove(item); show(item); });
    item.addEventListener("pointerenter", () => point(item));
    item.addEventListener("pointerleave", unpoint);
    item.addEventListener("focus", () => { if (item.matches(":focus-visible")) point(item); });
    item.addEventListener("blur", unpoint);
  }
  if (current) current.tabIndex = 0;
  $("map").addEventListener("keydown", (event) => {
    const item = event.target.closest(".item");
    if (!item) return;
    const ends = { Home: items[0], End: items[items.length - 1] };
    if (towards[event.key]) go(nearest(item, towards[event.key]));
    else if (ends[event.key]) go(ends[event.key]);
    else if (event.key === "Enter" || event.key === " ") show(item);
    else return;
    event.preventDefault();
  });
  $("close").addEventListener("click", close);

  // Search: what does not match is dimmed, and the number of matches is announced.
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : noun.endsWith("y") ? "" : "s"}`;
  const find = () => {
    const query = search.value.trim().toLowerCase();
    const mark = (all, text) => all.filter((one) => one.classList.toggle("hit", Boolean(query) && text(one).includes(query)));
    const hits = mark(items, words);
    const notes = mark(entries, (entry) => entry.textContent.toLowerCase());
    for (const row of rows) row.hidden = Boolean(query) && !row.textContent.toLowerCase().includes(query);
    for (const chip of chips) chip.setAttribute("aria-pressed", String(chip.dataset.query.toLowerCase() === query));
    document.body.classList.toggle("searching", Boolean(query));
    const squares = hits.filter((item) => item.classList.contains("square")).length;
    const found = [[hits.length - squares, "node"], [squares, "folded cluster"], [notes.length, "note"]];
    const told = found.filter(([count]) => count).map(([count, noun]) => plural(count, noun));
    $("found").textContent = query ? (told.length ? `${told.join(", ")} found` : "Nothing found") : "";
  };
  search.addEventListener("input", find);
  for (const chip of chips) {
    chip.setAttribute("aria-pressed", "false");
    chip.addEventListener("click", () => {
      search.value = chip.getAttribute("aria-pressed") === "true" ? "" : chip.dataset.query;
      find();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      search.focus();
    }
    if (event.key !== "Escape") return;
    unpoint();
    if (opened) close();
    else if (search.value) { search.value = ""; find(); }
  });

  const themes = ["system", "light", "dark"];
  $("theme").addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme || "system") + 1) % themes.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    $("theme").textContent = `Theme: ${next}`;
  });
  addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });
})();
