// Units over time. Segments narrower than a pixel are drawn together.

const laneHeight = 24, laneGap = 7;

// What to draw of a lane: [x, width, layer, busy part], at most about one a pixel.
function visiblePieces(segments, scale) {
  let low = 0, high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (segments[middle][1] <= state.from) low = middle + 1;
    else high = middle;
  }
  const pieces = [];
  let last = null;
  for (let i = low; i < segments.length && segments[i][0] < state.to; ++i) {
    const [begin, end, layer, busy] = segments[i];
    const left = scale.x(Math.max(begin, state.from)), right = scale.x(Math.min(end, state.to));
    const together = last && (right - last.left < 1 || (layer === last.layer && left - last.right < 0.75));
    if (!together) {
      last = {left, right, layer, busy, most: busy, cycles: end - begin};
      pieces.push(last);
      continue;
    }
    last.right = Math.max(last.right, right);
    last.busy += busy;
    last.cycles += end - begin;
    if (busy > last.most) [last.most, last.layer] = [busy, layer];
  }
  return pieces;
}

function drawPiece(lane, piece, top, withNames) {
  const width = Math.max(piece.right - piece.left, 0.75);
  const shade = 0.4 + 0.6 * Math.min(1, piece.busy / Math.max(piece.cycles, 1));
  const isDim = state.layer !== noLayer && piece.layer !== state.layer;
  lane.append(svg("rect", {
    class: "piece " + colorOf(piece.layer) + (isDim ? " dim" : ""), x: piece.left.toFixed(2), y: top, width: width.toFixed(2),
    height: laneHeight, "fill-opacity": shade.toFixed(2), "data-layer": piece.layer,
  }));
  if (withNames && width > 44 && piece.layer !== noLayer)
    lane.append(svg("text", {class: "inside", x: piece.left + 4, y: top + 16}, shortened(layers[piece.layer].name, Math.floor(width / 7))));
}

// The sequencer's instructions take no time of their own: its lane is empty.
function shownLanes() {
  return report.timeline.lanes.filter(lane => lane.segments.length > 0);
}

function drawTimeline() {
  const container = byId("timeline"), lanes = shownLanes();
  const width = widthOf(container), height = lanes.length * (laneHeight + laneGap);
  const scale = timeScale(width);
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${height + 20}`, height: height + 20, tabindex: 0, role: "application",
    "aria-label": "Timeline: plus and minus zoom, arrows move, zero shows everything",
  });
  timeAxis(drawing, width, 0, height, scale);
  lanes.forEach((lane, i) => {
    const top = i * (laneHeight + laneGap);
    const group = svg("g", {class: "units", "data-lane": lane.name});
    group.append(svg("rect", {class: "lane", x: gutter, y: top, width: width - gutter - 4, height: laneHeight}));
    group.append(svg("text", {x: 0, y: top + 16}, lane.name));
    for (const piece of visiblePieces(lane.segments, scale)) drawPiece(group, piece, top, i === 0);
    drawing.append(group);
  });
  drawing.append(svg("rect", {class: "brush", x: 0, y: 0, width: 0, height}));
  const hadFocus = container.contains(document.activeElement);
  container.replaceChildren(drawing);
  if (hadFocus) drawing.focus({preventScroll: true});
  byId("window").textContent = `cycles ${count(state.from)} to ${count(state.to)}`;
}

function findInTimeline(x, y) {
  const lane = shownLanes()[Math.floor(y / (laneHeight + laneGap))];
  if (!lane) return null;
  const scale = timeScale(widthOf(byId("timeline")));
  const cycle = scale.cycle(x), slack = 1 / scale.pixels;
  let best = null;
  for (const each of lane.segments) {
    if (each[0] > cycle + slack) break;
    if (each[1] >= cycle - slack && (!best || each[3] > best[3])) best = each;
  }
  if (!best) return null;
  const [begin, end, layer, busy] = best;
  const text = `${lane.name}: ${nameOf(layer)}\ncycles ${count(begin)} to ${count(end)}, busy ${percent(busy, end - begin)}`;
  return {text, layer};
}

function startTimeline() {
  if (!report.timeline || report.cycles === 0) {
    byId("timeline").append(html("p", {className: "empty"}, "The report tells no times: the engine models none, or the run was not traced."));
    return;
  }
  steer(byId("timeline"), findInTimeline);
  onWindow.push(drawTimeline);
  onLayer.push(drawTimeline);
  byId("zoom-in").onclick = () => zoom(0.5);
  byId("zoom-out").onclick = () => zoom(2);
  byId("move-left").onclick = () => move(-0.3);
  byId("move-right").onclick = () => move(0.3);
  byId("zoom-all").onclick = () => setWindow(0, report.cycles);
  byId("zoom-layer").onclick = () => setWindow(...stretchOf(state.layer));
  onLayer.push(() => byId("zoom-layer").disabled = state.layer === noLayer || !stretchOf(state.layer));
  if (report.timeline.resolution_cycles > 0)
    byId("timeline-note").textContent =
      `The run is long: pauses of up to ${count(report.timeline.resolution_cycles)} cycles between two pieces of work of a layer are drawn over, and make them paler.`;
}
