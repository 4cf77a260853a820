// The exploration, and what the reader looks at: a network and one of its points.

const exploration = JSON.parse(byId("data").textContent);
const points = exploration.points;
const objectives = {
  latency: {title: "Latency, ms", of: point => point.seconds * 1e3},
  area: {title: "Area, mm\u00b2", of: point => point.area.mm2},
  energy: {title: "Energy, mJ", of: point => point.energy_joules.total * 1e3},
};
const state = {workload: exploration.workloads[0], point: null};
const onChange = [];

function hasFigures(point) {
  return point.cycles !== undefined;
}

function ofWorkload() {
  return points.filter(point => point.workload === state.workload);
}

function baseOf(workload) {
  return points.find(point => point.base && point.workload === workload);
}

function nameOf(point) {
  if (point.base) return "base";
  const values = Object.entries(point.values).map(([name, value]) => `${name} ${value}`);
  const lists = exploration.parameters.includes("overlays") ? [point.overlays] : [];
  return shortened([...lists, ...values].join(", "), 90) || "base";
}

function choose(point) {
  state.point = point;
  for (const changed of onChange) changed();
}

function fillChoice(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => html("option", {value}, text)));
  select.value = chosen;
}

// Front, then fast ones; the base is always among them.
function fastest(most) {
  const shown = ofWorkload().filter(point => hasFigures(point) && !point.base).sort((a, b) => a.seconds - b.seconds).slice(0, most);
  const base = baseOf(state.workload);
  return base && hasFigures(base) ? [base, ...shown] : shown;
}

function changeText(value, base) {
  return base > 0 ? `${value >= base ? "+" : ""}${(100 * (value / base - 1)).toFixed(1)} %` : "-";
}
