"use strict";
// Filters the clauses, and opens the one that the address names. The page is whole without it.
(() => {
  const form = document.getElementById("filter");
  const words = document.getElementById("filter-text");
  const section = document.getElementById("filter-section");
  const count = document.getElementById("filter-count");
  const nothing = document.getElementById("nothing");
  const groups = [...document.querySelectorAll("section.section")].map((element) => ({
    element,
    clauses: [...element.querySelectorAll(":scope > details.clause")].map((clause) => ({
      clause,
      text: clause.querySelector(".says").textContent.toLowerCase(),
      marks: clause.dataset.marks.split(" "),
    })),
  }));
  const all = groups.reduce((sum, group) => sum + group.clauses.length, 0);

  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const marks = [...form.querySelectorAll("[name=mark]:checked")].map((box) => box.value);
    const differs = form.querySelector("[name=differs]:checked") !== null;
    let shown = 0;
    for (const { element, clauses } of groups) {
      const here = section.value === "" || section.value === element.id;
      let any = false;
      for (const one of clauses) {
        const fits =
          here &&
          (marks.length === 0 || one.marks.some((mark) => marks.includes(mark))) &&
          (!differs || "differs" in one.clause.dataset) &&
          wanted.every((word) => one.text.includes(word));
        one.clause.hidden = !fits;
        any ||= fits;
        shown += fits;
      }
      element.hidden = !any;
    }
    count.textContent = shown === all ? `${all} clauses` : `${shown} of ${all} clauses`;
    nothing.hidden = shown > 0;
  };

  const open = () => {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (named === null) return;
    if (named.matches("details.clause, section.section") && (named.hidden || named.closest("[hidden]"))) {
      form.reset();
      filter();
    }
    if (named.matches("details.clause")) named.open = true;
    named.scrollIntoView();
  };

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  addEventListener("hashchange", open);
  // A browser that comes back to the page keeps what the form held.
  filter();
  if (location.hash !== "") open();
})();
