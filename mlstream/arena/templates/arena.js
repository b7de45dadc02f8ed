"use strict";
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const KINDS = Object.keys(DATA.kinds).filter((kind) => DATA.learners.some((one) => one.kind === kind));
  const [STATUS, WALL, CPU, JOULES, SCORES, ERROR] = [0, 1, 2, 3, 4, 5];
  const BOUNDS = [1, 10, 100, 1000];
  const SHAPES = { ours: "circle", baseline: "square", outsider: "triangle", yours: "diamond" };
  const COLOURS = { ours: "--series-0", baseline: "--series-6", outsider: "--series-1", yours: "--series-3" };
  const SVG = "http://www.w3.org/2000/svg";

  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const dialog = byId("dialog");

{% include "sorting.js" %}

  // Texts of records become text nodes and attributes only, never HTML.
  function make(tag, properties = {}, ...children) {
    const [name, ...classes] = tag.split(".");
    const element = ["svg", "line", "circle", "path", "text", "title", "polyline"].includes(name) ? document.createElementNS(SVG, name) : document.createElement(name);
    if (classes.length) element.setAttribute("class", classes.join(" "));
    for (const [key, value] of Object.entries(properties)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  }

  const fixed = (value, digits) => (value === null || value === undefined ? "n/a" : value.toFixed(digits).replace("-", "\u2212"));
  const amount = (value) =>
    value === null || value === undefined ? "n/a" : value >= 100 ? Math.round(value).toLocaleString("en") : value < 0.001 && value > 0 ? value.toExponential(0) : String(Number(value.toPrecision(2)));
  const chance = (p) => (p < 0.001 ? "p < .001" : `p = ${p.toFixed(3).replace(/^0/, "")}`);
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const hidden = (text) => make("span.unseen", {}, text);

  // At first, the page shows a board that has ranks; those of the reader's own learners, where they are.
  const YOURS = DATA.learners.flatMap((one, learner) => (one.kind === "yours" ? [learner] : []));
  const VIEWS = DATA.scopes.flatMap((scope) => Object.entries(DATA.boards).map(([board, { heading }]) => ({ scope, board, ranking: DATA.rankings[`${scope}/${board}/${heading}`] })));
  const FIRST = VIEWS.find(({ ranking }) => ranking && YOURS.every((one) => ranking.learners.includes(one))) ?? VIEWS.find(({ ranking }) => ranking) ?? VIEWS[0];
  // The view is in the address, so that it can be sent.
  const DEFAULTS = { board: FIRST.board, scope: FIRST.scope, score: "", rule: "", cost: "", hide: "", q: "", sort: "", learner: "" };
  let state = { ...DEFAULTS };

  function readState() {
    const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const known = Object.fromEntries(Object.entries(found).filter(([key]) => key in DEFAULTS));
    state = { ...DEFAULTS, ...known };
    if (!(state.board in DATA.boards)) state.board = DEFAULTS.board;
    if (!DATA.scopes.includes(state.scope)) state.scope = DEFAULTS.scope;
    if (!BOUNDS.map(String).includes(state.cost)) state.cost = "";
  }

  function hashOf(changes = {}) {
    const wanted = { ...state, ...changes };
    return `#${new URLSearchParams(Object.entries(wanted).filter(([key, value]) => value !== DEFAULTS[key]))}`;
  }

  function change(changes) {
    Object.assign(state, changes);
    history.replaceState(null, "", hashOf());
    draw();
  }

  // What is shown: the score, and the ranking by it.
  function scoreOf(board, metric = "", rule = "") {
    const scores = DATA.boards[board].scores;
    const ofMetric = scores.filter((one) => one.metric === (metric || scores[0].metric));
    return ofMetric.find((one) => one.rule === rule) ?? ofMetric[0] ?? scores[0];
  }

  const shownScore = () => scoreOf(state.board, state.score, state.rule);
  const rankingOf = (board, score, scope = state.scope) => DATA.rankings[`${scope}/${board}/${score.name}`];
  const scoreTitle = (score) => (score.decided ? `${score.title}, ${score.decided}` : score.title);
  const cellOf = (learner, stream) => DATA.cells[learner][stream];
  function scoreIn(cell, stream, score) {
    const place = DATA.held[stream].indexOf(DATA.scores.indexOf(score.name));
    return place < 0 || cell[STATUS] !== "done" ? null : cell[SCORES][place];
  }
  const learnerLink = (learner) => make("a", { href: hashOf({ learner: DATA.learners[learner].name }) }, DATA.learners[learner].name);

  // A number that leads to the records behind it.
  const number = (text, open, label) => make("button.number", { type: "button", "aria-label": label ? `${label}: ${text}` : null, onclick: open }, text);

  function table(caption, heads, rows, foot) {
    const id = `caption-${all("table").length}`;
    return make("div.scroll", { role: "region", "aria-labelledby": id, tabindex: 0 }, make("table.sortable.cells", {},
      make("caption", { id }, caption),
      make("thead", {}, make("tr", {}, heads.map((head) => make(head.text ? "th.text" : "th", { scope: "col", title: head.meaning }, make("button", { type: "button", "data-first": head.first ?? "ascending", "data-key": head.key, onclick: (event) => { sort(event.currentTarget); head.sorted?.(event.currentTarget.closest("th").getAttribute("aria-sort")); } }, head.title))))),
      make("tbody", {}, rows),
      foot ? make("tfoot", {}, foot) : null));
  }
  const cell = (value, ...content) => make("td", { "data-value": value ?? "" }, ...content);
  const text = (content) => make("td.text", { "data-value": content }, content);
  const statusOf = (found) => (found[STATUS] === "capped" ? "stopped" : found[STATUS]);
  const rowHead = (value, ...content) => make("th", { scope: "row", "data-value": value }, ...content);

  // One stop of the tabulator for the numbers of a table; arrows go on from there.
  const linksIn = (row) => all("a, button", row);
  function rove(root) {
    for (const body of all("table.cells tbody", root)) linksIn(body).forEach((link, place) => { link.tabIndex = place ? -1 : 0; });
  }
  document.addEventListener("focusin", (event) => {
    const body = event.target.closest?.("table.cells tbody");
    if (body) linksIn(body).forEach((link) => { link.tabIndex = link === event.target ? 0 : -1; });
  });
  document.addEventListener("keydown", (event) => {
    const row = event.target.closest?.("table.cells tbody tr");
    if (!row || !event.target.matches("a, button") || event.ctrlKey || event.metaKey || event.altKey) return;
    const links = linksIn(row), place = links.indexOf(event.target);
    const next = { ArrowRight: () => links[place + 1], ArrowLeft: () => links[place - 1], Home: () => links[0], End: () => links.at(-1),
      ArrowDown: () => below(row.nextElementSibling, place), ArrowUp: () => below(row.previousElementSibling, place) }[event.key]?.();
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  const below = (row, place) => (row ? linksIn(row)[Math.min(place, linksIn(row).length - 1)] : undefined);

  // The dialog: the records behind a number.
  function show(title, content, back) {
    const heading = make("h2", { id: "dialog-title", tabindex: -1 }, title);
    const buttons = [make("button.plain", { type: "button", onclick: () => dialog.close() }, "Close")];
    if (back) buttons.unshift(make("button.plain", { type: "button", onclick: back }, "Back"));
    dialog.replaceChildren(heading, ...content, make("div.buttons", {}, buttons));
    rove(dialog);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    heading.focus();
  }
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  function recordOf(learner, stream) {
    const { name, kind, about, command, ...facts } = DATA.learners[learner];
    const [title, board, sha] = DATA.streams[stream], found = cellOf(learner, stream);
    const scores = Object.fromEntries(DATA.held[stream].map((score, place) => [DATA.scores[score], found[SCORES][place]]).filter(([, value]) => value !== null));
    const costs = { wall_s: found[WALL], cpu_s: found[CPU], energy_j: found[JOULES] };
    return { suite: DATA.suite.version, learner: name, stream: title, data_sha256: sha, ...facts, status: found[STATUS], scores, ...costs, ...(found[ERROR] ? { error: found[ERROR] } : {}) };
  }

  function showRecord(learner, stream, back) {
    const [title] = DATA.streams[stream], { name, command } = DATA.learners[learner];
    show(`${name} on ${title}`, [
      make("p", {}, "The record of this run."),
      make("pre", {}, JSON.stringify(recordOf(learner, stream), null, 1)),
      command ? make("p", {}, "Run it again: ", make("code", {}, command)) : null,
    ].filter(Boolean), back);
  }

  function showTrace(board, score, place, scope = state.scope, back = undefined) {
    const ranking = rankingOf(board, score, scope), learner = ranking.learners[place], first = ranking.learners[0];
    const again = () => showTrace(board, score, place, scope, back);
    const name = DATA.learners[learner].name, best = DATA.learners[first].name;
    const rows = ranking.streams.map((stream, at) => {
      const found = cellOf(learner, stream), value = scoreIn(found, stream, score), title = DATA.streams[stream][0];
      const other = scoreIn(cellOf(first, stream), stream, score);
      const open = () => showRecord(learner, stream, again);
      return make("tr", {}, rowHead(title, title),
        cell(value, number(fixed(value, 3), open, `Record on ${title}`)),
        cell(ranking.stream_ranks[place][at], number(fixed(ranking.stream_ranks[place][at], 1), open, `Rank on ${title}`)),
        place ? cell(other, number(fixed(other, 3), () => showRecord(first, stream, again), `Record of ${best} on ${title}`)) : null,
        cell(found[CPU], number(amount(found[CPU]), open, `CPU seconds on ${title}`)), cell(found[JOULES], number(amount(found[JOULES]), open, `Joules on ${title}`)), text(statusOf(found)));
    });
    const heads = [{ title: "Stream" }, { title: score.title }, { title: "Rank" }, ...(place ? [{ title: best }] : []), { title: "CPU s" }, { title: "Joules" }, { title: "Run", text: true }];
    const total = make("tr", {}, make("th", { scope: "row" }, "Mean, or sum"), make("td", {}, fixed(ranking.means[place], 3)), make("td", {}, fixed(ranking.ranks[place], 2)),
      place ? make("td", {}, fixed(ranking.means[0], 3)) : null, make("td", {}, amount(ranking.cpu_s[place])), make("td", {}, amount(ranking.energy_j[place])), make("td"));
    const compared = place ? `${ranking.p[place] <= DATA.alpha ? "It differs" : "It does not differ"} from ${best} beyond chance (${chance(ranking.p[place])}). ` : "";
    const times = ranking.times[place] === null ? "" : `Its CPU time is ${amount(ranking.times[place])} times that of ${DATA.suite.reference}. `;
    show(`${name} on ${DATA.boards[board].title}`, [
      make("p", {}, `${scoreTitle(score)}. Mean rank ${fixed(ranking.ranks[place], 2)} of ${ranking.learners.length} learners, interval ${fixed(ranking.low[place], 2)} to ${fixed(ranking.high[place], 2)}. ${compared}${times}A number below leads to its record.`),
      table(`${name}: ${plural(ranking.streams.length, "stream")}`, heads, rows, total),
    ], back);
  }

  function showAgreement(board, score) {
    const [lite, full] = ["lite", "full"].map((scope) => rankingOf(board, score, scope));
    const shared = lite.learners.filter((learner) => full.learners.includes(learner));
    const rows = shared.map((learner) => {
      const { name } = DATA.learners[learner];
      return make("tr", {}, rowHead(name, name), [[lite, "lite"], [full, "full"]].map(([ranking, scope]) => {
        const place = ranking.learners.indexOf(learner);
        return cell(ranking.ranks[place], number(fixed(ranking.ranks[place], 1), () => showTrace(board, score, place, scope, () => showAgreement(board, score)), `${name}, ${scope}`));
      }));
    });
    show("The lite part, and the whole", [table(`Mean ranks of the ${shared.length} learners on both, by ${scoreTitle(score)}.`, [{ title: "Learner" }, { title: "Lite" }, { title: "All streams" }], rows)]);
  }

  function showCoverage() {
    const rows = DATA.learners.map(({ name }, learner) => {
      const states = DATA.cells[learner].map((found) => (found ? found[STATUS] : "missing"));
      const count = (status) => states.filter((one) => one === status).length;
      return make("tr", {}, rowHead(name, make("a", { href: hashOf({ learner: name }), onclick: () => dialog.close() }, name)), ["done", "capped", "failed", "missing"].map((status) => cell(count(status), String(count(status)))));
    });
    show("What is recorded", [table(`Runs of each learner on ${DATA.streams.length} streams; a name leads to them.`, ["Learner", "Done", "Stopped", "Failed", "Missing"].map((title) => ({ title })), rows)]);
  }

  // The filters.
  function choose(label, key, options, value, changed) {
    return make("label", {}, label, make("select", { "data-key": key, onchange: (event) => (changed ?? ((chosen) => change({ [key]: chosen })))(event.target.value) },
      options.map(([name, title]) => make("option", { value: name, selected: name === value }, title))));
  }

  function drawFilters() {
    const score = shownScore(), scores = DATA.boards[state.board].scores;
    const metrics = [...new Map(scores.map((one) => [one.metric, one.title]))];
    const rules = scores.filter((one) => one.metric === score.metric).map((one) => [one.rule, one.rule_title]);
    const hide = state.hide.split(",");
    const parts = [
      choose("Board", "board", Object.entries(DATA.boards).map(([name, board]) => [name, board.title]), state.board),
      DATA.scopes.length > 1 ? choose("Streams", "scope", DATA.scopes.map((one) => [one, one === "full" ? "all" : "lite"]), state.scope) : null,
      choose("Score", "score", metrics, score.metric),
      choose("Decision rule", "rule", rules, score.rule),
      rankingOf(state.board, score)?.times.some((one) => one !== null) ? choose("CPU time", "cost", [["", "any"], ...BOUNDS.map((one) => [String(one), `at most ${one} × ${DATA.suite.reference}`])], state.cost) : null,
      make("label", {}, "Search", make("input", { type: "search", "data-key": "q", value: state.q, autocomplete: "off", spellcheck: "false", oninput: (event) => change({ q: event.target.value }) })),
      KINDS.length > 1 ? make("fieldset", {}, make("legend", {}, "Show learners"), KINDS.map((kind) => make("label", {}, make("input", {
        type: "checkbox", "data-key": kind, checked: !hide.includes(kind),
        onchange: () => change({ hide: all("fieldset input", byId("filters")).filter((box) => !box.checked).map((box) => box.dataset.key).join(",") }),
      }), DATA.kinds[kind]))) : null,
      make("button", { type: "button", onclick: () => change({ ...DEFAULTS, board: state.board }) }, "Reset"),
    ].filter(Boolean);
    const form = byId("filters"), key = form.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    // The field that is typed into stays as it is.
    if (key === "q") return;
    form.replaceChildren(...parts);
    if (key) all("[data-key]", form).find((one) => one.dataset.key === key)?.focus();
  }

  function isShown(learner, times) {
    const { name, kind, about } = DATA.learners[learner];
    if (state.hide.split(",").includes(kind)) return false;
    if (state.cost && !(times !== null && times <= Number(state.cost))) return false;
    return `${name} ${about}`.toLowerCase().includes(state.q.trim().toLowerCase());
  }

  // The board.
  function badges(learner, ranking) {
    const { kind } = DATA.learners[learner], found = [];
    if (kind !== "ours") found.push(make(`span.badge.kind.${kind}`, {}, { baseline: "baseline", outsider: "other package", yours: "yours" }[kind]));
    for (const [status, word] of [["capped", "stopped"], ["failed", "failed"]]) {
      const n = ranking.streams.filter((stream) => cellOf(learner, stream)[STATUS] === status).length;
      if (n) found.push(make("span.badge", { title: "ranked behind all others there" }, `${n} ${word}`));
    }
    return found.flatMap((badge) => [" ", badge]);
  }

  function interval(ranking, place, number) {
    const x = (rank) => (5 + (110 * (rank - 1)) / Math.max(ranking.learners.length - 1, 1)).toFixed(1);
    return make("span.interval", {}, make("svg", { width: 120, height: 12, viewBox: "0 0 120 12", "aria-hidden": "true" },
      make("line", { x1: x(ranking.low[place]), x2: x(ranking.high[place]), y1: 6, y2: 6 }), make("circle", { cx: x(ranking.ranks[place]), cy: 6, r: 3.5 })), number);
  }

  function drawTable(board, score, ranking) {
    // Where ranks themselves are the score, its mean would stand twice.
    const isRanks = score.title === "rank", best = DATA.learners[ranking.learners[0]].name, higher = score.better === "higher" ? "descending" : "ascending";
    const heads = [
      { key: "learner", title: "Learner" }, { key: "rank", title: "Mean rank", meaning: "1 is best" }, { key: "interval", title: "95 % interval" },
      ...isRanks ? [] : [{ key: "mean", title: `Mean ${score.title} ${score.better === "higher" ? "↑" : "↓"}`, first: higher, meaning: score.meaning }],
      { key: "p", title: `Differs from ${best}`, first: "descending", meaning: "beyond chance: Wilcoxon's signed ranks, Holm's correction" },
      { key: "cpu", title: "CPU s" }, { key: "times", title: `×\u00a0${DATA.suite.reference}`, meaning: "CPU time, by that of the reference" }, { key: "joules", title: "Joules" },
    ];
    for (const head of heads) head.sorted = (direction) => change({ sort: `${head.key} ${direction}` });
    const shown = ranking.learners.map((_, place) => place).filter((place) => isShown(ranking.learners[place], ranking.times[place]));
    const rows = shown.map((place) => {
      const learner = ranking.learners[place], { name, kind } = DATA.learners[learner];
      const traced = (text, label) => number(text, () => showTrace(board, score, place), `${name}, ${label}`);
      const p = ranking.p[place];
      return make(kind === "yours" ? "tr.yours" : "tr", {}, rowHead(name, learnerLink(learner), badges(learner, ranking)),
        cell(ranking.ranks[place], traced(fixed(ranking.ranks[place], 1), "mean rank")),
        cell(ranking.low[place], interval(ranking, place, traced(`${fixed(ranking.low[place], 1)} to ${fixed(ranking.high[place], 1)}`, "interval"))),
        ...isRanks ? [] : [cell(ranking.means[place], traced(fixed(ranking.means[place], 3), "mean score"))],
        cell(place ? p : 1, place ? traced(p <= DATA.alpha ? `yes, ${chance(p)}` : `no, ${chance(p)}`, `differs from ${best}`) : "first"),
        cell(ranking.cpu_s[place], traced(amount(ranking.cpu_s[place]), "CPU seconds")),
        cell(ranking.times[place], traced(amount(ranking.times[place]), `times ${DATA.suite.reference}`)),
        cell(ranking.energy_j[place], traced(amount(ranking.energy_j[place]), "joules")));
    });
    const holder = byId("table"), key = holder.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    holder.replaceChildren(table(`${DATA.boards[board].title} by ${scoreTitle(score)}: ${score.meaning} Every number leads to the records behind it; arrow keys go from number to number, a heading sorts.`, heads, rows));
    const [sorted, direction] = (state.sort || "rank ascending").split(" "), buttons = all("thead button", holder);
    const head = (buttons.find((button) => button.dataset.key === sorted) ?? buttons[1]).closest("th");
    sortBy(head, direction === "descending" ? direction : "ascending");
    if (key) buttons.find((button) => button.dataset.key === key)?.focus();
    const few = ranking.least_p > DATA.alpha ? ` On so few streams, no two of so many learners can differ beyond chance: p is at least ${ranking.least_p.toFixed(3)}.` : "";
    byId("shown").textContent = `${shown.length} of ${plural(ranking.learners.length, "learner")} shown, on ${plural(ranking.streams.length, "stream")}${state.scope === "lite" ? " of the lite part" : ""}${DATA.learners.some(({ kind }) => kind === "yours") ? ", on which yours have run" : ""}.${few}`;
    if (ranking.agreement !== null) byId("shown").append(" Mean ranks agree with those on all streams: Spearman ", number(fixed(ranking.agreement, 2), () => showAgreement(board, score)), ".");
    return new Set(shown);
  }

  function drawBoard() {
    const board = DATA.boards[state.board], score = shownScore(), ranking = rankingOf(state.board, score);
    byId("board-title").textContent = board.title;
    byId("board-about").textContent = board.about;
    document.title = `${board.title}: where does each learner stand?`;
    drawFilters();
    byId("pareto").hidden = !ranking;
    if (!ranking) {
      byId("shown").textContent = "Nothing is ranked here: fewer than two learners have run on the same streams with this score.";
      byId("table").replaceChildren(make("ul", {}, DATA.learners.map((_, learner) => make("li", {}, learnerLink(learner)))));
      byId("left-out").textContent = "";
      return;
    }
    const shown = drawTable(state.board, score, ranking);
    byId("left-out").replaceChildren(...(ranking.left_out.length ? ["Left out, as they lack runs or probabilities here: ", ...ranking.left_out.flatMap((learner, place) => (place ? [", ", learnerLink(learner)] : [learnerLink(learner)])), "."] : []));
    drawPareto(score, ranking, shown);
  }

  // Score against joules.
  function shape(kind, x, y, properties, ...children) {
    const r = kind === "yours" ? 8 : 5.5;
    const paths = { circle: `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`, square: `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
      triangle: `M${x} ${y - r * 1.2}l${r * 1.2} ${r * 2.1}h${-2.4 * r}z`, diamond: `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z` };
    return make("path", { d: paths[SHAPES[kind]], style: `fill: var(${COLOURS[kind]}); stroke: var(--paper)`, ...properties }, ...children);
  }

  function ticksOf(low, high, wanted) {
    const raw = (high - low) / wanted || 1, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) found.push(at);
    return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  function drawPareto(score, ranking, shown) {
    const higher = score.better === "higher", board = state.board;
    const known = ranking.learners.map((_, place) => place).filter((place) => ranking.energy_j[place] !== null && ranking.means[place] !== null);
    const name = (place) => DATA.learners[ranking.learners[place]].name;
    byId("pareto-hint").textContent = `Mean ${score.title} against the joules of all ${plural(ranking.streams.length, "stream")}; up and to the left is better. The dotted line joins the learners that no other beats in both, hidden ones included; those with runs that were stopped or failed cannot be on it.`;
    byId("pareto-keys").replaceChildren(...KINDS.map((kind) => make("span", {}, make("svg", { width: 16, height: 16, "aria-hidden": "true" }, shape(kind, 8, 8, {})), DATA.kinds[kind])));
    const width = Math.max(280, Math.min(byId("points").clientWidth || 800, 1000)), height = Math.round(Math.min(440, Math.max(300, width * 0.55)));
    const left = 52, right = 30, top = 10, bottom = 46;
    // Less than a millijoule is none that could be told apart.
    const joules = known.map((place) => Math.log10(Math.max(ranking.energy_j[place], 1e-3))), means = known.map((place) => ranking.means[place]);
    const [lowX, highX] = [Math.floor(Math.min(...joules) - 0.05), Math.ceil(Math.max(...joules) + 0.05)];
    const margin = (Math.max(...means) - Math.min(...means)) * 0.06 || 0.05, [lowY, highY] = [Math.min(...means) - margin, Math.max(...means) + margin];
    const x = (log) => left + ((width - left - right) * (log - lowX)) / (highX - lowX || 1);
    const y = (value) => top + (height - top - bottom) * (higher ? highY - value : value - lowY) / (highY - lowY);
    const at = (place) => [x(Math.log10(Math.max(ranking.energy_j[place], 1e-3))), y(ranking.means[place])];
    const parts = [], ticks = ticksOf(lowY, highY, 5);
    for (const value of ticks.found) parts.push(make("line.axis", { x1: left, x2: width - right, y1: y(value), y2: y(value) }), make("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, fixed(value, ticks.digits)));
    const step = Math.ceil((highX - lowX) / (width < 500 ? 4 : 9));
    for (let log = lowX; log <= highX; log += step) parts.push(make("line.axis", { x1: x(log), x2: x(log), y1: top, y2: height - bottom }), make("text", { x: x(log), y: height - bottom + 18, "text-anchor": "middle" }, log > 5 || log < -3 ? `1e${log}` : (10 ** log).toLocaleString("en", { maximumFractionDigits: 3 })));
    parts.push(make("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "Joules"), make("polyline.front", { points: ranking.front.map((place) => at(place).map((one) => one.toFixed(1)).join()).join(" ") }));
    for (const place of known) {
      const [px, py] = at(place), faint = shown.has(place) ? "" : ".faint";
      const point = shape(DATA.learners[ranking.learners[place]].kind, px, py, { onclick: () => showTrace(board, score, place) },
        make("title", {}, `${name(place)}: ${fixed(ranking.means[place], 3)} at ${amount(ranking.energy_j[place])} J`));
      point.setAttribute("class", `point${faint ? " faint" : ""}`);
      parts.push(point);
    }
    parts.push(...labels(ranking.front, at, name, width, height));
    byId("points").replaceChildren(make("svg.points", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Mean ${score.title} against joules of ${known.length} learners; the Pareto front is listed below.` }, parts));
    byId("front").replaceChildren(...ranking.front.map((place) => make("li", {}, learnerLink(ranking.learners[place]), ": ",
      number(fixed(ranking.means[place], 3), () => showTrace(board, score, place), `${name(place)}, mean score`), " at ",
      number(`${amount(ranking.energy_j[place])} J`, () => showTrace(board, score, place), `${name(place)}, joules`))));
  }

  // Names of the front, each where it covers none before it; those without room are in the list.
  function labels(front, at, name, width, height) {
    const taken = front.map(at).map(([px, py]) => [px - 7, py - 7, px + 7, py + 7]), found = [];
    for (const place of front) {
      const [px, py] = at(place), shown = name(place).slice(0, 24), w = shown.length * 6.6 + 4;
      for (const [dx, dy, anchor] of [[0, -10, "middle"], [10, 4, "start"], [-10, 4, "end"], [0, 20, "middle"]]) {
        const start = px + dx - (anchor === "middle" ? w / 2 : anchor === "end" ? w : 0), box = [start, py + dy - 11, start + w, py + dy + 3];
        const free = box[0] > 0 && box[2] < width && box[1] > 0 && box[3] < height - 30;
        if (!free || taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
        taken.push(box);
        found.push(make("text", { x: px + dx, y: py + dy, "text-anchor": anchor }, shown));
        break;
      }
    }
    return found;
  }

  // The page of a learner.
  const facts = (pairs) => make("dl.facts", {}, pairs.filter(([, value]) => value !== "").map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));

  function drawLearner(learner) {
    const one = DATA.learners[learner], cells = DATA.cells[learner], section = byId("learner");
    document.title = `${one.name}: where does it stand?`;
    const joined = (found) => Object.entries(found).map(([name, value]) => `${name} ${value}`).join(", ");
    const n = cells.filter(Boolean).length;
    section.replaceChildren(
      make("p", {}, make("a", { href: hashOf({ learner: "" }) }, "← All learners")),
      make("h2", { id: "learner-title", tabindex: -1 }, one.name), make("p", {}, one.about || (one.kind === "yours" ? "A learner of yours." : "")),
      facts([["Kind", { ours: "learner of mlstream", baseline: "baseline", outsider: "learner of another package", yours: "yours" }[one.kind]], ["Recorded", `${n} of ${DATA.streams.length} streams`], ["Seed", String(one.seed)]]),
      make("p", {}, make("code", {}, one.estimator)),
      make("p", {}, one.command ? ["Run it again: ", make("code", {}, one.command)] : "Run it again: the command that made its folder goes on where it was stopped."),
      make("details", {}, make("summary", {}, "Versions, machine, and hash of the source"), facts([["Source (SHA-256)", one.source_sha256], ["Versions", joined(one.versions)], ["Machine", joined(one.machine)]])),
      make("h3", {}, "Place on every board"), places(learner), make("h3", {}, "Streams"), streamsOf(learner));
    rove(section);
  }

  function places(learner) {
    const rows = Object.entries(DATA.boards).map(([name, board]) => {
      const score = scoreOf(name), ranking = rankingOf(name, score), place = ranking ? ranking.learners.indexOf(learner) : -1;
      const head = rowHead(board.title, make("a", { href: hashOf({ ...DEFAULTS, scope: state.scope, board: name }) }, board.title));
      const lacking = DATA.streams.filter(([, of], stream) => of === name && !DATA.cells[learner][stream]).length;
      if (place < 0) return make("tr", {}, head, text(score.title), text(lacking ? `not run on ${plural(lacking, "stream")}` : "not ranked"), cell("", "n/a"), cell("", "n/a"), cell("", "n/a"));
      const traced = (text, label) => number(text, () => showTrace(name, score, place), `${board.title}, ${label}`);
      const ahead = 1 + ranking.ranks.filter((rank) => rank < ranking.ranks[place]).length;
      const first = DATA.learners[ranking.learners[0]].name;
      return make("tr", {}, head, text(score.title), make("td.text", { "data-value": ahead }, traced(`${ahead} of ${ranking.learners.length}`, "place")), cell(ranking.ranks[place], traced(fixed(ranking.ranks[place], 1), "mean rank")),
        cell(ranking.low[place], interval(ranking, place, traced(`${fixed(ranking.low[place], 1)} to ${fixed(ranking.high[place], 1)}`, "interval"))),
        cell(place ? ranking.p[place] : 1, place ? traced(`${ranking.p[place] <= DATA.alpha ? "yes" : "no"}, ${chance(ranking.p[place])}`, `differs from ${first}`) : "first"));
    });
    return table(`By the score that heads each board${state.scope === "lite" ? ", on the lite part of its streams" : ""}.`, ["Board", "Score", "Place", "Mean rank", "95 % interval", "Differs from the first"].map((title, place) => ({ title, text: place === 1 || place === 2 })), rows);
  }

  function streamsOf(learner) {
    const rows = DATA.streams.map(([title, board], stream) => {
      const found = cellOf(learner, stream), score = scoreOf(board), ranking = rankingOf(board, score);
      const head = rowHead(title, title), of = text(DATA.boards[board].title);
      if (!found) return make("tr", {}, head, of, text(score.title), cell("", "n/a"), cell("", "n/a"), cell("", "n/a"), cell("", "n/a"), text("missing"));
      const place = ranking ? ranking.learners.indexOf(learner) : -1, at = ranking ? ranking.streams.indexOf(stream) : -1;
      const rank = place < 0 || at < 0 ? null : ranking.stream_ranks[place][at], value = scoreIn(found, stream, score);
      const traced = (text, label) => number(text, () => showRecord(learner, stream), `${title}, ${label}`);
      return make("tr", {}, head, of, text(score.title), cell(value, traced(fixed(value, 3), "score")), cell(rank, traced(fixed(rank, 1), "rank")),
        cell(found[CPU], traced(amount(found[CPU]), "CPU seconds")), cell(found[JOULES], traced(amount(found[JOULES]), "joules")), make("td.text", { "data-value": found[STATUS] }, traced(statusOf(found), "run")));
    });
    const heads = [{ title: "Stream" }, { title: "Board", text: true }, { title: "Score", text: true }, { title: "Value", first: "descending" }, { title: "Rank" }, { title: "CPU s" }, { title: "Joules" }, { title: "Run", text: true }];
    return table("Each stream, by the score that heads its board. A number leads to its record.", heads, rows);
  }

  // What Python wrote becomes traceable, too.
  function enliven() {
    const boards = all("#overview-table thead th").slice(1).map((head) => head.dataset.board);
    for (const row of all("#overview-table tbody tr")) {
      const [head, ...cells] = row.cells, learner = DATA.learners.findIndex((one) => one.name === head.dataset.value);
      head.replaceChildren(make("a", { href: `#${new URLSearchParams({ learner: DATA.learners[learner].name })}` }, DATA.learners[learner].name));
      cells.forEach((each, place) => {
        if (!each.dataset.value) return;
        const score = scoreOf(boards[place]), ranking = rankingOf(boards[place], score, "full");
        each.replaceChildren(number(each.textContent, () => showTrace(boards[place], score, ranking.learners.indexOf(learner), "full"), `${DATA.boards[boards[place]].title}`));
      });
    }
    all("#overview-table thead th").forEach((head) => {
      head.replaceChildren(make("button", { type: "button", "data-first": "ascending", onclick: (event) => sort(event.currentTarget) }, head.textContent));
    });
    if (DATA.learners.length) byId("coverage").append(" ", make("button.number", { type: "button", onclick: showCoverage }, "Runs of each learner"));
    rove(byId("overview"));
  }

  function draw() {
    const learner = DATA.learners.findIndex((one) => one.name === state.learner);
    const isAlone = learner >= 0;
    all(".scripted").forEach((one) => { one.hidden = isAlone && one.tagName === "SECTION"; });
    byId("learner").hidden = !isAlone;
    byId("overview").hidden = isAlone;
    if (isAlone) drawLearner(learner);
    else drawBoard();
    rove(document.querySelector("main"));
    return isAlone;
  }

  addEventListener("hashchange", () => {
    const before = state.learner;
    readState();
    draw();
    if (state.learner === before) return;
    scrollTo({ top: 0, behavior: "instant" });
    byId(state.learner ? "learner-title" : "board-title")?.focus({ preventScroll: !state.learner });
  });
  // Places of this page are not part of the view that the address holds.
  document.addEventListener("click", (event) => {
    const target = event.target.closest?.('nav a[href^="#"], a.skip');
    if (!target) return;
    event.preventDefault();
    const id = target.getAttribute("href").slice(1);
    if (state.learner && byId(id).hidden) change({ learner: "" });
    const goal = byId(`${id}-title`) ?? byId(id);
    goal.scrollIntoView();
    goal.focus({ preventScroll: true });
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width && !byId("pareto").hidden) drawBoard();
    width = innerWidth;
  });
  enliven();
  readState();
  draw();
})();
