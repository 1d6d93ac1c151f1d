// Several people: belief files side by side, and their mixture.

import { ask } from "./api.js";
import { element } from "./controls.js";
import { apply, body, fail, limits, override } from "./main.js";
import { COLOURS, functions } from "./plot.js";

const at = (id) => document.getElementById(id);

export function people(state) {
  let known = [], mixture = null;

  async function open(files) {
    for (const file of files) {
      try {
        if (file.size > 200000) throw new Error("it has more than 200,000 bytes; a belief is a few hundred");
        const found = await ask("load", { space: state.space, text: await file.text() });
        known.push({ ...found, name: found.name || file.name });
        fail(null);
      } catch (error) { fail(new Error(`${file.name}: ${error.message}`)); break; }
    }
    await show();
  }

  async function show() {
    at("people-list").replaceChildren(...known.map((one, i) => {
      const use = element("button", { text: "Use it" }), drop = element("button", { text: "Take it out" });
      use.addEventListener("click", () => (one.settings ? apply(structuredClone(one.settings)) : override(one)));
      drop.addEventListener("click", () => { known.splice(i, 1); show(); });
      return element("li", {}, element("b", { text: one.name }), `: ${one.sentence} `, use, " ", drop);
    }));
    at("use-mixture").disabled = known.length < 2;
    at("people-pictures").replaceChildren();
    if (!known.length || at("people").hidden) return;
    let answer;
    try {
      answer = await ask("people", body({ people: known.map(({ name, spec }) => ({ name, spec })) }));
    } catch (error) { return fail(error); }
    mixture = answer.spec;
    const shown = answer.beliefs.slice(0, known.length > 1 ? undefined : -1);
    const made = shown.map((one) => element("figure", {}, element("figcaption", { text: one.name }), element("canvas", { role: "img", "aria-label": `Functions of ${one.name}` })));
    at("people-pictures").replaceChildren(...made);
    const all = shown.map(limits), ys = [Math.min(...all.map((l) => l[0])), Math.max(...all.map((l) => l[1]))];
    shown.forEach((one, i) => functions(made[i].querySelector("canvas"), { x: answer.x, ...one }, i < known.length ? COLOURS.belief : COLOURS.matched, { ys, xName: state.column, yName: state.info.target.name }));
  }

  at("open").addEventListener("change", (event) => { open([...event.target.files]); event.target.value = ""; });
  at("add-mine").addEventListener("click", async () => {
    const found = await ask("export", body({ name: at("name").value }));
    open([new File([found.json], found.file)]);
  });
  at("use-mixture").addEventListener("click", () => override({ name: `The mixture of ${known.map((one) => one.name).join(" and ")}`, spec: mixture, noise: null }));
  let waiting = 0;
  return {
    started() { known = []; show(); },
    changed() { clearTimeout(waiting); if (!at("people").hidden) waiting = setTimeout(show, 300); },
  };
}
