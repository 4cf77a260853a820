// What the cycles of a unit went to, stacked, for the fastest points.

const causes = ["semaphore", "dram", "acc_port", "spad_port", "dependence", "fetch", "queue_full"];
const causeTexts = {
  busy: "working", semaphore: "another unit", dram: "DRAM", acc_port: "accumulator port", spad_port: "scratchpad port",
  dependence: "own earlier work", fetch: "instructions", queue_full: "full queue", idle: "nothing to do",
};
const causeColors = {busy: "c2", semaphore: "c0", dram: "c5", acc_port: "c3", spad_port: "c1", dependence: "c6", fetch: "c4",
  queue_full: "c7", idle: "idle"};
const barHeight = 18, mostBars = 60;

function partsOf(unit) {
  return [["busy", unit.busy], ...causes.map(cause => [cause, unit.stalls[cause] || 0]), ["idle", unit.idle]].filter(([, cycles]) => cycles > 0);
}

function stack(point, unit, top, labels, perCycle) {
  const group = svg("g", {class: "stack", "data-point": point.point});
  group.append(svg("text", {x: labels - 6, y: top + 13, "text-anchor": "end"}, shortened(nameOf(point), 38)));
  let left = labels;
  for (const [cause, cycles] of partsOf(unit)) {
    const bar = svg("rect", {class: causeColors[cause], x: left.toFixed(2), y: top + 2, width: (cycles * perCycle).toFixed(2),
      height: barHeight - 4, "data-cause": cause, "data-cycles": cycles});
    bar.addEventListener("pointermove", event => showTip(
      `${nameOf(point)}\n${causeTexts[cause]}: ${count(cycles)} cycles, ${percent(cycles, point.cycles)} of the run`, event));
    bar.addEventListener("pointerleave", event => showTip("", event));
    group.append(bar);
    left += cycles * perCycle;
  }
  group.append(svg("text", {class: "soft", x: left + 5, y: top + 13}, count(point.cycles)));
  group.addEventListener("click", () => choose(point));
  return group;
}

function drawStalls() {
  const container = byId("stalls"), shown = fastest(mostBars).filter(point => point.units);
  const unitName = byId("unit").value, labels = 260, width = widthOf(container) - 16;
  if (shown.length === 0 || !unitName) {
    container.replaceChildren(html("p", {className: "empty"}, "The analytical tier knows no stalls."));
    return;
  }
  const most = Math.max(...shown.map(point => point.cycles)), perCycle = (width - labels - 90) / most;
  const drawing = svg("svg", {viewBox: `0 0 ${width} ${shown.length * barHeight + 4}`, height: shown.length * barHeight + 4, role: "img",
    "aria-label": `Cycles of unit ${unitName} by what they went to`});
  shown.forEach((point, i) =>
    drawing.append(stack(point, point.units.find(unit => unit.name === unitName), i * barHeight, labels, perCycle)));
  container.replaceChildren(drawing);
}

function startStalls() {
  const simulated = points.find(point => point.units);
  const names = simulated ? simulated.units.map(unit => unit.name) : [];
  fillChoice(byId("unit"), names.map(name => [name, name]), names.includes("matrix") ? "matrix" : names[0]);
  byId("unit").onchange = drawStalls;
  byId("stalls-legend").replaceChildren(...Object.entries(causeTexts).map(([cause, text]) =>
    html("li", {}, html("i", {className: causeColors[cause]}), text)));
  onChange.push(drawStalls);
}
