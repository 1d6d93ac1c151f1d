// The way out: sentence, Python, command, files, a fit; and the check against the data.

import { ask, download } from "./api.js";
import { element } from "./controls.js";
import { body, fail, limits } from "./main.js";
import { bars, COLOURS, posterior, short } from "./plot.js";

const at = (id) => document.getElementById(id);

export function leave(state) {
  let waiting = 0, checking = 0, fitted = false;
  const exported = () => ask("export", body({ name: at("name").value }));
  const guarded = (work) => async () => { try { await work(); fail(null); } catch (error) { fail(error); } };

  async function show() {
    const found = await exported();
    at("out-sentence").textContent = found.sentence;
    at("out-python").textContent = found.python;
    at("out-command").textContent = found.command ? `${found.command}\n\n# or, with the belief file:\n${found.file_command}` : found.file_command;
    at("fit").disabled = !state.info.rows;
    at("fit").title = state.info.rows ? "" : "There is no table: goodprior studio data.csv has one.";
  }

  const save = guarded(async () => { const found = await exported(); download(found.file, found.json, "application/json"); });
  at("save").addEventListener("click", save);
  at("save-2").addEventListener("click", save);
  at("save-prior").addEventListener("click", guarded(async () => download("prior.safetensors", await ask("prior_file", body()))));
  at("save-model").addEventListener("click", guarded(async () => download("model.safetensors", await ask("model_file"))));
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", guarded(async () => {
      await navigator.clipboard.writeText(at(button.dataset.of).textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    }));
  }

  at("fit").addEventListener("click", guarded(async () => {
    let found = await ask("fit", body());
    at("fitting").hidden = false;
    at("fit").disabled = true;
    while (found.state === "running") {
      at("fitting").value = found.done / found.total;
      at("fit-words").textContent = `${found.task} ${found.words || ""}`;
      await new Promise((done) => setTimeout(done, 500));
      found = await ask("fit_progress");
    }
    at("fitting").hidden = true;
    at("fit").disabled = false;
    if (found.state === "failed") throw new Error(found.error);
    const sure = found.rhat === null ? "" : `, R-hat ${found.rhat.toFixed(2)} (1.00 is best)`;
    at("fit-words").textContent = [`Done in ${found.seconds.toFixed(0)} s${sure}.`, ...found.warnings].join(" ");
    at("save-model").hidden = false;
    fitted = true;
    await picture();
  }));

  async function picture() {
    if (!fitted || at("leave").hidden) return;
    const found = await ask("posterior", body());
    at("posterior").hidden = false;
    posterior(at("posterior"), found, { ys: limits(found), xName: state.column, yName: state.info.target.name });
  }

  at("use-data").addEventListener("change", () => { at("data-used").hidden = !at("use-data").checked; check(); });
  async function check() {
    const on = at("use-data").checked;
    at("ranks").hidden = !on;
    if (!on) return at("check-words").replaceChildren();
    if (at("check").hidden) return;
    try {
      const found = await ask("check", body({ use_data: true }));
      bars(at("ranks"), found.ranks, COLOURS.matched, { expected: found.rows / found.ranks.length });
      const words = [`Bars: how many of ${found.rows} rows lie below 10 %, 20 %, … of the draws; the dashed line is what the belief expects.`, ...found.words, `The noise is ${short(found.noise)}${found.noise_given ? ", as you say" : ", which suits the belief best"}.`];
      at("check-words").replaceChildren(...words.map((text) => element("li", { text })));
      fail(null);
    } catch (error) { at("ranks").hidden = true; fail(error); }
  }

  return {
    started() { fitted = false; at("posterior").hidden = at("save-model").hidden = true; at("fit-words").textContent = ""; at("use-data").checked = false; at("use-data").disabled = !state.info.rows; at("data-used").hidden = true; check(); },
    changed() {
      clearTimeout(waiting);
      clearTimeout(checking);
      if (!at("leave").hidden) waiting = setTimeout(() => { show().catch(fail); picture().catch(fail); }, 200);
      if (!at("check").hidden && at("use-data").checked) checking = setTimeout(check, 500);
    },
  };
}
