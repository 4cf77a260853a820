// Stalls of each layer, stacked by cause; and who waited for whom.

const causes = ["semaphore", "dram", "acc_port", "spad_port", "dependence", "fetch", "queue_full"];
const causeTexts = {
  semaphore: "another unit", dram: "DRAM", acc_port: "accumulator port", spad_port: "scratchpad port",
  dependence: "own earlier work", fetch: "instructions", queue_full: "full queue",
};
const causeColors = {semaphore: "c0", dram: "c5", acc_port: "c3", spad_port: "c1", dependence: "c2", fetch: "c4", queue_full: "c7"};
const barHeight = 18;

function shownCauses() {
  return causes.filter(cause => cause !== "queue_full" || byId("queues").checked);
}

function drawStalls() {
  const container = byId("stalls"), shown = shownCauses(), labels = 190;
  const width = widthOf(container) - 16;
  const sums = rows.map(row => shown.reduce((sum, cause) => sum + row.stalls[cause], 0));
  const most = Math.max(...sums, 1), perCycle = (width - labels - 80) / most;
  const drawing = svg("svg", {viewBox: `0 0 ${width} ${rows.length * barHeight + 4}`, height: rows.length * barHeight + 4, role: "img",
    "aria-label": "Stalls of each layer by cause; the table of layers below has the figures"});
  rows.forEach((row, i) => {
    const layer = i < layers.length ? i : noLayer, top = i * barHeight;
    const isDim = state.layer !== noLayer && layer !== state.layer;
    const group = svg("g", {class: "stack" + (isDim ? " dim" : ""), "data-layer": layer});
    group.append(svg("text", {x: labels - 6, y: top + 13, "text-anchor": "end"}, shortened(row.name, 26)));
    let left = labels;
    for (const cause of shown) {
      const cycles = row.stalls[cause];
      if (cycles === 0) continue;
      const bar = svg("rect", {class: causeColors[cause], x: left.toFixed(2), y: top + 2, width: (cycles * perCycle).toFixed(2),
        height: barHeight - 4, "data-cause": cause, "data-cycles": cycles});
      bar.addEventListener("pointermove", event => showTip(
        `${shortened(row.name, 120)}\n${causeTexts[cause]}: ${count(cycles)} cycles, ${percent(cycles, sums[i])} of its stalls`, event));
      bar.addEventListener("pointerleave", event => showTip("", event));
      group.append(bar);
      left += cycles * perCycle;
    }
    if (sums[i] > 0) group.append(svg("text", {class: "soft", x: left + 5, y: top + 13}, count(sums[i])));
    group.addEventListener("click", () => chooseLayer(layer === state.layer ? noLayer : layer));
    drawing.append(group);
  });
  container.replaceChildren(drawing);
  byId("stalls-legend").replaceChildren(...shown.map(cause =>
    html("li", {}, html("i", {className: causeColors[cause]}), causeTexts[cause])));
}

// Of all rows together.
function allWaits() {
  const sums = new Map();
  for (const row of rows)
    for (const wait of row.waits) {
      const key = JSON.stringify([wait.unit, wait.cause, wait.on]);
      sums.set(key, (sums.get(key) || 0) + wait.cycles);
    }
  return [...sums].map(([key, cycles]) => {
    const [unit, cause, on] = JSON.parse(key);
    return {unit, cause, on, cycles};
  }).sort((a, b) => b.cycles - a.cycles);
}

function simpleTable(table, titles, lines) {
  const cell = (tag, text, isRight, more = []) => html(tag, {className: isRight ? "right" : ""}, text, ...more);
  const head = html("thead", {}, html("tr", {}, ...titles.map(([title, isRight]) => cell("th", title, isRight))));
  const body = html("tbody", {}, ...lines.map(line =>
    html("tr", {}, ...line.map((text, i) => cell("td", text, titles[i][1])))));
  table.replaceChildren(table.caption, head, body);
}

function drawWaits() {
  const isWhole = state.layer === noLayer;
  const waits = isWhole ? allWaits() : layers[state.layer].waits;
  byId("waits").caption.textContent = "Who waited for whom: " + (isWhole ? "whole run" : nameOf(state.layer));
  simpleTable(byId("waits"), [["unit"], ["waits for"], ["cause"], ["cycles", true], [isWhole ? "of the run" : "of the layer", true]],
    waits.map(({unit, cause, on, cycles}) =>
      [unit, on === null ? "-" : on, causeTexts[cause], count(cycles), percent(cycles, isWhole ? report.cycles : layers[state.layer].cycles)]));
}

function startStalls() {
  byId("queues").onchange = drawStalls;
  onLayer.push(drawStalls, drawWaits);
  simpleTable(byId("conflicts"), [["loser"], ["winner"], ["cycles", true], ["of the run", true]], report.bank_conflicts.map(each =>
    [each.loser, each.winner, count(each.cycles), percent(each.cycles, report.cycles)]));
}
