// Sketched curves and imagined rows: the belief is fitted to them.

import { ask } from "./api.js";
import { element } from "./controls.js";
import { apply, body, fail, view } from "./main.js";
import { COLOURS, functions, line, short } from "./plot.js";

const at = (id) => document.getElementById(id);

export function setupSketch(state) {
  let curves = [], current = null, drawn = null, pen = null, kind = "true", waiting = 0;
  const pad = at("pad");

  function draw() {
    if (at("sketch").hidden || !state.belief || pad.getBoundingClientRect().width < 60) return;
    const pale = { ...state.belief, lines: [] };
    drawn = functions(pad, pale, COLOURS.belief, view());
    const shown = here();
    for (const curve of [...shown, ...(current ? [current] : [])]) {
      const { pen: ink, x, y } = drawn;
      ink.strokeStyle = curve.kind === "true" ? COLOURS.matched : COLOURS.bad;
      ink.setLineDash(curve.kind === "true" ? [] : [7, 5]);
      ink.lineWidth = 2.5;
      line(ink, points(curve).map(([a, b]) => [x(a), y(b)]));
      ink.setLineDash([]);
      const last = points(curve).at(-1);
      if (last && curve !== current) { ink.fillStyle = ink.strokeStyle; ink.fillText(String(shown.indexOf(curve) + 1), x(last[0]) - 8, y(last[1]) - 6); }
    }
    if (pen) { drawn.pen.fillStyle = "#000"; drawn.pen.fillRect(drawn.x(pen[0]) - 3, drawn.y(pen[1]) - 3, 6, 6); }
    at("undo").disabled = !shown.length;
    at("fit-sketch").disabled = !shown.some((c) => c.kind === "true") || Boolean(state.override);
  }
  const here = () => curves.filter((curve) => curve.column === state.column);
  const points = (curve) => [...curve.at].sort((a, b) => a[0] - b[0]).map(([, p]) => p);

  function put(px, py) {
    const x = drawn.xBack(px), y = drawn.yBack(py), known = state.info.columns.find((c) => c.name === state.column);
    if (x < known.low || x > known.high) return;
    current.at.set(Math.round(px / 2), [x, y]);
  }
  const spot = (event) => { const box = pad.getBoundingClientRect(); return [event.clientX - box.left - 1, event.clientY - box.top - 1]; };
  const finish = () => {
    if (current && current.at.size >= 5) { curves.push(current); judge(false); }
    current = null;
    draw();
  };
  pad.addEventListener("pointerdown", (event) => {
    if (!drawn) return;
    pad.setPointerCapture(event.pointerId);
    pen = null;
    current = { kind, column: state.column, at: new Map() };
    put(...spot(event));
  });
  pad.addEventListener("pointermove", (event) => {
    if (!current || pen) return;
    const [px, py] = spot(event), last = [...current.at.values()].at(-1);
    if (last) {  // fill what a fast pointer has left out
      const from = [drawn.x(last[0]), drawn.y(last[1])], steps = Math.max(1, Math.ceil(Math.abs(px - from[0]) / 3));
      for (let i = 1; i <= steps; i++) put(from[0] + ((px - from[0]) * i) / steps, from[1] + ((py - from[1]) * i) / steps);
    } else put(px, py);
    draw();
  });
  pad.addEventListener("pointerup", finish);
  pad.addEventListener("pointercancel", finish);
  pad.addEventListener("keydown", (event) => {
    const known = state.info.columns.find((c) => c.name === state.column), [low, high] = view().ys;
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!move && event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    pen ??= [known.low, (low + high) / 2];
    if (event.key === " ") { if (current) { finish(); } else { current = { kind, column: state.column, at: new Map() }; } }
    if (event.key === "Enter") finish();
    if (move) pen = [Math.min(known.high, Math.max(known.low, pen[0] + (move[0] * (known.high - known.low)) / 40)), pen[1] + (move[1] * (high - low)) / 40];
    if (current) current.at.set(Math.round(drawn.x(pen[0]) / 2), [...pen]);
    draw();
  });
  for (const radio of document.getElementsByName("kind")) radio.addEventListener("change", () => { kind = radio.value; });
  at("undo").addEventListener("click", () => { curves.splice(curves.indexOf(here().at(-1)), 1); judge(false); draw(); });
  at("fit-sketch").addEventListener("click", () => judge(true));

  async function judge(fit) {
    const shown = here();
    if (!shown.length || state.override) { at("judgements").replaceChildren(); return; }
    const of = (wanted) => shown.filter((c) => c.kind === wanted);
    try {
      const answer = await ask("sketch", body({ true: of("true").map(points), false: of("false").map(points), fit }));
      const said = shown.map((c) => words(c.kind, answer.ranks[c.kind][of(c.kind).indexOf(c)]));
      at("judgements").replaceChildren(...said.map((text) => element("li", { text })));
      if (fit) apply(answer.settings);
      fail(null);
    } catch (error) { fail(error); }
  }
  function words(wanted, rank) {
    const tail = Math.min(rank, 1 - rank), share = tail === 0 ? "none" : `only ${short(100 * tail)} %`;
    const how = rank < 0.025 ? `improbable, ${share} of the belief's own draws are as wild`
      : rank > 0.975 ? `improbable, ${share} of the belief's own draws are as tame`
      : "like the belief's own draws";
    const meant = (wanted === "true") === (rank >= 0.025 && rank <= 0.975);
    return `${wanted === "true" ? "Could be true" : "Could not be true"}: ${how}${meant ? "." : wanted === "true" ? " – fit the belief to it." : " – the belief still allows it."}`;
  }

  const rows = setupRows(state);
  return {
    drawn: draw,
    started() { curves = []; at("judgements").replaceChildren(); rows.start(); },
    changed() {
      draw();
      clearTimeout(waiting);
      if (curves.length) waiting = setTimeout(() => judge(false), 400);
    },
  };
}

