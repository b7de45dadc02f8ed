"use strict";
(() => {
  const CONFIG = { responsive: true, displayModeBar: false, doubleClick: "reset" };

  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const style = getComputedStyle(document.documentElement);
  const plots = all(".plot");
  const frame = JSON.parse(document.getElementById("frame").textContent);
  const views = new Map();
  const drawn = new Set();
  // On a touch screen, a finger on a chart scrolls the page.
  const dragmode = matchMedia("(hover: none)").matches ? false : "zoom";

  // Names of CSS variables become colours, under keys that hold colours only: labels may say anything.
  function coloured(value, isColour) {
    if (typeof value === "string") {
      return isColour && value.startsWith("var(") ? style.getPropertyValue(value.slice(4, -1)).trim() : value;
    }
    if (Array.isArray(value)) {
      return isColour ? value.map((item) => coloured(item, true)) : typeof value[0] === "object" ? value.map((item) => coloured(item, false)) : value;
    }
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, /color/.test(key))]));
  }

  // A page may hold hundreds of charts, a line of text each: one is read when it is drawn.
  let charts;
  function viewsOf(plot) {
    if (!views.has(plot)) views.set(plot, JSON.parse(charts[plot.dataset.chart]));
    return views.get(plot);
  }

  function hiddenGroups(plot) {
    return new Set(all('.legend button[aria-pressed="false"]', plot.closest(".panel")).map((button) => button.dataset.group));
  }

  function draw(plot) {
    const choices = viewsOf(plot);
    const chosen = plot.closest(".panel").querySelector(".switch :checked");
    const view = choices.find((one) => chosen && one.name === chosen.value) ?? choices[0];
    const hidden = hiddenGroups(plot);
    const data = coloured(view.data, false).map((trace) => ({ ...trace, visible: !hidden.has(trace.legendgroup) }));
    drawn.add(plot);
    if (view.summary) document.getElementById(plot.getAttribute("aria-describedby")).querySelector("span").textContent = view.summary;
    return Plotly.react(plot, data, { ...coloured({ ...frame, ...view.layout }, false), dragmode }, CONFIG);
  }

  // Charts are drawn one by one, with pauses in which the page can be used, and those near the screen before others.
  function drawAll() {
    const nearby = new IntersectionObserver(
      (entries) => entries.filter((entry) => entry.isIntersecting && !drawn.has(entry.target)).forEach((entry) => draw(entry.target)),
      { rootMargin: "600px" },
    );
    plots.forEach((plot) => nearby.observe(plot));
    const drawNext = () => {
      const next = plots.find((plot) => !drawn.has(plot));
      if (next) { draw(next); setTimeout(drawNext, 20); }
    };
    drawNext();
    addEventListener("beforeprint", () => plots.filter((plot) => !drawn.has(plot)).forEach(draw));
  }

  function toggle(button) {
    const visible = button.getAttribute("aria-pressed") === "false";
    button.setAttribute("aria-pressed", String(visible));
    for (const plot of all(".plot", button.closest(".panel")).filter((one) => drawn.has(one))) {
      const places = plot.data.flatMap((trace, place) => (trace.legendgroup === button.dataset.group ? [place] : []));
      if (places.length) Plotly.restyle(plot, { visible }, places);
    }
  }

{% include "sorting.js" %}

  all(".legend button").forEach((button) => button.addEventListener("click", () => toggle(button)));
  all(".sortable thead button").forEach((button) => button.addEventListener("click", () => sort(button)));
  all(".switch").forEach((switcher) => switcher.addEventListener("change", () => {
    all(".plot", switcher.closest(".panel")).filter((plot) => drawn.has(plot)).forEach(draw);
  }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(draw));

  // Plotly and the charts are most of the page: they come packed.
  async function unpack(id) {
    const letters = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(letters.length);
    for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  async function start() {
    charts = (await unpack("charts")).split("\n");
    const script = document.createElement("script");
    script.textContent = await unpack("plotly");
    document.head.append(script);
    drawAll();
  }
  start();
})();
