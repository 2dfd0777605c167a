"use strict";
// Everything can be read without this: it opens what is folded before printing, and sorts the runs.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details:not([open])")) {
    folded.open = true;
    folded.dataset.folded = "";
  }
});
addEventListener("afterprint", () => {
  for (const folded of document.querySelectorAll("details[data-folded]")) {
    folded.open = false;
    delete folded.dataset.folded;
  }
});
for (const head of document.querySelectorAll("table.sortable thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const table = head.closest("table");
    const place = [...head.parentNode.children].indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const number = (text) => Number(text.replaceAll(",", "").replace("\u2212", "-"));
    const rows = [...table.tBodies[0].rows].sort((one, two) => {
      const [a, b] = [one, two].map((row) => row.cells[place].textContent);
      const difference = number(a) - number(b);
      const order = Number.isNaN(difference) ? a.localeCompare(b) : difference;
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  });
}
