"use strict";
// Sort the table of the development phase by a column, and keep the board up to date.
const PERIOD_MS = 10000;
const live = document.getElementById("live");
const updated = document.getElementById("updated");
let order = { column: 0, descending: false };

function value(row, column) {
  const cell = row.cells[column];
  const time = cell.querySelector("time");
  if (time) return time.dateTime;
  const text = cell.textContent.trim();
  return cell.classList.contains("number") ? Number(text) : text.toLocaleLowerCase();
}

function sort(table) {
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const [x, y] = [value(a, order.column), value(b, order.column)];
    const sign = x < y ? -1 : x > y ? 1 : 0;
    return order.descending ? -sign : sign;
  });
  table.tBodies[0].append(...rows);
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    if (column === order.column) cell.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
}

function prepare() {
  const table = live.querySelector("table.sortable");
  if (!table) return;
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.column = column;
    button.textContent = cell.textContent;
    button.addEventListener("click", () => {
      order = { column, descending: order.column === column && !order.descending };
      sort(table);
    });
    cell.replaceChildren(button);
  });
  sort(table);
}

async function refresh() {
  try {
    const response = await fetch("/board/live");
    if (!response.ok) throw new Error(response.statusText);
    const text = await response.text();
    if (text !== refresh.last) {
      const active = live.contains(document.activeElement) ? document.activeElement.dataset.column : undefined;
      const content = new DOMParser().parseFromString(text, "text/html");
      live.replaceChildren(...content.body.childNodes);
      prepare();
      if (active !== undefined) live.querySelector(`button[data-column="${active}"]`)?.focus();
      if (refresh.last !== undefined) updated.textContent = `Updated at ${new Date().toLocaleTimeString()}.`;
      refresh.last = text;
    }
  } catch {
    updated.textContent = "The server does not reply; the board is of an earlier time.";
  }
  setTimeout(refresh, PERIOD_MS);
}

prepare();
setTimeout(refresh, PERIOD_MS);