function setupRows(state) {
  const numbers = () => state.info.columns.filter((c) => c.kind !== "category").slice(0, 8);
  const field = (label, value) => element("td", {}, Object.assign(element("input", { type: "number", step: "any", "aria-label": label }), { value }));
  const add = (share) => {
    const { target } = state.info, i = at("rows-body").children.length + 1;
    const cells = numbers().map((c) => field(`${c.name} in row ${i}`, short(c.low + share * (c.high - c.low))));
    const middle = (target.low + target.high) / 2;
    at("rows-body").append(element("tr", {}, ...cells, field(`expected in row ${i}`, short(middle)), field(`give or take in row ${i}`, short((target.high - target.low) / 10))));
  };
  at("add-row").addEventListener("click", () => { add(0.5); at("rows-body").lastElementChild.querySelector("input").focus(); });
  at("fit-rows").addEventListener("click", async () => {
    const rows = [...at("rows-body").children].map((one) => {
      const values = [...one.querySelectorAll("input")].map((input) => (input.value === "" ? null : Number(input.value)));
      const at = Object.fromEntries(numbers().map((c, i) => [c.name, values[i]]).filter(([, v]) => v !== null));
      return { at, expect: values.at(-2), give: values.at(-1) };
    });
    try {
      const answer = await ask("rows", body({ rows }));
      at("rows-said").replaceChildren(...answer.rows.map(({ below }) => element("li", { text: `${(100 * below).toFixed(0)} % of the belief's functions are lower there${below < 0.025 || below > 0.975 ? ": improbable" : "."}` })));
      apply(answer.settings);
      fail(null);
    } catch (error) { fail(error); }
  });
  return {
    start() {
      const names = [...numbers().map((c) => `at ${c.name}`), `I expect ${state.info.target.name}`, "give or take"];
      at("rows-head").replaceChildren(element("tr", {}, ...names.map((text) => element("th", { text }))));
      at("rows-body").replaceChildren();
      at("rows-said").replaceChildren();
      add(0.25);
      add(0.75);
    },
  };
}
