// What stands in the memories. All rectangles of one color are one path, so that thousands cost little.

const mapHeights = [170, 220, 110], mapGap = 34;
const contentTexts = {constant: "weights and tables", loaded: "loaded from DRAM", computed: "computed", input: "the model's inputs"};

function classOf(range) {
  return byId("memory-colors").value === "layer" ? colorOf(range[4]) : "c" + [1, 0, 2, 3][range[5]];
}

function drawSpace(drawing, space, top, height, width, scale) {
  const group = svg("g", {class: "space", "data-space": space.name, "data-ranges": space.live_ranges.length});
  group.append(svg("rect", {class: "lane", x: gutter, y: top, width: width - gutter - 4, height}));
  group.append(svg("text", {x: 0, y: top + 12}, space.name));
  for (const part of [0, 0.5, 1]) {
    const y = top + height * (1 - part);
    group.append(svg("line", {class: "grid", x1: gutter, x2: width - 4, y1: y, y2: y}));
    if (part < 1) group.append(svg("text", {class: "soft", x: gutter - 6, y: y + (part === 0 ? 0 : 4), "text-anchor": "end"}, bytes(space.bytes * part)));
  }
  group.append(svg("text", {class: "soft", x: 0, y: top + 28}, bytes(space.bytes)));
  const paths = new Map();
  const perByte = height / Math.max(space.bytes, 1);
  for (const each of space.live_ranges) {
    const [begin, end, start, stop, layer] = each;
    if (stop <= state.from || start >= state.to) continue;
    const left = scale.x(Math.max(start, state.from)), right = scale.x(Math.min(stop, state.to));
    const upper = top + height - end * perByte;
    const isDim = state.layer !== noLayer && layer !== state.layer;
    const key = classOf(each) + (isDim ? " dim" : "");
    const box = `M${left.toFixed(1)} ${upper.toFixed(1)}h${Math.max(right - left, 0.6).toFixed(1)}v${Math.max((end - begin) * perByte, 0.6).toFixed(1)}H${left.toFixed(1)}z`;
    if (paths.has(key)) paths.get(key).push(box);
    else paths.set(key, [box]);
  }
  for (const [key, boxes] of paths)
    group.append(svg("path", {class: "ranges " + key, d: boxes.join(""), "fill-opacity": 0.8, "data-boxes": boxes.length}));
  group.append(svg("rect", {class: "frame", x: gutter, y: top, width: width - gutter - 4, height}));
  drawing.append(group);
}

function mapTops(spaces) {
  const tops = [];
  let top = 0;
  spaces.forEach((space, i) => {
    tops.push(top);
    top += mapHeights[i] + mapGap;
  });
  return [tops, top];
}

function drawMemory() {
  const container = byId("memory"), {spaces} = report.memory_map;
  const width = widthOf(container), scale = timeScale(width);
  const [tops, height] = mapTops(spaces);
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: "application",
    "aria-label": "Memory over time: plus and minus zoom, arrows move, zero shows everything",
  });
  spaces.forEach((space, i) => {
    drawSpace(drawing, space, tops[i], mapHeights[i], width, scale);
    timeAxis(drawing, width, tops[i], mapHeights[i], scale);
  });
  drawing.append(svg("rect", {class: "brush", x: 0, y: 0, width: 0, height}));
  const hadFocus = container.contains(document.activeElement);
  container.replaceChildren(drawing);
  if (hadFocus) drawing.focus({preventScroll: true});
}

function tensorAt(space, address) {
  if (space !== report.memory_map.spaces[0]) return "";
  const found = report.memory_map.tensors.find(each => each.begin <= address && address < each.end);
  return found ? `\ntensor ${shortened(found.name, 80)}` : "";
}

function findInMemory(x, y) {
  const {spaces, contents} = report.memory_map;
  const [tops] = mapTops(spaces);
  const at = tops.findIndex((top, i) => y >= top && y <= top + mapHeights[i]);
  if (at < 0) return null;
  const space = spaces[at], scale = timeScale(widthOf(byId("memory")));
  const cycle = scale.cycle(x), address = space.bytes * (1 - (y - tops[at]) / mapHeights[at]);
  const slack = space.bytes / mapHeights[at];
  const inside = each => each[0] <= address && address < each[1] && each[2] <= cycle && cycle <= each[3];
  const near = each => each[0] <= address + slack && address < each[1] + slack && each[2] <= cycle && cycle <= each[3];
  const found = space.live_ranges.find(inside) || space.live_ranges.find(near);
  if (!found) return null;
  const [begin, end, start, stop, layer, content] = found;
  const text = `${space.name} 0x${begin.toString(16)} to 0x${end.toString(16)} (${bytes(end - begin)})\n` +
    `${contentTexts[contents[content]]}${layer === noLayer ? "" : ", by " + nameOf(layer)}\ncycles ${count(start)} to ${count(stop)}` +
    tensorAt(space, begin);
  return {text, layer};
}

function drawMemoryLegend() {
  const isByLayer = byId("memory-colors").value === "layer";
  const {contents} = report.memory_map;
  byId("memory-legend").replaceChildren(...(isByLayer ? [] : contents.map((content, i) =>
    html("li", {}, html("i", {className: "c" + [1, 0, 2, 3][i]}), contentTexts[content]))));
}

function startMemory() {
  if (!report.memory_map || report.cycles === 0) {
    byId("memory").append(html("p", {className: "empty"}, "The report holds no memory map."));
    return;
  }
  steer(byId("memory"), findInMemory);
  onWindow.push(drawMemory);
  onLayer.push(drawMemory);
  byId("memory-colors").onchange = () => {
    drawMemoryLegend();
    drawMemory();
  };
  drawMemoryLegend();
  byId("memory-note").textContent = report.memory_map.spaces.map(space =>
    `${space.name}: drawn to ${count(space.resolution_cycles)} cycles and ${bytes(space.granule_bytes)}`).join("; ") + ".";
}
