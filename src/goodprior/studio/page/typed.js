// Ranges that are typed in where there is no table.

import { ask } from "./api.js";
import { element } from "./controls.js";

export function setupTyped(start, fail) {
  const at = (id) => document.getElementById(id);
  const row = (label, name = "", low = "", high = "") => {
    const cell = (value, what, kind) => element("td", {}, Object.assign(element("input", { type: kind, step: "any", "aria-label": `${what} of ${label}` }), { value }));
    at("ranges").append(element("tr", {}, element("th", { text: label, scope: "row" }), cell(name, "name", "text"), cell(low, "lowest", "number"), cell(high, "highest", "number")));
  };
  const fill = (columns, target) => {
    at("ranges").replaceChildren();
    row("what depends on the rest", ...target);
    columns.forEach((column, i) => row(`column ${i + 1}`, ...column));
  };
  fill([["age", 20, 80], ["dose", 0, 4]], ["pressure", 90, 170]);
  const read = () => [...at("ranges").children].map((one) => {
    const [name, low, high] = [...one.querySelectorAll("input")].map((input) => input.value.trim());
    return { name, low: low === "" ? null : Number(low), high: high === "" ? null : Number(high) };
  });
  at("add-range").addEventListener("click", () => {
    row(`column ${at("ranges").children.length}`);
    at("ranges").lastElementChild.querySelector("input").focus();
  });
  at("use-ranges").addEventListener("click", () => {
    const [target, ...columns] = read();
    start({ typed: { target, columns } });
  });
  at("open-first").addEventListener("change", async (event) => {
    try {
      const { columns, target } = await ask("load", { text: await event.target.files[0].text() });
      const known = Object.entries(columns).map(([name, ends]) => [name, ...ends]);
      if (!known.length) throw new Error("this belief file does not say where its columns lie: type the ranges in");
      fill(known, [target || "y", "", ""]);
      fail(null);
    } catch (error) { fail(error); }
    event.target.value = "";
  });
  return {
    show(failed) {
      at("typed").hidden = false;
      at("studio").hidden = true;
      if (failed) at("typed-intro").textContent = "You can go on without the table: say where values usually lie, in place of this example.";
    },
  };
}
