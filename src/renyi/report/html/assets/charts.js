// Small charts in SVG: axes, points, counts on a grid, boxes, curves and bars.
const WIDTH = 360, HEIGHT = 290;
const MOST_LEVELS_NAMED = 14;

const axisOf = (column) => {
  const { label, levels, limits, type } = columns[column];
  return levels ? { label, levels } : { label, limits, type };
};
const numbersAxis = (label, values) => {
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known), high = Math.max(...known), room = 0.05 * (high - low) || 1;
  return { label, limits: [low - room, high + room] };
};
const RANKS = { limits: [0, 1], isSmooth: true };

function steps(low, high, most = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}
function dateSteps(low, high) {
  const days = (high - low) / 864e5;
  const format = days > 1500 ? (time) => time.slice(0, 4) : days > 3 ? (time) => time.slice(0, 10) : (time) => time.slice(5, 16).replace("T", " ");
  return [0.1, 0.5, 0.9].map((share) => low + share * (high - low)).map((at) => {
    const time = new Date(at);
    return [at, Number.isNaN(time.getTime()) ? compact(at) : format(time.toISOString())];
  });
}
// Places along an axis with what is written there.
function ticksOf(axis) {
  if (axis.levels) {
    const every = Math.ceil(axis.levels.length / MOST_LEVELS_NAMED);
    return axis.levels.map((level, code) => [code, shortened(level, 13)]).filter((_, code) => code % every === 0);
  }
  return axis.type === "date" ? dateSteps(...axis.limits) : steps(...axis.limits).map((at) => [at, compact(at)]);
}

const spanOf = (axis) => (axis.levels ? [-0.5, axis.levels.length - 0.5] : axis.limits);

