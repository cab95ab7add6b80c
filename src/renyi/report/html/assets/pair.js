// One pair: its numbers, its rows, its ranks, and the functions that reach the coefficient.
const detailOf = new Map(report.details.map((detail) => [detail.pair, detail]));
let opener = null, current = null;

function showPair(k) {
  const dialog = byId("pair");
  current = k;
  const at = table.shown.indexOf(k), neighbour = (by) => (at < 0 ? undefined : table.shown[at + by]);
  const step = (by, label) => make("button", { type: "button", disabled: neighbour(by) === undefined, onclick: () => { location.replace(linkTo(neighbour(by))); } }, label);
  dialog.replaceChildren(
    make("div", { class: "pair-head" },
      make("h2", { id: "pair-title" }, nameOf(pairs.x[k]), " and ", nameOf(pairs.y[k])),
      make("div", {}, step(-1, "Previous"), step(1, "Next"), make("button", { type: "button", id: "close", onclick: () => dialog.close() }, "Close"))),
    make("div", { class: "pair-body" }, facts(k), ...remarks(k).map((line) => make("p", { class: "hint" }, ...[line].flat())), make("div", { class: "charts" }, ...charts(k).map(figure))));
  if (!dialog.open) { opener = document.activeElement; dialog.showModal(); }
  dialog.scrollTop = 0;
  byId("close").focus();
}
const figure = ({ title, note, svg }) => make("figure", {}, make("figcaption", {}, title, note ? make("small", {}, ` ${note}`) : null), svg);

function facts(k) {
  const told = [
    [report.value, shownStrength(k)],
    report.measure === "rdc" ? ["coefficient", fixed(pairs.coefficient[k])] : null,
    pairs.pearson ? ["Pearson", fixed(pairs.pearson[k], 2)] : null,
    pairs.spearman ? ["Spearman", fixed(report.given.length ? pairs.spearman[k] : detailOf.get(k)?.spearman ?? pairs.spearman[k], 2)] : null,
    report.has_tests ? ["p", probability(pairs.log10_p[k])] : null,
    report.has_tests ? ["q", probability(pairs.log10_q[k])] : null,
    ["rows", grouped(pairs.n[k])],
  ];
  return make("ul", { class: "facts" }, ...told.filter(Boolean).map(([label, text]) => make("li", {}, make("b", {}, text), label)));
}

function remarks(k) {
  const detail = detailOf.get(k), [x, y] = [columns[pairs.x[k]], columns[pairs.y[k]]], said = [], isSample = report.drawn < report.rows;
  if (detail?.words && pairs.found[k] && !report.given.length) said.push(`Kind: ${detail.words}.`);
  if (pairs.remark?.[k]) said.push(["One or two rows carry this dependence: ", pairs.remark[k], "."]);
  if (pairs.missed[k]) said.push([make("span", { class: "mark" }, "◆ Missed by linear coefficients: "), "Pearson's and Spearman's show less than half of this dependence."]);
  if (report.has_tests && !pairs.found[k]) said.push(`No finding at a false discovery rate of ${compact(100 * report.fdr)} %: this may well be chance.`);
  if (report.given.length) said.push("The numbers hold other columns fixed; the pictures do not.");
  if (detail?.reached !== undefined && detail?.reached !== null) said.push(`The correlation of f and g is ${fixed(detail.reached)}${isSample ? " on the rows drawn" : report.measure === "rdc" && !report.given.length ? ", the coefficient" : ""}.`);
  else if (detail && isSample) said.push("The sample of rows is too small to show f and g of a dependence as weak as this.");
  else said.push("This file has f and g of the strongest pairs and of those requested (pairs=[...] in Python); renyi.transformations gives those of any pair.");
  const nShown = detail?.data ? report.drawn : report.sampled;
  if (nShown && nShown < report.rows && (detail?.data || (x.sample && y.sample))) said.push(`The pictures show ${grouped(nShown)} rows, drawn at random from ${grouped(report.rows)}; the numbers above are from all.`);
  if (x.is_clipped || y.is_clipped) said.push("A few values far beyond the axes are drawn at their ends.");
  return said;
}

