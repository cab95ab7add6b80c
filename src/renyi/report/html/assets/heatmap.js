// The matrix on a canvas: one pixel a cell in a small picture, which is scaled, so that 500 columns draw at once.
const MOST_MARKED = 40;
function heatmap() {
  const { rows, columns: across, scale } = report.heatmap;
  const canvas = byId("map"), tip = byId("map-tip"), live = byId("map-live");
  const nRows = rows.length, nColumns = across.length;
  const rowAt = new Map(rows.map((column, k) => [column, k])), columnAt = new Map(across.map((column, k) => [column, k]));
  const pairAt = new Int32Array(nRows * nColumns).fill(-1);
  for (let k = 0; k < nPairs; k++) {
    for (const [a, b] of [[pairs.x[k], pairs.y[k]], [pairs.y[k], pairs.x[k]]]) {
      if (rowAt.has(a) && columnAt.has(b)) pairAt[rowAt.get(a) * nColumns + columnAt.get(b)] = k;
    }
  }
  // Of one table each pair has one cell, below the diagonal.
  const isSquare = report.kind === "matrix", isShown = (row, column) => !isSquare || column < row;
  const marks = marked(), view = { zoom: 1, left: 0, top: 0, row: -1, column: -1 };
  let box = null, picture = null;

  const DETAIL = 6; // pixels from which cells are drawn apart
  function cellsOf() {
    if (picture) return picture;
    const image = document.createElement("canvas");
    image.width = nColumns; image.height = nRows;
    const context = image.getContext("2d"), cells = context.createImageData(nColumns, nRows);
    const shade = ramp(), paper = rgb(colour("paper")), unknown = rgb(colour("grey")), panel = rgb(colour("panel"));
    for (let at = 0; at < pairAt.length; at++) {
      const k = pairAt[at], [row, column] = [Math.floor(at / nColumns), at % nColumns];
      let cell = rows[row] === across[column] ? panel : isShown(row, column) ? unknown : paper;
      if (isShown(row, column) && k >= 0 && strength[k] !== null) {
        cell = shade(strength[k] / scale);
        if (!pairs.found[k]) cell = cell.map((value, channel) => value + 0.7 * (paper[channel] - value));
      }
      cells.data.set([...cell, 255], 4 * at);
    }
    context.putImageData(cells, 0, 0);
    return (picture = image);
  }

  // What is rare is marked in full. Where much is missed by linear coefficients, the strongest of it are, near-copies once.
  function marked() {
    const places = (k) => [[pairs.x[k], pairs.y[k]], [pairs.y[k], pairs.x[k]]].filter(([a, b]) => rowAt.has(a) && columnAt.has(b))
      .map(([a, b]) => [rowAt.get(a), columnAt.get(b)]).filter(([row, column]) => isShown(row, column));
    const all = [], few = [];
    for (let k = 0; k < nPairs; k++) {
      if (!pairs.missed[k]) continue;
      all.push(...places(k));
      if (few.length < MOST_MARKED && speakerOf(k) === k) few.push(...places(k));
    }
    return all.length <= MOST_MARKED ? { all, few: all } : { all, few };
  }
  const showsAll = () => Boolean(byId("all-marks")?.checked);

  function measure(context, width) {
    context.font = "12px system-ui, sans-serif";
    const longest = (some) => Math.max(...some.map((column) => context.measureText(tight(column)).width));
    const left = Math.min(longest(rows) + 12, 0.33 * width), below = Math.min(longest(across) + 12, 0.3 * width);
    const cell = Math.min((width - left - 2) / nColumns, (0.95 * width - below) / nRows, 64);
    return { width, height: Math.ceil(below + cell * nRows + 4), left, top: 2, below, cell, wide: cell * nColumns, tall: cell * nRows };
  }

  function draw() {
    const width = canvas.parentElement.clientWidth;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
    box = measure(context, width);
    canvas.width = Math.round(box.width * ratio); canvas.height = Math.round(box.height * ratio);
    canvas.style.height = `${box.height}px`;
    context.scale(ratio, ratio);
    const cell = box.cell * view.zoom;
    view.left = Math.min(Math.max(view.left, 0), nColumns * cell - box.wide);
    view.top = Math.min(Math.max(view.top, 0), nRows * cell - box.tall);
    context.save();
    context.beginPath(); context.rect(box.left, box.top, box.wide, box.tall); context.clip();
    context.imageSmoothingEnabled = false;
    context.drawImage(cellsOf(), box.left - view.left, box.top - view.top, nColumns * cell, nRows * cell);
    if (cell >= DETAIL) drawDetail(context, cell);
    drawMarks(context, cell);
    if (view.row >= 0) {
      context.strokeStyle = colour("ink"); context.lineWidth = 2;
      context.strokeRect(box.left - view.left + view.column * cell, box.top - view.top + view.row * cell, cell, cell);
    }
    context.restore();
    drawNames(context, cell);
    canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
  }

  const NUMBERED = 30;
  function drawDetail(context, cell) {
    const first = { row: Math.floor(view.top / cell), column: Math.floor(view.left / cell) };
    const last = { row: Math.min(nRows, Math.ceil((view.top + box.tall) / cell)), column: Math.min(nColumns, Math.ceil((view.left + box.wide) / cell)) };
    context.strokeStyle = colour("paper"); context.lineWidth = 1; context.beginPath();
    for (let row = first.row; row <= last.row; row++) { const y = box.top - view.top + row * cell; context.moveTo(box.left, y); context.lineTo(box.left + box.wide, y); }
    for (let column = first.column; column <= last.column; column++) { const x = box.left - view.left + column * cell; context.moveTo(x, box.top); context.lineTo(x, box.top + box.tall); }
    context.stroke();
    if (cell < NUMBERED) return;
    const shade = ramp();
    context.textAlign = "center"; context.textBaseline = "middle"; context.font = `${Math.min(12, cell / 3)}px system-ui, sans-serif`;
    for (let row = first.row; row < last.row; row++) for (let column = first.column; column < last.column; column++) {
      const k = pairAt[row * nColumns + column];
      if (!isShown(row, column) || k < 0 || strength[k] === null || !pairs.found[k]) continue;
      context.fillStyle = inkOn(shade(strength[k] / scale));
      context.fillText(fixed(strength[k], 2), box.left - view.left + (column + 0.5) * cell, box.top - view.top + (row + 0.5) * cell);
    }
  }

  // However small the cells are, a diamond stays large enough to be seen as one, unless all are asked for.
  function drawMarks(context, cell) {
    const withNumbers = cell >= NUMBERED, size = withNumbers ? Math.min(6, 0.13 * cell) : Math.max(showsAll() ? 1.5 : 4, 0.3 * cell);
    context.fillStyle = colour("mark"); context.strokeStyle = colour("paper"); context.lineWidth = 1;
    for (const [row, column] of showsAll() ? marks.all : marks.few) {
      const x = box.left - view.left + (column + 0.5) * cell, y = box.top - view.top + (row + 0.5) * cell;
      const [a, b] = withNumbers ? [x + 0.5 * cell - size - 2, y - 0.5 * cell + size + 2] : [x, y];
      context.beginPath(); context.moveTo(a, b - size); context.lineTo(a + size, b); context.lineTo(a, b + size); context.lineTo(a - size, b); context.closePath();
      context.fill();
      if (size >= 3) context.stroke();
    }
  }

  // Names that do not fit between their neighbours are left out, every second or third.
  function drawNames(context, cell) {
    const size = Math.min(12, Math.max(9, cell)), every = Math.max(1, Math.ceil((size + 1) / cell));
    context.font = `${size}px system-ui, sans-serif`; context.fillStyle = colour("ink"); context.textBaseline = "middle"; context.textAlign = "right";
    const fit = (column, room) => { let n = 24, cut = tight(column); while (n > 3 && context.measureText(cut).width > room) cut = tight(column, --n); return isolated(cut); };
    for (let row = 0; row < nRows; row += every) {
      const y = box.top - view.top + (row + 0.5) * cell;
      if (y > box.top - 1 && y < box.top + box.tall + 1) context.fillText(fit(rows[row], box.left - 8), box.left - 5, y);
    }
    for (let column = 0; column < nColumns; column += every) {
      const x = box.left - view.left + (column + 0.5) * cell;
      if (x < box.left - 1 || x > box.left + box.wide + 1) continue;
      context.save(); context.translate(x, box.top + box.tall + 5); context.rotate(-Math.PI / 2);
      context.fillText(fit(across[column], box.below - 8), 0, 0); context.restore();
    }
  }

  function zoomBy(factor, x = box.left + box.wide / 2, y = box.top + box.tall / 2) {
    const most = Math.max(1, 60 / box.cell), before = view.zoom;
    view.zoom = Math.min(Math.max(view.zoom * factor, 1), most);
    const grown = view.zoom / before;
    view.left = (view.left + x - box.left) * grown - (x - box.left);
    view.top = (view.top + y - box.top) * grown - (y - box.top);
    draw();
  }

  const said = (row, column) => {
    const k = pairAt[row * nColumns + column];
    if (rows[row] === across[column]) return [columns[rows[row]].label, "a column with itself"];
    if (k < 0) return [`${columns[rows[row]].label} and ${columns[across[column]].label}`, "not measured"];
    if (!pairs.found[k]) return [pairName(k), "no finding", `q ${probability(pairs.log10_q[k])}`];
    return [pairName(k), `${report.value} ${fixed(strength[k])}${pairs.pearson ? `, Pearson ${fixed(pairs.pearson[k], 2)}, Spearman ${fixed(pairs.spearman[k], 2)}` : ""}`,
      report.has_tests ? `q ${probability(pairs.log10_q[k])}` : "", pairs.missed[k] ? "◆ missed by linear coefficients" : ""].filter(Boolean);
  };
  const cellOf = (cell) => (isShown(cell.row, cell.column) || cell.row === cell.column ? cell : null);
  function cellAt(event) {
    const place = canvas.getBoundingClientRect(), cell = box.cell * view.zoom;
    const x = event.clientX - place.left - box.left, y = event.clientY - place.top - box.top;
    if (x < 0 || y < 0 || x >= box.wide || y >= box.tall) return null;
    return cellOf({ row: Math.floor((y + view.top) / cell), column: Math.floor((x + view.left) / cell), x: event.clientX - place.left, y: event.clientY - place.top });
  }
  function showTip(cell) {
    tip.hidden = !cell;
    if (!cell) return;
    const [name, ...lines] = said(cell.row, cell.column);
    tip.replaceChildren(make("b", {}, name), ...lines.map((line) => make("div", {}, line)));
    tip.style.left = `${Math.min(cell.x + 14, Math.max(0, box.width - tip.offsetWidth))}px`;
    tip.style.top = `${cell.y + 18}px`;
  }
  const open = (row, column) => { const k = pairAt[row * nColumns + column]; if (k >= 0) location.hash = linkTo(k); };

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, left: view.left, top: view.top, moved: false }; });
  canvas.addEventListener("pointermove", (event) => {
    if (drag && view.zoom > 1) {
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) > 5) { drag.moved = true; canvas.setPointerCapture(event.pointerId); }
      if (drag.moved) { view.left = drag.left - dx; view.top = drag.top - dy; showTip(null); draw(); return; }
    }
    showTip(event.pointerType === "touch" ? null : cellAt(event));
  });
  canvas.addEventListener("pointerup", (event) => {
    const cell = cellAt(event), wasDragged = drag && drag.moved;
    drag = null;
    if (cell && !wasDragged) open(cell.row, cell.column);
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => showTip(null));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    const place = canvas.getBoundingClientRect();
    zoomBy(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - place.left, event.clientY - place.top);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "+" || event.key === "=") zoomBy(1.5);
    else if (event.key === "-") zoomBy(1 / 1.5);
    else if (event.key === "0") reset();
    else if (event.key === "Enter" && view.row >= 0) open(view.row, view.column);
    else if (moves[event.key]) {
      const [down, right] = moves[event.key], cell = box.cell * view.zoom;
      const next = view.row < 0 ? { row: isSquare ? 1 : 0, column: 0 } : { row: view.row + down, column: view.column + right };
      if (next.row >= 0 && next.row < nRows && next.column >= 0 && next.column < nColumns && isShown(next.row, next.column)) Object.assign(view, next);
      view.left = Math.min(Math.max(view.left, (view.column + 1) * cell - box.wide), view.column * cell);
      view.top = Math.min(Math.max(view.top, (view.row + 1) * cell - box.tall), view.row * cell);
      live.textContent = said(view.row, view.column).join(", ");
      draw();
      showTip({ row: view.row, column: view.column, x: box.left - view.left + (view.column + 1) * cell, y: box.top - view.top + (view.row + 1) * cell - 14 });
    } else return;
    event.preventDefault();
  });
  canvas.addEventListener("blur", () => { view.row = view.column = -1; showTip(null); draw(); });
  const reset = () => { Object.assign(view, { zoom: 1, left: 0, top: 0 }); draw(); };
  byId("zoom-in").addEventListener("click", () => zoomBy(1.6));
  byId("zoom-out").addEventListener("click", () => zoomBy(1 / 1.6));
  byId("zoom-reset").addEventListener("click", reset);
  canvas.setAttribute("aria-label", `Heatmap of ${nRows} by ${nColumns} columns. Arrow keys move from cell to cell, Enter opens a pair, plus and minus zoom. The table of pairs below has the same numbers.`);

  drawings.push(() => { picture = null; draw(); drawLegend(scale, marks, showsAll()); });
  byId("all-marks")?.addEventListener("change", () => { draw(); drawLegend(scale, marks, showsAll()); });
}

function drawLegend(scale, { all, few }, showsAll) {
  const shade = ramp(), bar = make("svg", { viewBox: "0 0 24 1", preserveAspectRatio: "none" });
  for (let k = 0; k < 24; k++) bar.append(make("rect", { x: k, y: 0, width: 1.05, height: 1, fill: `rgb(${shade((k + 0.5) / 24).map(Math.round).join(",")})` }));
  byId("legend").replaceChildren("0", bar, compact(scale), ` ${report.value}`);
  const said = few.length === all.length || showsAll ? "what linear coefficients miss" : `the ${few.length} strongest of ${grouped(all.length)} that linear coefficients miss`;
  byId("marks-legend").replaceChildren(...(all.length ? [make("span", { class: "mark" }, "◆ "), said] : []));
  byId("marks-switch").hidden = few.length === all.length;
}

// Black or white, whichever stands out more: at least 4.5 to 1 on any colour.
function inkOn(cell) {
  const [r, g, b] = cell.map((value) => { const share = value / 255; return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}
