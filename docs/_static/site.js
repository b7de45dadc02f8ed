// The theme's arrows that unfold the navigation have no text: name them for screen readers.
for (const arrow of document.querySelectorAll("nav summary")) {
  const page = arrow.closest("li").querySelector("a").textContent.trim();
  arrow.setAttribute("aria-label", `Pages of ${page}`);
}
