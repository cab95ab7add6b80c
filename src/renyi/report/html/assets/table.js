// The table of pairs: a page of rows at a time, whatever their number, so that sorting and searching stay quick.
const ROWS_SHOWN = 50;
const FIELDS = [
  { key: "missed", label: "◆", title: "missed by linear coefficients", has: () => pairs.missed.includes(1), values: () => pairs.missed, show: (k) => (pairs.missed[k] ? make("span", { class: "mark", role: "img", "aria-label": "missed by linear coefficients" }, "◆") : "") },
  { key: "x", label: report.kind === "screening" ? "column" : "x", name: true, values: () => places(pairs.x), show: (k) => make("a", { href: linkTo(k), "aria-label": `Show ${pairName(k)}`, title: columns[pairs.x[k]].name }, nameOf(pairs.x[k])) },
  { key: "y", label: "y", name: true, has: () => report.kind !== "screening", values: () => places(pairs.y), show: partner },
  { key: "strength", label: report.value, number: true, values: () => strength, show: withBar },
  { key: "coefficient", label: "coefficient", number: true, minor: true, values: () => pairs.coefficient, show: (k) => fixed(pairs.coefficient[k]) },
  { key: "pearson", label: "Pearson", number: true, minor: true, has: () => pairs.pearson, values: () => sizes(pairs.pearson), show: (k) => fixed(pairs.pearson[k], 2) },
  { key: "spearman", label: "Spearman", number: true, minor: true, has: () => pairs.spearman, values: () => sizes(pairs.spearman), show: (k) => fixed(pairs.spearman[k], 2) },
  { key: "p", label: "p", number: true, minor: true, ascends: true, has: () => report.has_tests, values: () => pairs.log10_p, show: (k) => probability(pairs.log10_p[k]) },
  { key: "q", label: "q", number: true, ascends: true, has: () => report.has_tests, values: () => pairs.log10_q, show: (k) => probability(pairs.log10_q[k]) },
  { key: "n", label: "rows", number: true, minor: true, values: () => pairs.n, show: (k) => grouped(pairs.n[k]) },
  { key: "type", label: "types", minor: true, least: true, name: true, values: () => typeNames().map((name) => typeOrder().indexOf(name)), show: (k) => typeName(k) },
  { key: "remark", label: "remark", name: true, has: () => pairs.remark?.some(Boolean), values: () => pairs.remark.map((text) => (text ? 1 : 0)), show: (k) => pairs.remark[k] },
].filter((field) => !field.has || field.has());

const typeName = (k) => `${columns[pairs.x[k]].type}, ${columns[pairs.y[k]].type}`;
const typeNames = () => pairs.x.map((_, k) => typeName(k));
const typeOrder = remembered(() => [...new Set(typeNames())].sort());
const sizes = (values) => values.map((value) => (value === null ? null : Math.abs(value)));
function remembered(make) { let made; return () => (made ??= make()); }
// Columns in the order of the alphabet, numbers in names by their size.
const alphabet = remembered(() => {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const order = columns.map((_, k) => k).sort((a, b) => compare(columns[a].label, columns[b].label)), place = new Int32Array(order.length);
  order.forEach((column, k) => { place[column] = k; });
  return place;
});
const places = (side) => side.map((column) => alphabet()[column]);
function withBar(k) {
  const cell = make("span", {}), bar = make("span", { class: "bar", "aria-hidden": "true" });
  bar.style.width = `${(Math.max(0, Math.min(1, (pairs.found[k] ? strength[k] : 0) / (report.heatmap?.scale ?? 1))) * 3).toFixed(2)}rem`;
  cell.append(bar, shownStrength(k));
  return cell;
}

// The second name, after the sign for what it is to the first; and a button for the pairs that are told with this one.
const isFolded = () => speakers.size > 0 && !byId("unfold").checked;
function partner(k) {
  const folded = isFolded(), sign = folded && signOf(k), told = (folded && table.told.get(k)) || [];
  const link = make("a", { href: linkTo(k), tabindex: -1, title: columns[pairs.y[k]].name }, nameOf(pairs.y[k]));
  const isOpen = table.opened.has(speakerOf(k)), words = `${grouped(told.length)} more`;
  const more = () => { if (isOpen) table.opened.delete(speakerOf(k)); else table.opened.add(speakerOf(k)); refresh(true); byId("table").querySelector(`[data-line="${k}"]`)?.focus(); };
  const button = told.length ? make("button", { type: "button", class: "more", "data-line": k, "aria-expanded": String(isOpen), "aria-label": `${isOpen ? "Hide" : "Show"} ${words} like ${pairName(k)}`, onclick: more }, isOpen ? "less" : `+${grouped(told.length)}`) : null;
  return make("span", {}, sign ? make("span", { class: "sign", title: sign === "=" ? "nearly the same" : "all of them agree in some level" }, `${sign} `) : null, link, button ? " " : null, button);
}

// `told` has the pairs that are told with the one that is shown, `opened` the lines that a reader has opened.
const table = { field: null, descends: false, page: 0, shown: null, told: new Map(), opened: new Set() };

