// What all parts share: the data, elements whose text is only ever text, numbers, colours, links to pairs.
const report = JSON.parse(document.getElementById("data").textContent);
const { columns, pairs } = report;
const nPairs = pairs.x.length;
const { strength } = pairs;
const drawings = []; // what is drawn anew when the theme or the width changes

const byId = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";
const inSvg = new Set(["svg", "g", "path", "line", "rect", "circle", "text", "title"]);

// No text ever becomes markup: children that are not elements are appended as text nodes.
function make(tag, attributes = {}, ...children) {
  const element = attributes.isSvg || inSvg.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "isSvg" || value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const nameOf = (column) => make("bdi", {}, columns[column].label);
// Where room is short: names that are told apart, and on narrow screens cut further.
const tight = (column, most = 22) => shortened(columns[column].short, Math.floor(most));
const pairName = (k) => `${isolated(columns[pairs.x[k]].label)} and ${isolated(columns[pairs.y[k]].label)}`;
// In plain text nothing but these two signs keeps a name's direction to itself.
const isolated = (text) => `\u2068${text}\u2069`;
const shortened = (text, most) => {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
};

// Numbers.
const fixed = (value, digits = 3) =>
  value === null || value === undefined ? "–" : value.toFixed(digits).replace(/^-(?=[0.]+$)/, "").replace("-", "−");
// What chance alone may have made has no number.
const shownStrength = (k, digits = 3) => (pairs.found[k] ? fixed(strength[k], digits) : "·");
const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
function probability(log10) {
  if (log10 === null || log10 === undefined) return "–";
  if (log10 >= -3) return (10 ** log10).toFixed(3);
  if (log10 < -300) return "<1e-300";
  let exponent = Math.floor(log10), digit = Math.round(10 ** (log10 - exponent));
  if (digit === 10) { digit = 1; exponent += 1; }
  return `${digit}e${exponent}`;
}
const compact = (value) => {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(1).replace("e+", "e").replace("-", "−");
  return String(Number(value.toPrecision(6))).replace("-", "−");
};

// The pair that speaks for a pair: itself, unless it is one of columns that are nearly the same.
const speakers = new Map(report.folded), signs = new Map(report.signs);
const speakerOf = (k) => speakers.get(k) ?? k;
const signOf = (k) => signs.get(k) ?? "";

// Colours come from the style sheet, so that a theme has one place.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
function ramp() {
  const stops = colour("ramp").split(",").map((stop) => rgb(stop.trim()));
  return (share) => {
    const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
    return stops[low].map((value, channel) => value + (at - low) * (stops[low + 1][channel] - value));
  };
}

// Links. A comma separates the names, so commas within them are encoded.
const wellFormed = (name) => name.replace(/[\ud800-\udfff]/gu, "\ufffd");
const encoded = (name) =>
  encodeURIComponent(wellFormed(name)).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const linkTo = (k) => `#pair=${encoded(columns[pairs.x[k]].name)},${encoded(columns[pairs.y[k]].name)}`;
function pairOf(hash) {
  if (!hash.startsWith("#pair=")) return null;
  const text = hash.slice(6);
  for (let comma = text.indexOf(","); comma >= 0; comma = text.indexOf(",", comma + 1)) {
    let first, second;
    try { [first, second] = [text.slice(0, comma), text.slice(comma + 1)].map(decodeURIComponent); } catch { continue; }
    const found = pairNamed(first, second) ?? pairNamed(second, first);
    if (found !== null) return found;
  }
  return null;
}
function pairNamed(first, second) {
  const is = (column, name) => wellFormed(columns[column].name) === name;
  for (let k = 0; k < nPairs; k++) if (is(pairs.x[k], first) && is(pairs.y[k], second)) return k;
  return null;
}
