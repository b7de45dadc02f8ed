  // Undefined values come last, whichever way a column is sorted.
  function compare(a, b, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const difference = Number(a) - Number(b);
    return sign * (Number.isNaN(difference) ? a.localeCompare(b, undefined, { numeric: true }) : difference);
  }

  function sortBy(head, direction) {
    all("th[aria-sort]", head.parentElement).forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", direction);
    const body = head.closest("table").tBodies[0];
    const sign = direction === "ascending" ? 1 : -1;
    const value = (row) => row.cells[head.cellIndex].dataset.value;
    body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b), sign)));
  }

  function sort(button) {
    const head = button.closest("th");
    const other = { ascending: "descending", descending: "ascending" };
    sortBy(head, other[head.getAttribute("aria-sort")] ?? button.dataset.first);
  }
