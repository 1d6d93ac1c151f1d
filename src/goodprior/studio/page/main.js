// The page: what it knows, when it asks for pictures, and what it shows.

import { ask, Channel } from "./api.js";
import { build, element, histograms } from "./controls.js";
import { leave } from "./leave.js";
import { people } from "./people.js";
import { COLOURS, contours, functions, short } from "./plot.js";
import { setupSketch } from "./sketch.js";
import { setupTyped } from "./typed.js";

const at = (id) => document.getElementById(id);
const state = {
  space: null, info: null, settings: null, override: null,
  column: null, second: "", row: null, seed: 0, network: "auto", chosen: -1,
  belief: null, prior: null, surface: null,
};
window.studio = state;  // for measuring

export function body(more = {}) {
  const { space, column, row, seed, network, override, settings } = state;
  const belief = override ? { spec: override.spec, noise: override.noise } : { settings };
  return { space, column, row, seed, network, ...belief, ...more };
}

export function fail(error) {
  at("error").hidden = !error;
  at("error").textContent = error ? error.message || String(error) : "";
  if (error) at("error").scrollIntoView({ block: "nearest" });
}

const channels = {
  draws: new Channel("draws", (answer) => { state.belief = answer; fail(null); draw(); }, fail),
  network: new Channel("network", (answer) => { state.prior = answer; busy(false); draw(); }, (e) => { busy(false); fail(e); }),
  surface: new Channel("surface", (answer, sent) => { state.surface = { ...answer, second: sent.second }; busy(false); draw(); }, (e) => { busy(false); fail(e); }),
  report: new Channel("report", verdict, (e) => { at("verdict-word").textContent = "There is no report."; at("verdict-text").textContent = e.message; }),
};
state.channels = channels;

let waiting = 0, slow = 0;
export function refresh() {
  const started = performance.now();
  state.chosen = -1;
  channels.draws.send(body(), started);
  if (state.second) channels.surface.send(body({ second: state.second }), started);
  else channels.network.send(body(), started);
  clearTimeout(slow);
  slow = setTimeout(() => busy(true), 300);
  clearTimeout(waiting);
  at("verdict").classList.add("old");
  waiting = setTimeout(() => channels.report.send(body()), 600);
  tools.forEach((tool) => tool.changed());
}

async function busy(on) {
  clearTimeout(slow);
  const bar = at("matching");
  bar.hidden = !on;
  if (!on) return;
  bar.removeAttribute("value");
  if (!state.prior) at("verdict-word").textContent = "Preparing a network …";
  while (!bar.hidden) {
    const { step, steps } = await ask("matching_progress").catch(() => ({}));
    if (step) bar.value = step / steps;
    await new Promise((done) => setTimeout(done, 200));
  }
}

// One range of the vertical axis for all pictures, which moves in quarters of the target's range.
export function limits(picture) {
  const { low, high } = state.info.target, quarter = (high - low) / 4;
  const [below, above] = picture.noise_band || picture.band;
  const least = Math.min(low - quarter, ...below), most = Math.max(high + quarter, ...above);
  return [Math.floor((least - low) / quarter) * quarter + low, Math.ceil((most - high) / quarter) * quarter + high];
}

export function view() {
  return { ys: limits(state.belief), xName: state.column, yName: state.info.target.name };
}

function draw() {
  if (!state.belief) return;
  at("sentence").textContent = state.override ? `${state.override.name}: ${state.belief.sentence}` : state.belief.sentence;
  at("like").hidden = Boolean(state.second || state.override);
  if (state.second) return drawSurface();
  at("caption").textContent = `Eight functions each, and the band that holds 95 %${state.belief.noise_band ? " (paler: of observations)" : ""}. Bracket: the length and height that you set. Click a function to say more or less like it (keyboard: arrows).`;
  const known = state.override ? null : state.settings;
  const rulers = known && !known.ignore.includes(state.column)
    ? { length: known.lengthscale[state.column][0], height: known.amplitude[0] } : null;
  state.drawn = functions(at("belief"), state.belief, COLOURS.belief, view(), { chosen: state.chosen, rulers });
  for (const name of ["matched", "standard"]) {
    if (state.prior) functions(at(name), { x: state.prior.x, ...state.prior[name] }, COLOURS[name], view());
  }
  at("like").classList.toggle("chosen", state.chosen >= 0);
  at("more-like").disabled = at("less-like").disabled = state.chosen < 0;
  tools.forEach((tool) => tool.drawn?.());
}

