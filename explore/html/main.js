// The head of the page, its theme, and the start.

function drawHead() {
  const name = shortened(exploration.name, 200);
  document.title = `${name} - Tilewright exploration`;
  byId("name").textContent = name;
  byId("summary").textContent = visible(exploration.summary);
  const notes = [exploration.tier === "simulated"
    ? "Cycles, latency and energy are simulated; cycles of the analytical tier stand beside them."
    : "All figures are those of the analytical tier."];
  if (exploration.tier === "simulated")
    notes.push(exploration.check === "none" ? "Values were not checked." : `Values of each point were checked against the base (${exploration.check}).`);
  notes.push(`Technology ${visible(exploration.technology.name)}: ${visible(exploration.technology.summary)} Areas are by formula.`);
  byId("notes").append(...notes.map(note => html("li", {}, note)));
  const all = points.filter(point => !point.base), done = all.filter(point => point.status === "done");
  byId("figures").append(
    figure("Points", count(all.length), `${count(done.length)} done, ${count(all.length - done.length)} not`),
    figure("On the front", count(points.filter(point => point.front).length), "of all networks"),
    ...Object.entries(exploration.rank_correlation).map(([workload, correlation]) =>
      figure("Rank correlation", ratio(correlation, 3), `of the tiers, ${shortened(workload, 40)}`)));
}

function startTheme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = theme => {
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  };
  apply(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => apply(dark.matches ? "dark" : "light"));
  byId("theme").onclick = () => apply(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

startTheme();
drawHead();
startFront();
startStalls();
startLayers();
startPoints();
choose(firstChoice());
let drawnWidth = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === drawnWidth) return;
  drawnWidth = window.innerWidth;
  requestAnimationFrame(() => choose(state.point));
});
document.documentElement.dataset.ready = "yes";
