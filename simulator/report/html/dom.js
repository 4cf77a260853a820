// Elements and texts. Nothing that comes from the report is ever parsed as markup: strings go in as text nodes.

function byId(id) {
  return document.getElementById(id);
}

function fill(into, tag, properties, children, made) {
  for (const [key, value] of Object.entries(properties))
    if (key in made && !(made instanceof SVGElement)) made[key] = value;
    else made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function html(tag, properties = {}, ...children) {
  return fill(null, tag, properties, children, document.createElement(tag));
}

function svg(tag, properties = {}, ...children) {
  return fill(null, tag, properties, children, document.createElementNS("http://www.w3.org/2000/svg", tag));
}

const wholeNumber = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

function count(value) {
  return wholeNumber.format(value);
}

function percent(part, whole = 1) {
  return whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "-";
}

function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; ++unit) value /= 1024;
  return (unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(value < 10 ? 2 : 1)) + " " + units[unit];
}

function ratio(value, digits) {
  return value === null || value === undefined ? "-" : value.toFixed(digits);
}

// Characters that nobody sees, or that turn the text around them, as their codes.
function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    each => "\\u" + each.charCodeAt(0).toString(16).padStart(4, "0"));
}

// A name as it is shown. Its end tells more than its begin.
function shortened(name, most) {
  const text = visible(name), letters = Array.from(text.slice(-4 * most));
  return letters.length <= most && text.length <= 4 * most ? text : "\u2026" + letters.slice(-(most - 1)).join("");
}

// Round values that divide [from, to] in about `parts`.
function ticks(from, to, parts) {
  const raw = Math.max((to - from) / Math.max(parts, 1), 1e-9);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= raw);
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
}

function showTip(text, event) {
  const tip = byId("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18 + tip.offsetHeight < window.innerHeight;
  tip.style.left = Math.max(left, 4) + "px";
  tip.style.top = (below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 12) + "px";
}

// Pixels that a drawing may take across, without its border.
function widthOf(container) {
  return Math.max(container.clientWidth - 14, 320);
}
