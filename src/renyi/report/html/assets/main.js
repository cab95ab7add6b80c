// Start: the parts, the theme, links to pairs, and printing.
const root = document.documentElement;
root.classList.add("live");
const redraw = () => drawings.forEach((draw) => draw());

// The theme: as the system has it until a reader chooses; a browser that keeps nothing for files forgets the choice.
const THEMES = ["system", "light", "dark"];
const system = matchMedia("(prefers-color-scheme: dark)");
const kept = { get: () => { try { return localStorage.getItem("renyi-theme"); } catch { return null; } }, set: (value) => { try { localStorage.setItem("renyi-theme", value); } catch { /* nothing is kept */ } } };
let theme = THEMES.includes(kept.get()) ? kept.get() : THEMES[0];
function applyTheme() {
  root.dataset.theme = theme === THEMES[0] ? (system.matches ? "dark" : "light") : theme;
  byId("theme").textContent = `Theme: ${theme}`;
  redraw();
}
byId("theme").hidden = false;
byId("theme").addEventListener("click", () => { theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]; kept.set(theme); applyTheme(); });
system.addEventListener("change", applyTheme);
// Paper is white: canvases are drawn again for it.
matchMedia("print").addEventListener("change", redraw);

pictures();
pairTable();
if (report.heatmap) heatmap();
if (report.network) network();
if (report.kind === "screening") bars();
applyTheme();

let width = window.innerWidth, waiting = 0;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return; // a phone's address bar changes the height alone
  width = window.innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(redraw, 100);
});

// The address names the pair that is open.
function follow() {
  const k = pairOf(location.hash);
  if (k !== null) showPair(k);
  else if (byId("pair").open) byId("pair").close();
}
byId("pair").addEventListener("close", () => {
  // The event comes a moment later, when the address may name the next pair already.
  if (byId("pair").open) return;
  if (pairOf(location.hash) === current) history.replaceState(null, "", location.pathname + location.search);
  // Back to where the reader came from, without a jump.
  if (opener?.isConnected) opener.focus({ preventScroll: true });
});
byId("pair").addEventListener("click", (event) => { if (event.target === byId("pair")) byId("pair").close(); });
window.addEventListener("hashchange", follow);
follow();
