// The sliders: a card for the function, one for each column, and what is seldom needed.

import { bars, short } from "./plot.js";

let count = 0;

export function element(tag, { text, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A slider on a logarithmic scale, with a field for the exact number.
export function slider(label, low, high, value, change, key) {
  const id = `slider-${++count}`, steps = 300;
  const range = element("input", { type: "range", min: 0, max: steps, step: 1, id, "data-key": key });
  const field = element("input", { type: "number", min: 0, step: "any", "aria-label": `${label}, as a number` });
  const toShare = (v) => Math.round((steps * Math.log(v / low)) / Math.log(high / low));
  const show = (v) => {
    range.value = toShare(v);
    range.setAttribute("aria-valuetext", short(v));
    if (document.activeElement !== field) field.value = short(v);
  };
  range.addEventListener("input", () => {
    const v = Number((low * (high / low) ** (range.value / steps)).toPrecision(3));
    range.setAttribute("aria-valuetext", short(v));
    field.value = short(v);
    change(v);
  });
  field.addEventListener("input", () => {
    const v = Number(field.value);
    if (v > 0 && Number.isFinite(v)) { range.value = toShare(v); change(v); }
  });
  field.addEventListener("blur", () => show(value));
  const box = element("div", { class: "slider" }, element("label", { for: id, text: label }), range, field);
  show(value);
  return { box, show: (v) => { value = v; show(v); }, field };
}

// How sure a number is: by which factor it may be off.
export function sureness(what, value, change, key) {
  const id = `slider-${++count}`, out = element("output", { for: id });
  const range = element("input", { type: "range", min: 1, max: 4, step: 0.1, id, "data-key": key });
  const show = (v) => {
    range.value = v;
    out.textContent = v < 1.05 ? "surely" : `× or ÷ ${short(Number(v))}`;
    range.setAttribute("aria-valuetext", out.textContent);
  };
  range.addEventListener("input", () => { show(Number(range.value)); change(Number(range.value)); });
  const box = element("div", { class: "slider" }, element("label", { for: id, text: `how sure of that ${what}` }), range, out);
  show(value);
  return { box, show };
}

function check(label, on, change) {
  const input = element("input", { type: "checkbox" });
  input.checked = on;
  input.addEventListener("change", () => change(input.checked));
  return { box: element("label", {}, input, ` ${label}`), input };
}

// Builds all controls for the state, and returns a function that shows the settings anew.
export function build(state, changed, choose) {
  const shows = [], settings = () => state.settings;
  const { target, columns } = state.info, y = target.std || (target.high - target.low) / 4;
  const place = (id) => { const box = document.getElementById(id); box.replaceChildren(); return box; };
  const add = (box, made, show) => { box.append(made.box); shows.push(() => show(made)); };

  const whole = place("amplitude"), range = (target.high - target.low) || 1;
  add(whole, slider(`${target.name} varies by about`, range / 100, range * 3, settings().amplitude[0], (v) => { settings().amplitude[0] = v; changed(); }, "amplitude"), (m) => m.show(settings().amplitude[0]));
  add(whole, sureness("height", settings().amplitude[1], (v) => { settings().amplitude[1] = v; changed(); }, "amplitude-factor"), (m) => m.show(settings().amplitude[1]));
  document.getElementById("target-note").textContent = state.info.rows
    ? `${target.name} goes from ${short(target.low)} to ${short(target.high)}; functions vary around its mean.`
    : `${target.name} usually lies between ${short(target.low)} and ${short(target.high)}.`;
  for (const radio of document.getElementsByName("smoothness")) {
    radio.onchange = () => { settings().smoothness = radio.value; changed(); };
    shows.push(() => { radio.checked = settings().smoothness === radio.value; });
  }

  const cards = place("columns");
  for (const column of columns) cards.append(card(column, { settings, changed, choose, shows }));
  const extras = place("extras");
  season(extras, { settings, changed, shows, columns, y, trend: true });
  noise(extras, { settings, changed, shows, range });
  const show = () => shows.forEach((one) => one());
  show();
  requestAnimationFrame(() => histograms(columns));
  return show;
}

function card(column, { settings, changed, choose, shows }) {
  const box = element("fieldset", { "data-column": column.name }, element("legend", { text: column.name }));
  if (column.histogram.length) {
    box.append(element("canvas", { class: "histogram", role: "img", "aria-label": `Histogram of ${column.name}` }));
  }
  const ends = column.kind === "category" ? [column.note] : [short(column.low), column.note, short(column.high)];
  box.append(element("div", { class: "ends" }, ...ends.map((text) => element("span", { text }))));
  const matters = check("does not matter", false, (on) => {
    const others = settings().ignore.filter((name) => name !== column.name);
    settings().ignore = on ? [...others, column.name] : others;
    inner.hidden = on;
    changed();
  });
  const inner = element("div");
  shows.push(() => { inner.hidden = matters.input.checked = settings().ignore.includes(column.name); });
  if (column.kind !== "category") {
    const pair = () => settings().lengthscale[column.name], reach = column.high - column.low;
    const change = (i) => (v) => { pair()[i] = v; choose(column.name); changed(); };
    const length = slider(`varies over about … in ${column.name}`, reach / 50, reach * 5, pair()[0], change(0), `length:${column.name}`);
    const factor = sureness("length", pair()[1], change(1), `length-factor:${column.name}`);
    inner.append(length.box, factor.box);
    shows.push(() => { length.show(pair()[0]); factor.show(pair()[1]); });
    box.addEventListener("focusin", (event) => { if (event.target.type !== "checkbox") choose(column.name); });
  }
  box.append(inner, matters.box);
  return box;
}

export function histograms(columns) {
  const boxes = [...document.querySelectorAll("#columns fieldset")];
  columns.forEach((column, i) => {
    const canvas = boxes[i]?.querySelector("canvas");
    if (canvas) bars(canvas, column.histogram, "#9fb3c2");
  });
}

function season(extras, { settings, changed, shows, columns, y }) {
  const trend = slider("rises or falls over one standard deviation by about", y / 50, y * 5, y, (v) => { settings().trend = v; changed(); }, "trend");
  const straight = check("There is a straight trend as well", false, (on) => {
    settings().trend = on ? Number(y.toPrecision(3)) : null;
    show();
    changed();
  });
  const numbers = columns.filter((c) => c.kind !== "category");
  const which = element("select", { "aria-label": "Column of the season" }, ...numbers.map((c) => element("option", { text: c.name, value: c.name })));
  const first = () => numbers.find((c) => c.name === which.value) || numbers[0];
  let period = null;
  const height = slider("the season is about … high", y / 50, y * 5, y, (v) => { settings().season.amplitude = v; changed(); }, "season");
  const periodBox = element("div");
  const fresh = () => {
    const reach = first().high - first().low;
    period = slider(`it repeats itself every … in ${first().name}`, reach / 40, reach, settings().season.period, (v) => { settings().season.period = v; changed(); }, "period");
    periodBox.replaceChildren(period.box);
  };
  const seasonal = check("It repeats itself, as seasons do", false, (on) => {
    const reach = first()?.high - first()?.low;
    settings().season = on ? { column: which.value, period: Number((reach / 4).toPrecision(3)), amplitude: Number(y.toPrecision(3)) } : null;
    show();
    changed();
  });
  which.addEventListener("change", () => {
    settings().season.column = which.value;
    settings().season.period = Number(((first().high - first().low) / 4).toPrecision(3));
    fresh();
    changed();
  });
  const details = element("div", {}, element("label", { text: "in " }, which), periodBox, height.box);
  const show = () => {
    straight.input.checked = settings().trend !== null;
    trend.box.hidden = settings().trend === null;
    if (settings().trend !== null) trend.show(settings().trend);
    seasonal.input.checked = settings().season !== null;
    details.hidden = settings().season === null;
    if (settings().season !== null) {
      which.value = settings().season.column;
      fresh();
      height.show(settings().season.amplitude);
    }
  };
  shows.push(show);
  extras.append(straight.box, trend.box);
  if (numbers.length) extras.append(element("br"), seasonal.box, details);
}

function noise(extras, { settings, changed, shows, range }) {
  const level = slider("observations scatter by about", range / 500, range, range / 20, (v) => { settings().noise = v; changed(); }, "noise");
  const known = check("I know how much observations scatter", false, (on) => {
    settings().noise = on ? Number((range / 20).toPrecision(3)) : null;
    show();
    changed();
  });
  const show = () => {
    known.input.checked = settings().noise !== null;
    level.box.hidden = settings().noise === null;
    if (settings().noise !== null) level.show(settings().noise);
  };
  shows.push(show);
  extras.append(element("br"), known.box, level.box);
}
