// What the timeline and the memory map share: the axis of time, zooming and moving.

const gutter = 92; // for labels on the left

function timeScale(width) {
  const pixels = (width - gutter - 4) / (state.to - state.from);
  return {
    x: cycle => gutter + (cycle - state.from) * pixels,
    cycle: x => state.from + (x - gutter) / pixels,
    pixels,
  };
}

function timeAxis(drawing, width, top, height, scale) {
  for (const cycle of ticks(state.from, state.to, width / 130)) {
    const x = scale.x(cycle);
    drawing.append(svg("line", {class: "grid", x1: x, x2: x, y1: top, y2: top + height}));
    drawing.append(svg("text", {class: "soft", x, y: top + height + 14, "text-anchor": "middle"}, count(cycle)));
  }
}

// `find(x, y)` gives {text, layer} of what is drawn there, or null.
function steer(container, find) {
  let dragged = null;
  const place = event => {
    const box = container.querySelector("svg").getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top, width: box.width};
  };
  const scaleNow = width => timeScale(width);
  container.addEventListener("pointerdown", event => {
    if (event.button === 0 && place(event).x >= gutter) dragged = place(event).x;
  });
  container.addEventListener("pointermove", event => {
    const {x, y, width} = place(event);
    const brush = container.querySelector(".brush");
    if (dragged !== null && Math.abs(x - dragged) > 4) {
      brush.setAttribute("x", Math.max(Math.min(x, dragged), gutter));
      brush.setAttribute("width", Math.abs(Math.min(Math.max(x, gutter), width) - dragged));
      showTip("", event);
      return;
    }
    const found = x >= gutter ? find(x, y) : null;
    showTip(found ? found.text : "", event);
  });
  container.addEventListener("pointerleave", event => showTip("", event));
  window.addEventListener("pointerup", event => {
    if (dragged === null) return;
    const {x, y, width} = place(event), from = dragged;
    dragged = null;
    container.querySelector(".brush").setAttribute("width", 0);
    if (Math.abs(x - from) > 4) {
      const scale = scaleNow(width);
      setWindow(scale.cycle(Math.min(x, from)), scale.cycle(Math.max(x, from)));
    } else {
      const found = find(x, y);
      if (found) chooseLayer(found.layer === state.layer ? noLayer : found.layer);
    }
  });
  container.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    const {x, width} = place(event);
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, scaleNow(width).cycle(x));
    else move((event.deltaX || event.deltaY) / 800);
  }, {passive: false});
  container.addEventListener("keydown", event => {
    const actions = {
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => setWindow(0, report.cycles),
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), Home: () => move(-1e9), End: () => move(1e9),
    };
    if (!actions[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    actions[event.key]();
  });
}
