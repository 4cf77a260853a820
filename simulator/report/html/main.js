// The head of the page, its theme, and the start.

function figure(title, text, small) {
  return html("div", {}, html("dt", {}, title), html("dd", {}, text, html("small", {}, small || "\u00a0")));
}

function drawHead() {
  const program = shortened(report.program, 200);
  document.title = `${program} - Tilewright report`;
  byId("program").textContent = program;
  byId("machine").textContent =
    `on ${[report.target, ...report.overlays].map(each => shortened(each, 120)).join(" + ")} (${report.isa}, hash ${report.isa_hash.slice(0, 12)}), ` +
    `engine ${report.engine}, DRAM ${report.dram}, ${count(report.clock_hz / 1e6)} MHz`;
  const notes = [];
  if (report.stopped) notes.push("A limit ended the run: the figures are those of a part.");
  if (report.runs > 1) notes.push(`${count(report.runs)} samples: the figures are those of the first.`);
  if (report.random_inputs.length > 0)
    notes.push(`Random data in ${report.random_inputs.map(name => shortened(name, 60)).join(", ")} (seed ${report.seed}).`);
  if (report.estimate_of_other_timing) notes.push("The estimates were made for other timing than this run's.");
  byId("notes").append(...notes.map(note => html("li", {}, note)));
  const {roofline} = report;
  const error = report.estimate_error === null ? "" : `estimate ${count(report.estimate_cycles)} (${percent(report.estimate_error)})`;
  byId("figures").append(
    figure("Cycles", count(report.cycles), error),
    figure("Time", (report.seconds * 1e3).toFixed(3) + " ms", `at ${count(report.clock_hz / 1e6)} MHz`),
    figure("Utilization", percent(report.utilization), `${count(report.macs)} MACs, ${count(report.macs_per_cycle)} a cycle at peak`),
    figure("Times bound", ratio(roofline.times_bound, 2), `bound ${count(roofline.bound_cycles)}, by ${roofline.bound_by}`),
    figure("DRAM", bytes(report.dram_read_bytes + report.dram_write_bytes + report.fetch_bytes),
      `read ${bytes(report.dram_read_bytes)}, written ${bytes(report.dram_write_bytes)}, instructions ${bytes(report.fetch_bytes)}`),
    figure("On chip", bytes(report.memory.scratchpad_peak_bytes),
      `of ${bytes(report.memory.scratchpad_bytes)}; accumulators ${bytes(report.memory.accumulator_peak_bytes)} of ${bytes(report.memory.accumulator_bytes)}`),
    figure("Instructions", count(report.instructions), `${layers.length} layers`));
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

function drawAll() {
  for (const draw of new Set([...onWindow, ...onLayer])) draw();
}

startTheme();
drawHead();
startTimeline();
startMemory();
startRoofline();
startStalls();
startLayers();
drawAll();
let drawnWidth = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === drawnWidth) return;
  drawnWidth = window.innerWidth;
  requestAnimationFrame(drawAll);
});
document.documentElement.dataset.ready = "yes";
