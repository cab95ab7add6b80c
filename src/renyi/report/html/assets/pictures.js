// What the page opens with: small pictures of the strongest findings, and of what linear coefficients miss.
const SMALL = { width: 210, height: 156 }, MOST_SMALL_LEVELS = 6, MOST_SMALL_POINTS = 500;

function pictures() {
  const { strongest, missed } = report.pictures, target = byId("pictures"), anyMissed = strongest.some((k) => pairs.missed[k]);
  const group = (title, places) => { if (places.length) target.append(make("h3", {}, ...title), make("ul", { class: "pictures" }, ...places.map((k) => make("li", {}, pictureOf(k))))); };
  group([report.kind === "screening" ? "Strongest columns" : "Strongest"], strongest);
  group([make("span", { class: "mark" }, "◆ "), anyMissed ? "More that linear coefficients miss" : "What linear coefficients miss"], missed);
}

function pictureOf(k) {
  const linear = pairs.missed[k] ? ["pearson", "spearman"].map((name) => pairs[name][k]).filter((value) => value !== null) : [];
  const largest = linear.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  const beside = pairs.missed[k] ? `, missed by linear coefficients: ${fixed(largest, 2)} at most` : "";
  const words = report.given.length ? null : detailOf.get(k)?.words;
  return make("a", { class: "picture", href: linkTo(k), "aria-label": `${pairName(k)}: ${report.value} ${fixed(strength[k], 2)}${beside}` },
    miniature(k),
    make("span", { class: "told" }, make("b", {}, fixed(strength[k], 2)), pairs.missed[k] ? make("span", { class: "mark" }, ` ◆ linear: ${fixed(Math.abs(largest), 2)}`) : null),
    make("span", { class: "kind" }, words ?? pairName(k)));
}

// Levels stand along the bottom, where their names have room; numbers of a few values are drawn as levels.
function miniature(k) {
  const detail = detailOf.get(k) ?? {}, ends = [pairs.x[k], pairs.y[k]];
  if (!ends.every((column) => columns[column].levels || columns[column].limits)) return smallCloud(k, detail);
  const both = ends.map((column) => (columns[column].sample ? withLevels(columns[column]) : columns[column]));
  const isTurned = both[1].levels ? !both[0].levels : isAlong(detail.words ?? "", ...both), [x, y] = isTurned ? [...both].reverse() : both;
  const drawn = smallFrame(isTurned ? [...ends].reverse() : ends, [x, y].map(({ label, levels, limits, type }) => ({ label, levels, limits, type })));
  const known = x.sample && y.sample ? x.sample.map((_, row) => row).filter((row) => x.sample[row] !== null && y.sample[row] !== null) : [];
  const hasLevels = (column) => Boolean(columns[column].levels);
  if (x.levels && y.levels) drawCounts(drawn, known.length || !ends.every(hasLevels) ? counted(known, x, y) : detail.data);
  else if (x.levels) drawBoxes(drawn, ends.some(hasLevels) && detail.boxes ? detail.boxes : boxesOf(known, x, y));
  else if (detail.data) drawCounts(drawn, isTurned ? transposed(detail.data) : detail.data);
  else drawPoints(drawn, known.slice(0, MOST_SMALL_POINTS).map((row) => [x.sample[row], y.sample[row]]));
  return drawn.svg;
}
const transposed = ({ shape: [nX, nY], counts }) => ({ shape: [nY, nX], counts: Array.from({ length: nX * nY }, (_, at) => counts[(at % nX) * nY + Math.floor(at / nX)]) });
// Where words tell what x does along y, y is drawn along the bottom.
const isAlong = (words, x, y) => !x.levels && words.startsWith(`${x.label} `) && !words.startsWith(`${x.label} and `) && !words.startsWith(`${y.label} `);
const withLevels = (column) => {
  const values = column.levels || column.type === "date" ? [] : [...new Set(column.sample)].filter((value) => value !== null).sort((a, b) => a - b);
  if (!values.length || values.length > MOST_SMALL_LEVELS) return column;
  const place = new Map(values.map((value, code) => [value, code]));
  return { ...column, levels: values.map(compact), sample: column.sample.map((value) => (value === null ? null : place.get(value))) };
};
const boxesOf = (rows, x, y) => x.levels.map((_, code) => {
  const values = rows.filter((row) => x.sample[row] === code).map((row) => y.sample[row]).sort((a, b) => a - b);
  return values.length ? [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => values[Math.round(share * (values.length - 1))]) : null;
});

// A vector has no axis of its own: its function stands for it.
function smallCloud(k, { cloud }) {
  const drawn = smallFrame([pairs.x[k], pairs.y[k]], cloud ? cloud.limits.map((limits) => ({ limits })) : RANKS_BOTH, ["f", "g"]);
  if (cloud) drawCounts(drawn, cloud);
  drawn.plot.setAttribute("class", "cloud");
  return drawn.svg;
}
const RANKS_BOTH = [{ limits: [0, 1] }, { limits: [0, 1] }];

// Of a few letters the first say most, unless levels begin alike.
function fitted(levels, letters) {
  const most = Math.max(2, Math.floor(letters));
  const begun = levels.map((level) => (Array.from(level).length > most ? `${Array.from(level).slice(0, most - 1).join("").trimEnd()}…` : level));
  return new Set(begun).size === levels.length ? begun : levels.map((level) => shortened(level, most));
}

function smallFrame(ends, axes = ends.map(axisOf), functions = null) {
  const { width, height } = SMALL;
  const has = (axis) => axis.levels && axis.levels.length <= MOST_SMALL_LEVELS;
  const left = has(axes[1]) ? 70 : 22, bottom = height - (has(axes[0]) ? 36 : 22), room = 5;
  // A name is no longer than its axis.
  const names = [width - left, bottom].map((long, side) => (functions ? `${functions[side]}(${tight(ends[side], long / 7 - 3)})` : tight(ends[side], Math.min(30, long / 7))));
  const along = (axis, from, to) => {
    const [low, high] = spanOf(axis), inner = axis.levels ? 0 : Math.sign(to - from) * room;
    return (value) => from + inner + (to - from - 2 * inner) * (high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0.5);
  };
  const x = along(axes[0], left, width - 2), y = along(axes[1], bottom, 3);
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }), plot = make("g");
  svg.append(plot, make("path", { class: "axis", d: `M${left} 3V${bottom}H${width - 2}` }));
  if (has(axes[0])) fitted(axes[0].levels, (width - left) / axes[0].levels.length / 7.8).forEach((level, code) => svg.append(make("text", { x: x(code), y: bottom + 13, "text-anchor": "middle", class: "soft" }, isolated(level))));
  if (has(axes[1])) fitted(axes[1].levels, 6.5).forEach((level, code) => svg.append(make("text", { x: left - 4, y: y(code) + 4, "text-anchor": "end", class: "soft" }, isolated(level))));
  svg.append(make("text", { x: (left + width) / 2, y: height - 5, "text-anchor": "middle" }, isolated(names[0])));
  const middle = (3 + bottom) / 2;
  svg.append(make("text", { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }, isolated(names[1])));
  return { svg, plot, x, y, ends: { left, right: width - 2, top: 3, bottom }, xAxis: axes[0], yAxis: axes[1] };
}
