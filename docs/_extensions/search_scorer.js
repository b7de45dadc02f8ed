// Ranks the pages that a search finds: Sphinx counts neither how many of its words a page names nor what a page is for.
"use strict";

// Definitions, pages for contributors, single names and examples come after the pages of the guide.
const PLACES = { glossary: -40, contributing: -12, auto_examples: -6, api: -4 };

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 5, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score([page, , , , score]) {
    const words = wordsOfQuery(document.querySelector('input[name="q"]').value);
    const { title, index, headings } = wordsOf(page);
    const found = [...words].map(
      (word) => (title.has(word) ? 12 : 0) + (index.has(word) ? 12 : 0) + (headings.has(word) ? 4 : 0),
    );
    const whole = words.size > 1 && found.every((points) => points > 4) ? 10 : 0;
    return score + whole + found.reduce((sum, points) => sum + points, 0) + (PLACES[page.split("/")[0]] ?? 0);
  },
};

// The stems of a query, found once for all of its results.
const wordsOfQuery = (() => {
  let last, words;
  return (query) => {
    if (query !== last) [last, words] = [query, Search._parseQuery(query)[1]];
    return words;
  };
})();

// The stems in the title of a page, in the entries of the index that name it as the main one, and in its headings.
const wordsOf = (() => {
  const pages = new Map();
  return (page) => {
    if (!pages.size) {
      const { docnames, titles, alltitles, indexentries } = Search._index;
      docnames.forEach((name, at) => pages.set(name, { title: stems(titles[at]), index: new Set(), headings: new Set() }));
      const add = (kind, text, at) => stems(text).forEach((word) => pages.get(docnames[at])[kind].add(word));
      Object.entries(alltitles).forEach(([text, places]) => places.forEach(([at]) => add("headings", text, at)));
      Object.entries(indexentries).forEach(([text, places]) =>
        places.forEach(([at, , isMain]) => isMain && add("index", text, at)),
      );
    }
    return pages.get(page);
  };
})();

function stems(text) {
  const stemmer = new Stemmer();
  return new Set(splitQuery(text.toLowerCase()).map((word) => stemmer.stemWord(word)));
}
