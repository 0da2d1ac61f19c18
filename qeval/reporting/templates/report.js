"use strict";
// Filters the changed cases and shows them a page at a time. Without it, all cases are shown.
(() => {
  const PAGE = 40;
  const form = document.querySelector("form.filters");
  if (!form) return;
  const cases = [...document.querySelectorAll("article.case")].map((node) => ({
    node,
    tags: new Set(JSON.parse(node.dataset.tags)),
    text: null,
  }));
  const more = document.getElementById("more");
  const output = form.querySelector("output");
  let shown = PAGE;

  const matches = (item, want) => {
    const data = item.node.dataset;
    if (want.candidate && data.candidate !== want.candidate) return false;
    if (want.suite && data.suite !== want.suite) return false;
    if (want.kind && data.kind !== want.kind) return false;
    if (want.tag && !item.tags.has(want.tag)) return false;
    if (!want.text) return true;
    item.text ??= item.node.textContent.toLowerCase();
    return item.text.includes(want.text);
  };

  const update = () => {
    const want = Object.fromEntries(new FormData(form));
    want.text = want.text.trim().toLowerCase();
    let found = 0;
    for (const item of cases) {
      const hit = matches(item, want);
      if (hit) found += 1;
      item.node.hidden = !hit || found > shown;
    }
    output.textContent = `${found} of ${cases.length}`;
    more.hidden = found <= shown;
    more.textContent = `Show ${Math.min(PAGE, found - shown)} more`;
  };

  const restart = () => {
    shown = PAGE;
    update();
  };

  const select = (name, value) => {
    const field = form.elements[name];
    if (![...field.options].some((option) => option.value === value)) field.add(new Option(value, value));
    field.value = value;
  };

  form.addEventListener("input", restart);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(restart));
  more.addEventListener("click", () => {
    shown += PAGE;
    update();
  });
  for (const button of document.querySelectorAll("[data-show-candidate]")) {
    const { showCandidate: candidate, showSuite: suite, showTag: tag } = button.dataset;
    button.hidden = !cases.some((item) => matches(item, { candidate, suite, tag }));
    button.addEventListener("click", () => {
      form.reset();
      select("candidate", candidate);
      select("suite", suite);
      select("tag", tag);
      restart();
      document.getElementById("cases").scrollIntoView();
    });
  }
  form.hidden = false;
  update();
})();
