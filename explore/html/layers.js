// The chosen point: its figures, and its layers beside those of the base.

function bar(value, most) {
  const drawn = html("span", {className: "bar " + (value < 0 ? "gain" : "loss")});
  drawn.style.width = (90 * Math.abs(value) / most).toFixed(1) + "px";
  return drawn;
}

function drawLayers() {
  const point = state.point, table = byId("layers");
  const layers = point && point.against_base ? point.against_base.layers : [];
  table.caption.textContent = point && point.base ? "The base is chosen." : layers.length === 0 ? "There is nothing to compare." : nameOf(point);
  const most = Math.max(...layers.map(each => Math.abs(each.cycles - each.base)), 1);
  table.tBodies[0].replaceChildren(...layers.map(each => html("tr", {},
    html("td", {className: "name", title: visible(each.what)}, shortened(each.what, 80)),
    html("td", {className: "right"}, count(each.base)), html("td", {className: "right"}, count(each.cycles)),
    html("td", {className: "right"}, changeText(each.cycles, each.base)), html("td", {}, bar(each.cycles - each.base, most)))));
}

function figure(title, text, small) {
  return html("div", {}, html("dt", {}, title), html("dd", {}, text, html("small", {}, small || "\u00a0")));
}

function drawPoint() {
  const point = state.point, base = baseOf(state.workload);
  byId("why").textContent = !point ? "No point is chosen." : nameOf(point) + (point.against_base && point.against_base.why ? "\n" + visible(point.against_base.why) : "");
  if (!point || !hasFigures(point)) {
    byId("point").replaceChildren();
    return;
  }
  const against = (value, of) => base && hasFigures(base) && !point.base ? changeText(value, of(base)) + " to the base" : "";
  const figures = [figure(`Cycles (${point.tier})`, count(point.cycles), against(point.cycles, each => each.cycles))];
  for (const [, {title, of}] of Object.entries(objectives)) figures.push(figure(title, precise(of(point)), against(of(point), of)));
  if (point.tier === "simulated") figures.push(figure("Cycles (analytical)", count(point.analytical.cycles), changeText(point.analytical.cycles, point.cycles) + " to simulated"), figure("Cycles (bound)", count(point.analytical.least_cycles)));
  if (point.utilization !== undefined) figures.push(figure("Utilization", percent(point.utilization)));
  byId("point").replaceChildren(...figures);
}

function startLayers() {
  onChange.push(drawPoint, drawLayers);
}
