"use strict";
// Filters, links that open what they lead to, and printing. Nothing is fetched or kept:
// the state of the filter is the fragment of the address, so that it can be linked.
(() => {
  const FILTER = "#filter:";
  const FIELDS = ["paper", "group", "grade", "wording"];
  const form = document.getElementById("filter");
  const field = (name) => form.elements.namedItem(name);
  const showing = document.getElementById("showing");
  const selection = document.getElementById("selection");
  const none = document.getElementById("none");
  const unfold = document.getElementById("unfold");
  const sections = [...document.querySelectorAll("section.group")].map((element) => ({
    element,
    count: element.querySelector(".count"),
  }));
  const cards = [...document.querySelectorAll("article.claim")].map((element) => ({
    ...element.dataset,
    element,
    details: element.querySelector("details"),
    home: sections.find((s) => s.element.contains(element)),
    text: "",
  }));

  const textOf = (card) => {
    if (!card.text) {
      const parts = card.element.querySelectorAll(":scope > details > summary, .words");
      card.text = [...parts].map((part) => part.textContent).join(" ").toLowerCase();
    }
    return card.text;
  };

  const wanted = () => {
    const state = { q: field("q").value.trim().toLowerCase().split(/\s+/) };
    for (const name of FIELDS) state[name] = field(name).value;
    return state;
  };

  // A claim with a fault or a difference stands in a section of its own, and counts in
  // the group of its verdict as well.
  const inGroup = (card, group) =>
    (group === "attention" ? card.section : card.group) === group;

  const fits = (card, state, except) =>
    FIELDS.every((name) => {
      if (name === except || !state[name]) return true;
      return name === "group" ? inGroup(card, state.group) : card[name] === state[name];
    }) && state.q.every((word) => textOf(card).includes(word));

  const recount = (state) => {
    for (const name of FIELDS) {
      const rest = cards.filter((card) => fits(card, state, name));
      for (const option of field(name).options) {
        option.dataset.label ??= option.text;
        const n = option.value
          ? rest.filter((card) =>
              name === "group" ? inGroup(card, option.value) : card[name] === option.value
            ).length
          : rest.length;
        option.text = `${option.dataset.label} (${n})`;
        option.disabled = n === 0 && !option.selected;
      }
    }
  };

  const apply = (remember = true) => {
    const state = wanted();
    let n = 0;
    for (const section of sections) section.shown = section.total = 0;
    for (const card of cards) {
      const shown = fits(card, state);
      card.element.hidden = !shown;
      card.home.total += 1;
      if (shown) n += 1, (card.home.shown += 1);
    }
    for (const { element, count, shown, total } of sections) {
      element.hidden = shown === 0;
      count.textContent = shown === total ? `${total}` : `${shown} of ${total}`;
    }
    recount(state);
    none.hidden = n > 0 || cards.length === 0;
    showing.textContent =
      n === cards.length ? `All ${n} claims are shown.` : `${n} of ${cards.length} claims.`;
    unfold.textContent = "Open these";
    selection.hidden = n === cards.length;
    selection.textContent = `A selection: ${n} of ${cards.length} claims.`;
    if (remember) keep(state, n === cards.length);
  };

  const keep = (state, all) => {
    const query = new URLSearchParams();
    for (const name of FIELDS) if (state[name]) query.set(name, state[name]);
    if (field("q").value.trim()) query.set("q", field("q").value.trim());
    const hash = all && ![...query].length ? "" : FILTER + query;
    if (hash || location.hash.startsWith(FILTER)) {
      try {
        history.replaceState(null, "", hash || location.pathname + location.search);
      } catch {
        // An address that may not be changed: the filter works, only its link is lost.
      }
    }
  };

  const set = (text) => {
    const query = new URLSearchParams(text);
    field("q").value = query.get("q") ?? "";
    for (const name of FIELDS) {
      const value = query.get(name) ?? "";
      const known = [...field(name).options].some((option) => option.value === value);
      field(name).value = known ? value : "";
    }
  };

  const clear = () => (set(""), apply());

  // Claims above are drawn only when they come near, and their sizes move the target.
  const aim = (target, frames = 12) => {
    const before = scrollY;
    target.scrollIntoView();
    const settled = frames < 10 && Math.abs(scrollY - before) < 2;
    if (frames > 0 && !settled) requestAnimationFrame(() => aim(target, frames - 1));
  };

  const open = (element) => {
    const article = element.closest("article.claim");
    if (article?.hidden) clear();
    for (let at = element; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    const target = element.classList.contains("body") ? article : element;
    aim(target);
    const head = article && target === article && article.querySelector("summary");
    if (head) head.focus({ preventScroll: true });
  };

  const follow = () => {
    const hash = location.hash;
    if (hash.startsWith(FILTER)) {
      set(hash.slice(FILTER.length));
      apply(false);
      return true;
    }
    let name = hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      // A stray percent sign: the fragment is taken as it stands.
    }
    const element = name && document.getElementById(name);
    if (element && element.closest("main")) {
      const section = element.closest("section.group");
      if (section?.hidden) clear();
      if (element.closest("details")) open(element);
      else aim(element);
    }
    return false;
  };

  for (const link of document.querySelectorAll("a[data-filter]")) {
    link.href = FILTER + link.dataset.filter;
  }
  form.hidden = false;
  let timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 120);
  });
  form.addEventListener("submit", (event) => (event.preventDefault(), apply()));
  form.addEventListener("reset", (event) => (event.preventDefault(), clear()));
  document.getElementById("widen").addEventListener("click", clear);
  unfold.addEventListener("click", () => {
    const shut = unfold.textContent === "Open these";
    for (const { element, details } of cards) if (!element.hidden) details.open = shut;
    unfold.textContent = shut ? "Close these" : "Open these";
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field("q").focus();
    }
    if (event.key === "Escape" && event.target === field("q")) clear();
  });
  // A link to where we are already fires no hashchange, and opens its claim again.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link && link.hash === location.hash) setTimeout(follow);
  });
  window.addEventListener("hashchange", () => {
    if (follow()) aim(document.getElementById("claims"));
  });
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const details of closed) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });
  if (!follow()) apply(false);
})();
