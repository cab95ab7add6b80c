// The strongest dependences as a network, or against one target as bars.
function network() {
  const { nodes, edges } = report.network, target = byId("net");
  const placeOf = new Map(nodes.map((node) => [node.column, node]));
  drawings.push(() => {
    const width = Math.max(300, target.clientWidth), height = Math.min(Math.max(0.9 * width, 480), 720);
    const [sideX, sideY] = [Math.min(90, 0.16 * width), 26];
    const at = ({ x, y }) => [sideX + x * (width - 2 * sideX), sideY + y * (height - 2 * sideY - 10)];
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Network of the strongest dependences" });
    // The strongest are drawn last, above the others.
    for (const k of [...edges].reverse()) {
      const [x1, y1] = at(placeOf.get(pairs.x[k])), [x2, y2] = at(placeOf.get(pairs.y[k])), share = Math.max(0, strength[k] / report.heatmap.scale);
      const said = `${pairName(k)}: ${fixed(strength[k])}${pairs.missed[k] ? ", missed by linear coefficients" : ""}`;
      svg.append(make("a", { isSvg: true, href: linkTo(k), "aria-label": said },
        make("title", {}, said), make("line", { x1, y1, x2, y2, class: "hit" }),
        make("line", { x1, y1, x2, y2, class: pairs.missed[k] ? "edge missed" : "edge", "stroke-width": (0.8 + 5 * share ** 2).toFixed(1), "stroke-opacity": (0.3 + 0.6 * share).toFixed(2) })));
    }
    const taken = nodes.map((node) => { const [x, y] = at(node); return [x - 8, y - 8, x + 8, y + 8]; });
    for (const node of nodes) {
      const [x, y] = at(node), label = columns[node.column].label, written = tight(node.column, width < 500 ? 14 : 18);
      const list = () => { byId("search").value = label; byId("search").dispatchEvent(new Event("input")); byId("pairs").scrollIntoView(); };
      svg.append(make("g", { class: "node", tabindex: 0, role: "button", "aria-label": `List the pairs of ${isolated(label)}`, onclick: list,
        onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); list(); } } },
        make("title", {}, columns[node.column].name), make("circle", { cx: x, cy: y, r: 6 }),
        make("text", freePlace(x, y, 7.4 * Array.from(written).length, taken, width), isolated(written))));
    }
    target.replaceChildren(svg);
  });
}

// Where a name covers least of what is there already: above, below, or beside its node.
function freePlace(x, y, long, taken, width) {
  const places = [[x, y - 11, "middle"], [x, y + 21, "middle"], [x + 11, y + 4, "start"], [x - 11, y + 4, "end"]];
  let best = null;
  for (const [left, base, anchor] of places) {
    const wanted = left - (anchor === "middle" ? long / 2 : anchor === "end" ? long : 0);
    const start = Math.max(2, Math.min(wanted, width - long - 2)), own = [start, base - 11, start + long, base + 3];
    const covered = (other) => Math.max(0, Math.min(own[2], other[2]) - Math.max(own[0], other[0])) * Math.max(0, Math.min(own[3], other[3]) - Math.max(own[1], other[1]));
    const cost = taken.reduce((sum, other) => sum + covered(other), 0);
    if (!best || cost < best.cost - 1) best = { cost, own, place: { x: left + start - wanted, y: base, "text-anchor": anchor } };
  }
  taken.push(best.own);
  return best.place;
}

const MOST_BARS = 30;
function bars() {
  const target = byId("bars"), shown = [];
  for (let k = 0; k < nPairs && shown.length < MOST_BARS; k++) if (strength[k] !== null) shown.push(k);
  drawings.push(() => {
    const width = Math.min(960, Math.max(300, target.clientWidth)), step = 26, left = Math.min(190, 0.38 * width);
    const most = report.measure === "rdc" ? 1 : Math.max(1e-9, ...shown.map((k) => strength[k]));
    const long = (value) => (Math.max(0, value) / most) * (width - left - 70);
    const svg = make("svg", { viewBox: `0 0 ${width} ${step * shown.length + 4}`, role: "group", "aria-label": "Strongest columns" });
    shown.forEach((k, line) => {
      const y = line * step + 4, label = columns[pairs.x[k]].label, linear = pairs.pearson ? Math.max(Math.abs(pairs.pearson[k] ?? 0), Math.abs(pairs.spearman[k] ?? 0)) : 0;
      const link = make("a", { isSvg: true, href: linkTo(k), "aria-label": `${isolated(label)}: ${pairs.found[k] ? fixed(strength[k]) : "no finding"}` },
        make("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, isolated(tight(pairs.x[k], Math.floor(left / 7.5)))),
        make("rect", { x: left, y: y + 2, width: Math.max(1, long(strength[k])), height: step - 8, class: pairs.missed[k] ? "score" : "strong", "fill-opacity": pairs.found[k] ? 1 : 0.35 }),
        make("text", { x: left + long(strength[k]) + 6, y: y + 15 }, `${shownStrength(k, 2)}${pairs.missed[k] ? " ◆" : ""}`));
      if (linear && pairs.found[k]) link.append(make("path", { class: "whisker", d: `M${left + long(linear)} ${y}v${step - 4}` }));
      svg.append(link);
    });
    target.replaceChildren(svg);
  });
}
