// All points of the network, and the sources of the figures.

function cells(point) {
  const values = exploration.parameters.map(name => name === "overlays" ? point.overlays : point.values[name] || "");
  const figures = hasFigures(point)
    ? [count(point.cycles), ...Object.values(objectives).map(({of}) => precise(of(point)))]
    : ["-", "-", "-", "-"];
  return [...values.map(value => shortened(value, 40)), point.analytical ? count(point.analytical.cycles) : "-", ...figures];
}

function rowOf(point) {
  const chooser = html("button", {type: "button"}, point.base ? `${point.point} base` : String(point.point));
  chooser.onclick = () => choose(point);
  const reason = point.status === "done" ? (point.front ? "on the front" : "") : `${point.status}: ${shortened(point.reason, 300)}`;
  const row = html("tr", {className: point === state.point ? "chosen" : ""}, html("td", {className: "name"}, chooser),
    ...cells(point).map(text => html("td", {className: "right"}, text)), html("td", {className: "reason"}, reason));
  row.dataset.point = point.point;
  return row;
}

function drawPoints() {
  byId("points").tBodies[0].replaceChildren(...ofWorkload().map(rowOf));
}

function startPoints() {
  const titles = ["Point", ...exploration.parameters.map(name => shortened(name, 40)), "Cycles (analytical)", `Cycles (${exploration.tier})`,
    ...Object.values(objectives).map(({title}) => title), ""];
  byId("points").tHead.rows[0].replaceChildren(...titles.map((title, i) => html("th", {className: i > 0 && i < titles.length - 1 ? "right" : ""}, title)));
  byId("sources").tBodies[0].replaceChildren(...Object.entries(exploration.technology.sources).map(([name, source]) =>
    html("tr", {}, html("td", {}, visible(name)), html("td", {}, visible(source)))));
  onChange.push(drawPoints);
}