// A frame with two axes, and maps from their values to places in it.
function frame(xAxis, yAxis, description) {
  const xTicks = ticksOf(xAxis), yTicks = ticksOf(yAxis);
  const longest = (ticks) => Math.max(0, ...ticks.map(([, text]) => Array.from(text).length));
  const turned = xAxis.levels ? longest(xTicks) * xTicks.length > 42 : longest(xTicks) * xTicks.length > 48;
  const left = 30 + 6.2 * longest(yTicks), bottom = turned ? 30 + 5 * longest(xTicks) : 38;
  const ends = { left, right: WIDTH - 8, top: 8, bottom: HEIGHT - bottom };
  const along = (axis, from, to) => {
    const [low, high] = spanOf(axis), room = axis.levels ? 0 : 0.03 * (to - from);
    return (value) => from + room + (to - from - 2 * room) * (high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0.5);
  };
  const x = along(xAxis, ends.left, ends.right), y = along(yAxis, ends.bottom, ends.top);
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": description });
  const plot = make("g");
  svg.append(plot, make("path", { class: "axis", d: `M${ends.left} ${ends.top}V${ends.bottom}H${ends.right}` }));
  for (const [at, text] of xTicks) {
    const place = { x: x(at), y: ends.bottom + 14, "text-anchor": "middle", class: "soft" };
    if (turned) Object.assign(place, { "text-anchor": "end", transform: `rotate(-40 ${x(at)} ${ends.bottom + 10})`, y: ends.bottom + 12 });
    svg.append(make("text", place, isolated(text)));
  }
  for (const [at, text] of yTicks) svg.append(make("text", { x: ends.left - 5, y: y(at) + 4, "text-anchor": "end", class: "soft" }, isolated(text)));
  svg.append(make("text", { x: (ends.left + ends.right) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, isolated(shortened(xAxis.label, 40))));
  const middle = (ends.top + ends.bottom) / 2;
  svg.append(make("text", { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }, isolated(shortened(yAxis.label, 34))));
  return { svg, plot, x, y, ends, xAxis, yAxis };
}

// Offsets that spread the points of one level, the same at every drawing.
const jitter = (k, salt) => { const wave = Math.sin((k + 1) * (12.9898 + salt)) * 43758.5453; return 0.6 * (wave - Math.floor(wave) - 0.5); };

// Numbers of few values, such as counts, are spread as levels are.
function spread(axis, values) {
  if (axis.levels) return 1;
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  if (axis.isSmooth || distinct.length > 12 || distinct.length * 4 > values.length) return 0;
  return distinct.length < 2 ? 0 : 0.7 * Math.min(...distinct.slice(1).map((value, k) => value - distinct[k]));
}

const PER_PATH = 40; // points of one path do not add up where they overlap, those of several do
function drawPoints({ plot, x, y, xAxis, yAxis }, points) {
  const [wide, tall] = [xAxis, yAxis].map((axis, side) => spread(axis, points.map((point) => point[side])));
  const place = ([a, b], k) => `M${x(a + wide * jitter(k, 0)).toFixed(1)} ${y(b + tall * jitter(k, 1)).toFixed(1)}h0`;
  const many = points.length > 300, drawn = points.map(place);
  for (let k = 0; k < drawn.length; k += PER_PATH)
    plot.append(make("path", { class: "points", d: drawn.slice(k, k + PER_PATH).join(""), "stroke-width": many ? 3.4 : 5, "stroke-opacity": many ? 0.45 : 0.65 }));
}

const SHADES = 9;
// Shares within each level where an axis has levels; else counts, on a scale that shows few beside many.
function drawCounts({ plot, x, y, xAxis, yAxis }, { shape: [nX, nY], counts }) {
  const within = xAxis.levels ? "x" : yAxis.levels ? "y" : null, bothLevels = xAxis.levels && yAxis.levels;
  const totals = new Array(within === "x" ? nX : within === "y" ? nY : 1).fill(0);
  const groupOf = (i, j) => (within === "x" ? i : within === "y" ? j : 0);
  for (let i = 0; i < nX; i++) for (let j = 0; j < nY; j++) {
    const count = counts[i * nY + j];
    totals[groupOf(i, j)] = within ? totals[groupOf(i, j)] + count : Math.max(totals[0], count);
  }
  const share = (i, j) => counts[i * nY + j] / totals[groupOf(i, j)];
  let most = 1;
  if (within) { most = 0; for (let i = 0; i < nX; i++) for (let j = 0; j < nY; j++) most = Math.max(most, share(i, j) || 0); }
  const [left, right] = spanOf(xAxis).map(x), [bottom, top] = spanOf(yAxis).map(y);
  const width = (right - left) / nX, height = (bottom - top) / nY, logMost = Math.log1p(totals[0]);
  const gapX = xAxis.levels ? Math.min(2, 0.12 * width) : -0.15, gapY = yAxis.levels ? Math.min(2, 0.12 * height) : -0.15;
  const paths = Array.from({ length: SHADES }, () => []);
  for (let i = 0; i < nX; i++) for (let j = 0; j < nY; j++) {
    if (!counts[i * nY + j]) continue;
    const level = !within ? Math.log1p(counts[i * nY + j]) / logMost : bothLevels ? share(i, j) / most : Math.sqrt(share(i, j) / most);
    const [a, b] = [left + i * width + gapX / 2, bottom - (j + 1) * height + gapY / 2];
    paths[Math.min(SHADES - 1, Math.floor(level * SHADES))].push(
      `M${a.toFixed(1)} ${b.toFixed(1)}h${(width - gapX).toFixed(1)}v${(height - gapY).toFixed(1)}h${(gapX - width).toFixed(1)}z`);
  }
  paths.forEach((parts, shade) => {
    if (parts.length) plot.append(make("path", { class: "cell", d: parts.join(""), "fill-opacity": 0.1 + (0.9 * (shade + 0.5)) / SHADES }));
  });
}

// Boxes from the lower to the upper quarter with the median, whiskers from 5 to 95 %.
function drawBoxes({ plot, x, y, xAxis }, boxes) {
  const upright = Boolean(xAxis.levels);
  const at = (code, value) => (upright ? [x(code), y(value)] : [x(value), y(code)]);
  const path = (className, points) => plot.append(make("path", { class: className, d: points }));
  boxes.forEach((box, code) => {
    if (!box) return;
    const [low, lower, median, upper, high] = box;
    const [a, b] = [at(code - 0.28, lower), at(code + 0.28, upper)], [c, d] = [at(code - 0.28, median), at(code + 0.28, median)];
    path("whisker", `M${at(code, low)}L${at(code, lower)}M${at(code, upper)}L${at(code, high)}`);
    path("box", `M${a}L${upright ? [b[0], a[1]] : [a[0], b[1]]}L${b}L${upright ? [a[0], b[1]] : [b[0], a[1]]}z`);
    path("median", `M${c}L${d}`);
  });
}

const drawCurve = ({ plot, x, y }, xs, ys) =>
  plot.append(make("path", { class: "curve", d: xs.map((value, k) => `${k ? "L" : "M"}${x(value).toFixed(1)} ${y(ys[k]).toFixed(1)}`).join("") }));

// A bar for each name; of many those that reach farthest.
function barChart(names, values, label, description) {
  let shown = names.map((name, k) => [name, values[k]]).filter(([, value]) => value !== null);
  const most = MOST_LEVELS_NAMED, nAll = shown.length;
  if (nAll > most) {
    const cut = shown.map(([, value]) => Math.abs(value)).sort((a, b) => b - a)[most - 1];
    shown = shown.filter(([, value]) => Math.abs(value) >= cut).slice(0, most);
  }
  const reach = Math.max(1e-9, ...shown.map(([, value]) => Math.abs(value)));
  const title = nAll > most ? `${label}, ${most} of ${nAll} levels` : label;
  const drawn = frame({ label: title, limits: [-1.05 * reach, 1.05 * reach] }, { label: "", levels: shown.map(([name]) => name) }, description);
  const { plot, x, y, ends } = drawn, thick = (0.7 * (ends.bottom - ends.top)) / shown.length;
  plot.append(make("path", { class: "zero", d: `M${x(0)} ${ends.top}V${ends.bottom}` }));
  shown.forEach(([, value], code) =>
    plot.append(make("rect", { class: "score", x: Math.min(x(0), x(value)), y: y(code) - thick / 2, width: Math.abs(x(value) - x(0)), height: thick })));
  return drawn.svg;
}
