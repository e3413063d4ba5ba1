"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Tables: a click on a heading sorts; numbers before texts, what is missing always last.
  const collator = new Intl.Collator("en", {numeric: true});
  const key = cell => {
    if (cell.dataset.v === "") return [2, 0];
    return cell.dataset.v === undefined ? [1, cell.textContent] : [0, Number(cell.dataset.v)];
  };
  const compare = (a, b, sign) => {
    if (a[0] === 2 || b[0] === 2) return a[0] - b[0];
    if (a[0] !== b[0]) return sign * (a[0] - b[0]);
    return sign * (a[0] ? collator.compare(a[1], b[1]) : a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0);
  };
  all("th button").forEach(button => button.addEventListener("click", () => {
    const heading = button.closest("th"), body = heading.closest("table").tBodies[0], column = heading.cellIndex;
    const up = heading.getAttribute("aria-sort") !== "ascending";
    all("th", heading.parentNode).forEach(each => each.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].map(row => [key(row.cells[column]), row]);
    rows.sort((a, b) => compare(a[0], b[0], up ? 1 : -1));
    body.append(...rows.map(each => each[1]));
  }));

  // The command: copied where the browser allows it, else selected.
  all(".copy").forEach(button => button.addEventListener("click", async () => {
    const code = button.parentNode.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  }));
})();
