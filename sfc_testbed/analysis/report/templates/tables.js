// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Sorts tables by a click on a heading or, on a phone, by a list. A second click reverses the order.
"use strict";
(() => {
  const key = cell => {
    const text = cell.textContent.trim(), value = parseFloat(cell.dataset.value ?? text.replaceAll(",", ""));
    return Number.isNaN(value) || (!cell.dataset.value && !/^-?[\d,.]+$/.test(text)) ? text : value;
  };
  // Numbers come before texts, and a missing value (-) comes last in both directions.
  const compare = (one, other, sign) => {
    const missing = (one === "-") - (other === "-");
    if (missing) return missing;
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return sign * (typeof one === "number" ? one - other : one.localeCompare(other, "en", {numeric: true}));
  };
  function sort(table, place, direction) {
    const sign = direction === "ascending" ? 1 : -1, rows = [...table.tBodies[0].rows];
    for (const heading of table.tHead.rows[0].cells) heading.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[place].setAttribute("aria-sort", direction);
    rows.sort((one, other) => compare(key(one.cells[place]), key(other.cells[place]), sign));
    table.tBodies[0].append(...rows);
  }
  for (const table of document.querySelectorAll("table")) {
    const headings = [...table.tHead?.rows[0]?.cells ?? []];
    if (table.tBodies[0]?.rows.length < 3) continue;
    headings.forEach((heading, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => {
        const isAscending = heading.getAttribute("aria-sort") === "ascending";
        sort(table, place, isAscending ? "descending" : "ascending");
      });
      heading.append(button);
    });
    const list = document.createElement("select");
    list.append(new Option("Sort by …", ""), ...headings.flatMap(({textContent: name}, place) =>
      [new Option(`${name} ↑`, `${place} ascending`), new Option(`${name} ↓`, `${place} descending`)]));
    list.className = "sort";
    list.setAttribute("aria-label", "Sort the table");
    list.addEventListener("change", () => { if (list.value) sort(table, ...list.value.split(" ")); });
    if (table.classList.contains("stacked")) table.parentElement.before(list);
  }
  // A link to the history of a flow unfolds the history.
  const unfold = () => {
    const part = document.getElementById(location.hash.slice(1))?.closest("details");
    if (part) part.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
