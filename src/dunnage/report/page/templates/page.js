"use strict";
// Everything can be read without this: it opens what is folded before printing, sorts the runs, and
// keeps in the address what a reader opened and sorted, so that a link shows the same.
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
const sort = (head, down) => {
  const table = head.closest("table");
  const place = [...head.parentNode.children].indexOf(head);
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
};
const folds = [...document.querySelectorAll("details")];
const asMade = folds.map((fold) => fold.open);
const tables = [...document.querySelectorAll("table.sortable")];
let anchor = "";
const remember = () => {
  const changed = folds.flatMap((fold, at) => (fold.open === asMade[at] ? [] : [at]));
  const parts = changed.length ? [`fold=${changed.join(".")}`] : [];
  tables.forEach((table, at) => {
    const heads = [...table.tHead.rows[0].cells];
    const place = heads.findIndex((head) => head.hasAttribute("aria-sort"));
    if (place < 0) return;
    const down = heads[place].getAttribute("aria-sort") === "descending" ? 1 : 0;
    parts.push(`sort=${at}.${place}.${down}`);
  });
  history.replaceState(null, "", `#${[anchor, ...parts].join("~")}`);
};
const restore = () => {
  const [named, ...parts] = location.hash.slice(1).split("~");
  anchor = named;
  for (const part of parts) {
    const [name, value = ""] = part.split("=");
    const numbers = value.split(".").map(Number);
    if (name === "fold") for (const at of numbers) if (folds[at]) folds[at].open = !asMade[at];
    if (name === "sort") {
      const head = tables[numbers[0]]?.tHead.rows[0].cells[numbers[1]];
      if (head) sort(head, numbers[2] === 1);
    }
  }
  if (parts.length) document.getElementById(anchor)?.scrollIntoView();
};
restore();
addEventListener("hashchange", () => {
  if (location.hash.includes("~")) return restore();
  anchor = location.hash.slice(1);
  remember();
});
for (const fold of folds) {
  fold.addEventListener("toggle", () => {
    if (!("folded" in fold.dataset)) remember();
  });
}
for (const head of document.querySelectorAll("table.sortable thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    sort(head, head.getAttribute("aria-sort") === "ascending");
    remember();
  });
}