function drawSurface() {
  const found = state.surface;
  if (!found || found.second !== state.second) return;
  const ends = (name) => { const c = state.info.columns.find((one) => one.name === name); return [c.low, c.high]; };
  const { low, high } = state.info.target;
  at("caption").textContent = `One function each; colours from ${short(low)} (dark) to ${short(high)} (bright), lines of equal ${state.info.target.name}.`;
  for (const name of ["belief", "matched", "standard"]) {
    contours(at(name), found[name], found.points, ends(state.column), ends(state.second), [low, high], [state.column, state.second]);
  }
}

function verdict(report) {
  const warnings = [...report.warnings], far = report.distance > 0.1;
  if (far) warnings.push(`functions are ${percent(report.distance)} of the distance between two draws away`);
  at("verdict").className = warnings.length ? "bad" : "";
  at("verdict-word").textContent = warnings.length ? "This network does not quite carry the belief." : "The network carries this belief.";
  const apart = report.distance < 0.01 ? "No measurable distance is left." : `The distance left is ${percent(report.distance)} of that between two draws.`;
  at("verdict-text").textContent = warnings.length ? "" : [apart, ...report.columns.map(compared)].join(" ");
  if (warnings.length) {
    warnings.push(report.how !== "steps" ? "Longer lengths, or smoother functions, would be carried better."
      : state.network === "mlp" ? "Let the network be chosen for the belief (below), or take longer lengths."
      : "Only networks for one belief at a time can be chosen for it: a mixture has an ordinary one.");
  }
  at("warnings").replaceChildren(...warnings.map((text) => element("li", { text })));
}

const percent = (share) => `${(100 * share).toFixed(0)} %`;

function compared({ name, belief, prior }) {
  const off = (what) => { const share = prior[what] / belief[what] - 1; return Math.abs(share) < 0.02 ? "the same" : `${percent(Math.abs(share))} ${share > 0 ? "more" : "less"}`; };
  return `Along ${name}: height ${off("spread")}, roughness ${off("roughness")}.`;
}

// On narrow screens the belief's picture stays in sight above the sliders.
function arrange(narrow) {
  at(narrow.matches ? "controls" : "pictures").prepend(at("belief-figure"));
  draw();
}

export function choose(name) {
  if (name === state.column) return;
  state.column = name;
  at("along").value = name;
  if (state.second === name) state.second = at("second").value = "";
  mark();
  refresh();
}

function mark() {
  for (const card of document.querySelectorAll("#columns fieldset")) card.classList.toggle("chosen", card.dataset.column === state.column);
}

let show = () => {};
export function apply(settings) {
  state.settings = settings;
  state.override = null;
  at("override").hidden = true;
  show();
  refresh();
}

export function override(found) {
  state.override = found;
  at("override").hidden = false;
  at("override").firstElementChild.textContent = `Shown: ${found.name}. The sliders have no part in it.`;
  at("override").scrollIntoView({ block: "nearest" });
  refresh();
}

function options(select, names, first = null) {
  const made = names.map(([value, text]) => element("option", { value, text }));
  select.replaceChildren(...(first ? [element("option", { value: "", text: first })] : []), ...made);
}

