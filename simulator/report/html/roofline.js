// Each layer's operations for each byte of DRAM against the operations that it does a cycle, below what the machine allows.

const roofHeight = 380;
let current = noLayer; // under the keys

// Layers, or what is told of fused stacks of them, in program order.
function drawableLayers() {
  let found = layers.map((row, layer) => ({row, layer, members: [layer]}));
  if (byId("together").checked) {
    const stacked = new Set(report.fused_stacks.flatMap(stack => stack.layers));
    const together = report.fused_stacks.map(stack => ({row: {...stack, name: stack.layers.map(nameOf).join(", ")}, layer: stack.layers[0], members: stack.layers}));
    found = [...found.filter(({layer}) => !stacked.has(layer)), ...together].sort((a, b) => a.layer - b.layer);
  }
  return found.filter(({row}) => row.cycles > 0 && row.roofline.macs_per_dram_byte > 0 && row.roofline.macs_per_cycle > 0);
}

const marks = {
  compute: r => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  vector: r => `M0 ${-1.2 * r}L${1.1 * r} ${0.8 * r}H${-1.1 * r}z`,
  both: r => `M0 ${-1.2 * r}L${1.2 * r} 0L0 ${1.2 * r}L${-1.2 * r} 0z`,
  dram: r => `M${-0.9 * r} ${-0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
};
const markColors = {compute: "c0", vector: "c2", both: "c1", dram: "c5"};

function pointText({row}) {
  const {roofline} = row;
  return `${shortened(row.name, 240)}\n${ratio(roofline.macs_per_dram_byte, 1)} MACs a byte, ${ratio(roofline.macs_per_cycle, 1)} MACs a cycle\n` +
    `${count(row.cycles)} cycles, ${roofline.times_bound === null ? "hidden: fewer than" : ratio(roofline.times_bound, 2) + " times"} its bound (${roofline.bound_by})`;
}

function roofs(drawing, x, y, range) {
  const {macs_per_cycle: array, vector_macs_per_cycle: lanes, dram_bytes_per_cycle: bus} = report;
  const [left, right] = range;
  const line = (peak, isThin, text) => {
    const knee = Math.max(peak / bus, left);
    drawing.append(svg("path", {class: "roof" + (isThin ? " thin" : ""), d:
      `M${x(left)} ${y(Math.min(left * bus, peak))}L${x(knee)} ${y(peak)}H${x(right)}`}));
    drawing.append(svg("text", {class: "soft", x: x(right) - 4, y: y(peak) - 5, "text-anchor": "end"}, text));
  };
  line(array, false, `array: ${count(array)} MACs a cycle; slope: ${+bus.toPrecision(4)} bytes a cycle`);
  if (lanes < array) line(lanes, true, `vector unit (depthwise): ${count(lanes)} MACs a cycle`);
}

function axes(drawing, x, y, range, heights, width) {
  const powers = ([low, high]) => {
    const found = [];
    for (let power = Math.ceil(Math.log10(low)); power <= Math.log10(high); ++power) found.push(10 ** power);
    return found;
  };
  for (const value of powers(range)) {
    drawing.append(svg("line", {class: "grid", x1: x(value), x2: x(value), y1: 8, y2: roofHeight - 40}));
    drawing.append(svg("text", {class: "soft", x: x(value), y: roofHeight - 24, "text-anchor": "middle"}, String(value)));
  }
  for (const value of powers(heights)) {
    drawing.append(svg("line", {class: "grid", x1: 56, x2: width - 4, y1: y(value), y2: y(value)}));
    drawing.append(svg("text", {class: "soft", x: 50, y: y(value) + 4, "text-anchor": "end"}, String(value)));
  }
  drawing.append(svg("text", {class: "soft", x: width / 2, y: roofHeight - 6, "text-anchor": "middle"}, "MACs for each byte of DRAM that the layer moves"));
  drawing.append(svg("text", {class: "soft", x: 4, y: 14}, "MACs a cycle"));
}

function drawRoofline() {
  const container = byId("roofline"), points = drawableLayers(), width = widthOf(container);
  if (points.length === 0) {
    container.replaceChildren(html("p", {className: "empty"}, "No layer has multiply-accumulates and cycles of its own."));
    return;
  }
  const intensities = points.map(({row}) => row.roofline.macs_per_dram_byte);
  const speeds = points.map(({row}) => row.roofline.macs_per_cycle);
  const knee = report.macs_per_cycle / report.dram_bytes_per_cycle;
  const range = [Math.min(...intensities, knee) / 2, Math.max(...intensities, knee) * 2];
  const heights = [Math.min(...speeds) / 2, Math.max(report.macs_per_cycle, ...speeds) * 1.6];
  const part = (value, [low, high]) => Math.log(value / low) / Math.log(high / low);
  const x = value => 56 + part(value, range) * (width - 60);
  const y = value => 8 + (1 - part(value, heights)) * (roofHeight - 48);
  const drawing = svg("svg", {viewBox: `0 0 ${width} ${roofHeight}`, height: roofHeight, tabindex: 0, role: "application",
    "aria-label": `Roofline of ${points.length} layers: arrows walk from layer to layer`});
  axes(drawing, x, y, range, heights, width);
  roofs(drawing, x, y, range);
  for (const point of [...points].sort((a, b) => b.row.cycles - a.row.cycles)) {
    const {row, layer, members} = point, by = row.roofline.bound_by;
    const size = 4 + 22 * Math.sqrt(row.cycles / report.cycles);
    const isChosen = members.includes(state.layer), isDim = state.layer !== noLayer && !isChosen;
    const mark = svg("path", {
      class: `point ${markColors[by]}${isChosen ? " chosen" : ""}${layer === current ? " current" : ""}${isDim ? " dim" : ""}`,
      d: marks[by](size), transform: `translate(${x(row.roofline.macs_per_dram_byte).toFixed(1)} ${y(row.roofline.macs_per_cycle).toFixed(1)})`,
      "data-layer": layer, "data-intensity": row.roofline.macs_per_dram_byte, "data-speed": row.roofline.macs_per_cycle,
    });
    mark.addEventListener("pointermove", event => showTip(pointText(point), event));
    mark.addEventListener("pointerleave", event => showTip("", event));
    mark.addEventListener("click", () => chooseLayer(layer === state.layer ? noLayer : layer));
    drawing.append(mark);
  }
  const hadFocus = container.contains(document.activeElement);
  container.replaceChildren(drawing);
  if (hadFocus) drawing.focus({preventScroll: true});
}

function walkRoofline(event) {
  const points = drawableLayers();
  const at = points.findIndex(({layer}) => layer === current);
  const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
  if (event.key === "Enter" && current !== noLayer) chooseLayer(current);
  else if (event.key in steps && points.length > 0) {
    event.preventDefault();
    current = points[(at < 0 && steps[event.key] < 0 ? points.length - 1 : at + steps[event.key] + points.length) % points.length].layer;
    drawRoofline();
    const box = byId("roofline").querySelector(".point.current").getBoundingClientRect();
    showTip(pointText(points.find(({layer}) => layer === current)), {clientX: box.right, clientY: box.bottom});
  }
}

function startRoofline() {
  byId("roofline").addEventListener("keydown", walkRoofline);
  byId("roofline").addEventListener("focusout", event => showTip("", event));
  onLayer.push(drawRoofline);
  byId("together").onchange = drawRoofline;
  byId("together").disabled = report.fused_stacks.length === 0;
  const left = layers.length - drawableLayers().length;
  const legend = "Circles are bound by the array, triangles by the vector unit, diamonds by the two together, squares by the DRAM.";
  byId("roofline-note").textContent = legend + (left > 0 ? ` ${left} of ${layers.length} layers are left out: they multiply nothing, move nothing, or have no cycles of their own.` : "");
}