// What there is to draw.
function charts(k) {
  const detail = detailOf.get(k), ends = [pairs.x[k], pairs.y[k]], [x, y] = ends.map((column) => columns[column]);
  const rows = x.sample && y.sample ? x.sample.map((_, row) => row).filter((row) => x.sample[row] !== null && y.sample[row] !== null) : [];
  const found = [], words = `${pairName(k)}${pairs.found[k] ? `, ${report.value} ${fixed(strength[k])}` : ""}`;
  const axes = ends.map(axisOf), hasAxes = ends.every((column) => columns[column].levels || columns[column].limits);
  if (hasAxes && (detail?.data || rows.length || detail?.boxes)) {
    const drawn = frame(...axes, `Rows of ${words}`);
    if (detail?.data) drawCounts(drawn, detail.data);
    else if (x.levels && y.levels) drawCounts(drawn, counted(rows, x, y));
    else drawPoints(drawn, rows.map((row) => [x.sample[row], y.sample[row]]));
    if (detail?.boxes) drawBoxes(drawn, detail.boxes);
    found.push({ title: "Data", note: dataNote(detail, x, y), svg: drawn.svg });
  }
  const isRanked = (column) => column.is_number;
  if (hasAxes && (isRanked(x) || isRanked(y)) && (detail?.ranks || rows.length)) {
    const ranked = ends.map((column, side) => (columns[column].is_number ? { ...RANKS, label: `${columns[column].label}, ranked` } : axes[side]));
    const drawn = frame(...ranked, `Ranks of ${words}`);
    if (detail?.ranks) drawCounts(drawn, detail.ranks);
    else drawPoints(drawn, rows.map((row) => [x, y].map((column) => (column.is_number ? ranksOf(column).spread[row] : column.sample[row]))));
    found.push({ title: "Copula", note: "the data as ranks, ties spread out", svg: drawn.svg });
  }
  if (detail?.f) {
    found.push({ title: "f", note: functionNote(x, detail.f), svg: functionChart(ends[0], detail.f, "f") });
    found.push({ title: "g", note: functionNote(y, detail.g), svg: functionChart(ends[1], detail.g, "g") });
    const cloud = cloudChart(x, y, detail, rows, words);
    if (cloud) found.push({ title: "f against g", note: `correlation ${fixed(detail.reached)}`, svg: cloud });
  }
  return found;
}

function dataNote(detail, x, y) {
  if (x.levels && y.levels) return `share of each level of ${isolated(shortened(y.label, 20))} within ${isolated(shortened(x.label, 20))}`;
  if (detail?.data) return x.levels || y.levels ? "share of rows within each level; boxes: quarters and median" : "stronger colour: more rows";
  return detail?.boxes ? "boxes: quarters and median, whiskers 5 to 95 %" : "";
}
const functionNote = (column, { scores, follows }) =>
  follows ? "how far it follows the ranks of each coordinate" : column.is_number && scores ? `a function of ${isolated(shortened(column.label, 24))}` : "a score for every level";

function counted(rows, x, y) {
  const shape = [x.levels.length, y.levels.length], counts = new Array(shape[0] * shape[1]).fill(0);
  for (const row of rows) counts[x.sample[row] * shape[1] + y.sample[row]] += 1;
  return { shape, counts };
}

// Ranks among a column's own observed rows: ties share that of their last, or are spread over theirs to be seen.
const rankings = new Map();
function ranksOf(column) {
  if (!rankings.has(column)) {
    const ordered = Float64Array.from(column.sample.filter((value) => value !== null)).sort(), n = ordered.length;
    const first = (isBeyond) => { let low = 0, high = n; while (low < high) { const middle = (low + high) >> 1; if (isBeyond(ordered[middle])) high = middle; else low = middle + 1; } return low; };
    const shared = [], spread = [];
    column.sample.forEach((value, row) => {
      const below = first((other) => other >= value), upTo = first((other) => other > value);
      shared.push(value === null ? null : upTo / n);
      spread.push(value === null ? null : (below + (upTo - below) * (0.5 + jitter(row, 2) / 0.6)) / n);
    });
    rankings.set(column, { shared, spread });
  }
  return rankings.get(column);
}

function functionChart(column, found, letter) {
  const label = `${letter}(${shortened(columns[column].label, 24)})`, description = `The function ${letter} of ${isolated(columns[column].label)}`;
  if (found.follows) return barChart(found.coordinates, found.follows, `correlation with ${label}`, description);
  if (!found.values) return barChart(columns[column].levels, found.scores, label, description);
  const drawn = frame(axisOf(column), numbersAxis(label, found.scores), description);
  drawn.plot.append(make("path", { class: "zero", d: `M${drawn.ends.left} ${drawn.y(0)}H${drawn.ends.right}` }));
  drawCurve(drawn, found.values, found.scores);
  return drawn.svg;
}

function cloudChart(x, y, { f, g, cloud, reached }, rows, words) {
  const labels = [`f(${shortened(x.label, 24)})`, `g(${shortened(y.label, 24)})`];
  const description = `f against g of ${words}: correlation ${fixed(reached)}`;
  let drawn;
  if (cloud) {
    drawn = frame(...cloud.limits.map((limits, side) => ({ label: labels[side], limits })), description);
    drawCounts(drawn, cloud);
  } else {
    if (!rows.length) return null;
    const [xs, ys] = [[x, f, 0], [y, g, 1]].map(([column, found, salt]) => rows.map((row) => along(column, found, row, salt)));
    drawn = frame(numbersAxis(labels[0], xs), numbersAxis(labels[1], ys), description);
    drawPoints(drawn, xs.map((value, at) => [value, ys[at]]));
  }
  drawn.plot.setAttribute("class", "cloud");
  return drawn.svg;
}
// A function at one row: its level's score, spread a little, or between the knots of the curve.
function along(column, found, row, salt) {
  if (!found.values) return (found.scores[column.sample[row]] ?? 0) + 0.15 * jitter(row, salt);
  const rank = ranksOf(column).shared[row], { ranks, scores } = found;
  let above = ranks.findIndex((knot) => knot >= rank);
  if (above < 0) above = ranks.length - 1;
  if (above === 0) return scores[0];
  const share = (rank - ranks[above - 1]) / (ranks[above] - ranks[above - 1] || 1);
  return scores[above - 1] + Math.min(1, share) * (scores[above] - scores[above - 1]);
}