export async function start(request = {}) {
  at("waiting").hidden = false;
  let info;
  try {
    info = await ask("space", request);
  } catch (error) {
    at("waiting").hidden = true;
    fail(error);
    if (!state.info) typed.show(true);
    return;
  }
  at("waiting").hidden = true;
  fail(null);
  if (info.typed) return typed.show(false);
  Object.assign(state, { info, space: info.space, settings: info.settings, override: null, prior: null, surface: null, second: "", row: null });
  const numbers = info.columns.filter((c) => c.kind !== "category").map((c) => [c.name, c.name]);
  if (!numbers.length) { fail(new Error("No input is a number or a date: pictures go along such a column.")); return typed.show(true); }
  state.column = numbers[0][0];
  at("typed").hidden = true;
  at("studio").hidden = at("target-label").hidden = false;
  at("target-label").hidden = info.targets.length < 2;
  at("save").disabled = false;
  at("file").textContent = info.table ? `${info.table.split("/").at(-1)}, ${info.rows} rows` : "ranges typed in";
  options(at("target"), info.targets.map((n) => [n, n]));
  at("target").value = info.target.name;
  options(at("along"), numbers);
  options(at("second"), numbers, "no other");
  options(at("row"), Array.from({ length: Math.min(info.rows, 50) }, (_, i) => [i, `row ${i + 1}`]), "their medians");
  const out = Object.entries(info.left_out).map(([name, why]) => `${name}: ${why}`);
  at("left-out").textContent = out.length ? `Left out: ${out.join("; ")}` : "";
  show = build(state, refresh, choose);
  mark();
  tools.forEach((tool) => tool.started?.());
  refresh();
}

function pick(event) {
  const box = at("belief").getBoundingClientRect(), { x, y } = state.drawn;
  const px = event.clientX - box.left - 1, py = event.clientY - box.top - 1;
  const k = state.belief.x.reduce((best, v, i) => (Math.abs(x(v) - px) < Math.abs(x(state.belief.x[best]) - px) ? i : best), 0);
  const away = state.belief.lines.map((values) => Math.abs(y(values[k]) - py));
  state.chosen = away.indexOf(Math.min(...away));
  draw();
}

async function like(more) {
  const { x, lines } = state.belief, curve = x.map((v, i) => [v, lines[state.chosen][i]]);
  try { apply((await ask("like", body({ curve, more }))).settings); } catch (error) { fail(error); }
}

function tabs() {
  const all = [...document.querySelectorAll("[role=tab]")];
  const open = (tab) => {
    for (const one of all) {
      one.setAttribute("aria-selected", one === tab);
      one.tabIndex = one === tab ? 0 : -1;
      at(one.getAttribute("aria-controls")).hidden = one !== tab;
    }
    tools.forEach((tool) => tool.changed());
    draw();
  };
  all.forEach((tab, i) => {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = all.at((i + step) % all.length);
      next.focus();
      open(next);
    });
  });
}

const typed = setupTyped(start, fail);
const tools = [setupSketch(state), people(state), leave(state)];
tabs();
const narrow = matchMedia("(max-width: 900px)");
narrow.addEventListener("change", arrange);
arrange(narrow);
at("target").addEventListener("change", (e) => start({ target: e.target.value }));
at("along").addEventListener("change", (e) => choose(e.target.value));
at("second").addEventListener("change", (e) => {
  state.second = e.target.value === state.column ? "" : e.target.value;
  if (!state.second) at("second").value = "";
  refresh();
});
at("row").addEventListener("change", (e) => { state.row = e.target.value === "" ? null : Number(e.target.value); refresh(); });
at("network").addEventListener("change", (e) => { state.network = e.target.value; refresh(); });
at("reseed").addEventListener("click", () => { state.seed += 1; refresh(); });
at("back").addEventListener("click", () => apply(state.settings));
at("belief").addEventListener("click", (e) => { if (!state.second && state.drawn) pick(e); });
at("belief").addEventListener("keydown", (e) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step || !state.belief || state.second) return;
  const n = state.belief.lines.length;
  state.chosen = (state.chosen + step + n) % n;
  e.preventDefault();
  draw();
});
at("more-like").addEventListener("click", () => like(true));
at("less-like").addEventListener("click", () => like(false));
let resizing = 0;
window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => { draw(); if (state.info) histograms(state.info.columns); }, 100); });
start();
