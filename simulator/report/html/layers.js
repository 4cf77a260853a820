// The table of layers, and the paragraph about the one that is chosen.

function mainWait(row) {
  const wait = row.waits.find(each => each.cause !== "queue_full");
  if (!wait) return "-";
  const what = wait.cause === "semaphore" && wait.on !== null ? `${wait.unit} awaits ${wait.on}` : `${wait.unit}: ${causeTexts[wait.cause]}`;
  return `${what} ${count(wait.cycles)}`;
}

// How many times its bound a layer takes.
function timesText(roofline) {
  if (roofline.times_bound !== null) return ratio(roofline.times_bound, 2);
  return report.cycles > 0 && roofline.bound_cycles > 0 ? "hidden" : "-";
}

// The fused stack that a row belongs to, if there is one.
const stacks = new Map(report.fused_stacks.flatMap(stack => stack.layers.map(layer => [rows[layer], stack])));

function stackText(stack) {
  return stack ? `${timesText(stack.roofline)} (${stack.layers.length} layers)` : "-";
}

// Title, value to sort by, text (default: the value), whether it is a number.
const columns = [
  {title: "#", key: (row, i) => i + 1, isNumber: true},
  {title: "layer", key: row => row.name},
  {title: "op", key: row => row.op, text: row => shortened(row.op, 40)},
  {title: "cycles", key: row => row.cycles, text: row => count(row.cycles), isNumber: true},
  {title: "share", key: row => row.cycles, text: row => percent(row.cycles, report.cycles), isNumber: true},
  {title: "utilization", key: row => row.utilization ?? 0, text: row => row.macs > 0 && row.utilization !== null ? percent(row.utilization) : "-", isNumber: true},
  {title: "limited by", key: row => row.limited_by},
  {title: "times bound", key: row => row.roofline.times_bound ?? 0, text: row => timesText(row.roofline), isNumber: true},
  {title: "in its fused stack", key: row => stacks.get(row)?.roofline.times_bound ?? 0, text: row => stackText(stacks.get(row)), isNumber: true},
  {title: "bound by", key: row => row.roofline.bound_by},
  {title: "bound", key: row => row.roofline.bound_cycles, text: row => count(row.roofline.bound_cycles), isNumber: true},
  {title: "MACs/byte", key: row => row.roofline.macs_per_dram_byte ?? 0, text: row => ratio(row.roofline.macs_per_dram_byte, 1), isNumber: true},
  {title: "MACs/cycle", key: row => row.roofline.macs_per_cycle ?? 0, text: row => ratio(row.roofline.macs_per_cycle, 1), isNumber: true},
  {title: "read", key: row => row.dram_read_bytes, text: row => bytes(row.dram_read_bytes), isNumber: true},
  {title: "written", key: row => row.dram_write_bytes, text: row => bytes(row.dram_write_bytes), isNumber: true},
  {title: "estimate", key: row => row.estimate_cycles, text: row => row.estimate_cycles > 0 ? count(row.estimate_cycles) : "-", isNumber: true},
  {title: "error", key: row => row.estimate_error ?? 0, text: row => row.estimate_error === null ? "-" : percent(row.estimate_error), isNumber: true},
  {title: "waits (most)", key: mainWait},
];
const order = {column: 0, isAscending: true};

function compare(a, b) {
  const one = columns[order.column].key(a.row, a.index), other = columns[order.column].key(b.row, b.index);
  const sign = typeof one === "number" ? one - other : one < other ? -1 : one > other ? 1 : 0;
  return (order.isAscending ? sign : -sign) || a.index - b.index;
}

function sortBy(column) {
  order.isAscending = order.column === column ? !order.isAscending : !columns[column].isNumber || column === 0;
  order.column = column;
  drawLayers();
  byId("layers").tHead.rows[0].cells[column].querySelector("button").focus();
}

function layerCell(row, layer) {
  const button = html("button", {type: "button", title: visible(row.name.slice(0, 2000))}, shortened(row.name, 90));
  button.onclick = () => {
    chooseLayer(layer === state.layer ? noLayer : layer);
    byId("layers").querySelector(`tr[data-layer="${layer}"] button`)?.focus();
  };
  return html("td", {className: "name"}, button);
}

function drawLayers() {
  const wanted = byId("filter").value.toLowerCase();
  const lines = rows.map((row, index) => ({row, index})).filter(({row}) => row.name.toLowerCase().includes(wanted)).sort(compare);
  const head = html("tr", {}, ...columns.map((column, i) => {
    const button = html("button", {type: "button"}, column.title);
    button.onclick = () => sortBy(i);
    const cell = html("th", {className: column.isNumber ? "right" : "", scope: "col"}, button);
    cell.setAttribute("aria-sort", order.column !== i ? "none" : order.isAscending ? "ascending" : "descending");
    return cell;
  }));
  const body = lines.map(({row, index}) => {
    const layer = index < layers.length ? index : noLayer;
    const cells = columns.map(column => column.title === "layer" && layer !== noLayer ? layerCell(row, layer) :
      html("td", {className: column.isNumber ? "right" : ""}, String(column.text ? column.text(row, index) : column.key(row, index))));
    const line = html("tr", {className: layer !== noLayer && layer === state.layer ? "chosen" : ""}, ...cells);
    line.dataset.layer = layer;
    return line;
  });
  byId("layers").replaceChildren(html("thead", {}, head), html("tbody", {}, ...body));
  byId("shown").textContent = lines.length === rows.length ? "" : `${lines.length} of ${rows.length} rows`;
}

function tellWhy() {
  byId("why").textContent = state.layer !== noLayer ? visible(why[state.layer]) : "Choose a layer, here or in any of the drawings, to see why it takes its time.";
  byId("layer-choice").value = String(state.layer);
}

function startLayers() {
  const choice = byId("layer-choice");
  choice.append(html("option", {value: String(noLayer)}, "(whole run)"));
  layers.forEach((row, layer) => choice.append(html("option", {value: String(layer)}, shortened(row.name, 80))));
  choice.onchange = () => chooseLayer(Number(choice.value));
  byId("filter").oninput = drawLayers;
  onLayer.push(drawLayers, tellWhy);
}
