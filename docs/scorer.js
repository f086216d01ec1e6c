// Pages that people read come before the reference; a name of it that is typed in full comes first.
var Scorer = {
  score: ([page, , , , score]) => score + (/^(start|how_to|coming_from|idea)\//.test(page) ? 6 : 0),
  objNameMatch: 20,
  objPartialMatch: 2,
  objPrio: { 0: 0, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
