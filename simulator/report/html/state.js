// The report, and what the reader looks at: a layer and a stretch of time.

const {report, why} = JSON.parse(byId("data").textContent);
const colors = 8;
const noLayer = -1;
const leastWindow = 20; // cycles

// The program's layers; what belongs to none is the last row, when there is one.
const rows = report.layers;
const layers = rows.filter(row => !(row.name === "(none)" && row.op === "set-up and end"));

const state = {layer: noLayer, from: 0, to: Math.max(report.cycles, 1)};
const onLayer = [], onWindow = [];

function colorOf(layer) {
  return layer === noLayer ? "none" : "c" + layer % colors;
}

function nameOf(layer) {
  return layer === noLayer ? "(no layer)" : shortened(layers[layer].name, 120);
}

function chooseLayer(layer) {
  state.layer = layer;
  for (const changed of onLayer) changed();
}

let isPlanned = false;

function setWindow(from, to) {
  const whole = Math.max(report.cycles, 1);
  const width = Math.min(Math.max(to - from, Math.min(leastWindow, whole)), whole);
  state.from = Math.min(Math.max(from, 0), whole - width);
  state.to = state.from + width;
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    for (const changed of onWindow) changed();
  });
}

function zoom(factor, center = (state.from + state.to) / 2) {
  setWindow(center - (center - state.from) * factor, center + (state.to - center) * factor);
}

function move(part) {
  const by = (state.to - state.from) * part;
  setWindow(state.from + by, state.to + by);
}

// Where a layer is worked on, by the timeline's first lane.
function stretchOf(layer) {
  const lane = report.timeline ? report.timeline.lanes[0] : null;
  const own = lane ? lane.segments.filter(each => each[2] === layer) : [];
  return own.length > 0 ? [own[0][0], own[own.length - 1][1]] : null;
}