function pairTable() {
  const head = byId("table").tHead, heads = FIELDS.map((field) => {
    const button = make("button", { type: "button", title: field.title }, field.label, make("span", { "aria-hidden": "true" }, ""));
    const cell = make("th", { scope: "col", class: [field.number && "number", field.minor && "minor", field.least && "least"].filter(Boolean).join(" ") || null }, button);
    button.addEventListener("click", () => {
      table.descends = table.field === field ? !table.descends : !(field.ascends || field.name);
      table.field = field;
      refresh();
    });
    return cell;
  });
  head.replaceChildren(make("tr", {}, ...heads));
  table.heads = heads;
  let waiting = 0;
  byId("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => refresh(), 60); });
  for (const id of ["only-found", "only-missed", "unfold"]) byId(id)?.addEventListener("change", () => refresh());
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("download").addEventListener("click", download);
  refresh();
}

function refresh(stays = false) {
  table.fitting = chosen();
  table.shown = opened(sorted(folded(table.fitting)));
  if (!stays) table.page = 0;
  fill();
}

// Of every line one pair: the one that speaks for it if it is among those that fit, else the first that is.
function folded(kept) {
  table.told.clear();
  if (!isFolded()) return kept;
  const fits = new Set(kept), shownBy = new Map();
  for (const k of kept) if (!shownBy.has(speakerOf(k))) shownBy.set(speakerOf(k), fits.has(speakerOf(k)) ? speakerOf(k) : k);
  for (const k of kept) {
    const shown = shownBy.get(speakerOf(k));
    if (shown !== k) table.told.set(shown, [...(table.told.get(shown) ?? []), k]);
  }
  return [...shownBy.values()];
}
const opened = (lines) => (table.opened.size ? lines.flatMap((k) => (table.opened.has(speakerOf(k)) ? [k, ...(table.told.get(k) ?? [])] : [k])) : lines);

// Every word must be part of one of the two names.
function chosen() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const whole = byId("search").value.trim().toLowerCase();
  const has = (word) => columns.map(({ name, label }) => name.toLowerCase().includes(word) || label.toLowerCase().includes(word));
  // A name with blanks that is typed in full is one word.
  const hits = columns.some(({ label }) => label.toLowerCase() === whole) ? [has(whole)] : words.map(has);
  const [onlyFound, onlyMissed] = ["only-found", "only-missed"].map((id) => byId(id)?.checked);
  const kept = [];
  for (let k = 0; k < nPairs; k++) {
    if ((onlyFound && !pairs.found[k]) || (onlyMissed && !pairs.missed[k])) continue;
    if (hits.every((hit) => hit[pairs.x[k]] || hit[pairs.y[k]])) kept.push(k);
  }
  return kept;
}

function sorted(kept) {
  if (!table.field) return kept; // as they come, strongest first, findings before others
  const values = table.field.values(), sign = table.descends ? -1 : 1;
  // What is not known comes last either way.
  const key = Float64Array.from(values, (value) => (value === null ? Infinity : sign * value));
  return kept.sort((a, b) => (key[a] === key[b] ? a - b : key[a] < key[b] ? -1 : 1));
}

function fill() {
  const { shown, page } = table, start = page * ROWS_SHOWN, rows = shown.slice(start, start + ROWS_SHOWN);
  const cells = (k) => FIELDS.map((field) => make("td", { class: [field.number && "number", field.minor && "minor", field.least && "least", field.name && (field.key === "type" ? "type" : "name")].filter(Boolean).join(" ") || null }, field.show(k)));
  byId("table").tBodies[0].replaceChildren(...rows.map((k) => make("tr", { class: pairs.found[k] ? null : "pale" }, ...cells(k))));
  FIELDS.forEach((field, at) => {
    const isSorted = table.field === field;
    table.heads[at].setAttribute("aria-sort", isSorted ? (table.descends ? "descending" : "ascending") : "none");
    table.heads[at].querySelector("span").textContent = isSorted ? (table.descends ? " ▼" : " ▲") : "";
  });
  const nPages = Math.max(1, Math.ceil(shown.length / ROWS_SHOWN));
  const nFolded = isFolded() ? table.fitting.length - shown.length : 0;
  const inAll = shown.length < nPairs ? ` (${grouped(nPairs)} in all${nFolded ? `, ${grouped(nFolded)} of them folded into others: columns that are nearly the same are listed once` : ""})` : "";
  byId("shown").textContent = shown.length ? `${grouped(start + 1)} to ${grouped(start + rows.length)} of ${grouped(shown.length)} pairs${inAll}` : "No pair matches.";
  byId("page").textContent = `Page ${grouped(page + 1)} of ${grouped(nPages)}`;
  byId("previous").disabled = page === 0;
  byId("next").disabled = page >= nPages - 1;
}
function turn(by) {
  table.page += by;
  fill();
  byId("pairs").scrollIntoView();
}

// A spreadsheet takes a text that starts with one of these for a formula, unless a quote stands before it.
const guarded = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
function csv() {
  const parts = { strength, coefficient: pairs.coefficient, debiased: pairs.debiased, pearson: pairs.pearson, spearman: pairs.spearman, log10_p: pairs.log10_p, log10_q: pairs.log10_q, n: pairs.n, nonlinear: pairs.missed, remark: pairs.remark };
  const kept = Object.entries(parts).filter(([, values]) => values);
  const power = (log) => (log === null ? "" : log < -307 ? "0" : (10 ** log).toPrecision(3));
  const cell = (name, value) => (name.startsWith("log10") ? power(value) : value === null ? "" : quoted(String(value)));
  const lines = [["x", "y", ...kept.map(([name]) => name.replace("log10_", "")), "type_x", "type_y"].join(",")];
  // A program that reads them wants all of them.
  for (const k of sorted([...table.fitting])) {
    const [x, y] = [columns[pairs.x[k]], columns[pairs.y[k]]];
    lines.push([quoted(guarded(x.name)), quoted(guarded(y.name)), ...kept.map(([name, values]) => cell(name, values[k])), x.type, y.type].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
function download() {
  const address = URL.createObjectURL(new Blob(["\ufeff", csv()], { type: "text/csv;charset=utf-8" }));
  make("a", { href: address, download: "pairs.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
