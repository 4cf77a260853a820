// Machines by two objectives.

function scale(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values), space = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  const least = low - space, most = high + space;
  return {least, most, at: value => from + (to - from) * (value - least) / (most - least)};
}

function precise(value) {
  return value >= 100 ? count(value) : value.toPrecision(3);
}

function describe(point) {
  return [nameOf(point), ...Object.entries(objectives).map(([, {title, of}]) => `${title}: ${precise(of(point))}`)].join("\n");
}

function mark(point, x, y) {
  const kind = point.base ? "square" : point.front ? "filled" : "open";
  const chosen = point === state.point ? " chosen" : "";
  const shape = point.base ? svg("rect", {x: x - 5, y: y - 5, width: 10, height: 10}) : svg("circle", {cx: x, cy: y, r: 5});
  shape.setAttribute("class", kind + chosen);
  shape.dataset.point = point.point;
  shape.addEventListener("pointermove", event => showTip(describe(point), event));
  shape.addEventListener("pointerleave", event => showTip("", event));
  shape.addEventListener("click", () => choose(point));
  return shape;
}

function drawFront() {
  const container = byId("front"), shown = ofWorkload().filter(hasFigures);
  if (shown.length === 0) {
    container.replaceChildren(html("p", {className: "empty"}, "No point has figures."));
    return;
  }
  const width = widthOf(container), height = 380, left = 64, bottom = height - 42;
  const across = objectives[byId("across").value], up = objectives[byId("up").value];
  const x = scale(shown.map(across.of), left, width - 16), y = scale(shown.map(up.of), bottom, 12);
  const drawing = svg("svg", {viewBox: `0 0 ${width} ${height}`, height, role: "img",
    "aria-label": `${across.title} and ${up.title} of each point; the table of points has the figures`});
  for (const tick of ticks(x.least, x.most, width / 110))
    drawing.append(svg("line", {class: "grid", x1: x.at(tick), x2: x.at(tick), y1: 12, y2: bottom}),
      svg("text", {class: "soft", x: x.at(tick), y: bottom + 16, "text-anchor": "middle"}, precise(tick)));
  for (const tick of ticks(y.least, y.most, 7))
    drawing.append(svg("line", {class: "grid", x1: left, x2: width - 16, y1: y.at(tick), y2: y.at(tick)}),
      svg("text", {class: "soft", x: left - 6, y: y.at(tick) + 4, "text-anchor": "end"}, precise(tick)));
  drawing.append(svg("text", {x: (left + width) / 2, y: height - 6, "text-anchor": "middle"}, across.title),
    svg("text", {x: 14, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${height / 2})`}, up.title));
  // What is not on the front lies below.
  for (const point of [...shown].sort((a, b) => Number(a.front || a.base) - Number(b.front || b.base)))
    drawing.append(mark(point, x.at(across.of(point)), y.at(up.of(point))));
  container.replaceChildren(drawing);
}

function startFront() {
  fillChoice(byId("workload"), exploration.workloads.map(name => [name, shortened(name, 80)]), state.workload);
  const axes = Object.entries(objectives).map(([name, {title}]) => [name, title]);
  fillChoice(byId("across"), axes, "latency");
  fillChoice(byId("up"), axes, "area");
  byId("workload").onchange = () => {
    state.workload = byId("workload").value;
    choose(firstChoice());
  };
  byId("across").onchange = byId("up").onchange = drawFront;
  onChange.push(drawFront);
}

// The fastest point, for a beginning.
function firstChoice() {
  const shown = fastest(1);
  return shown[shown.length - 1] || null;
}
