// copy.js: Copy, on each block of commands or of code.
import { $, $$ } from "./dom.js";

const saidFor = 2000; // milliseconds

// textOf returns what Copy copies: of a transcript the commands, without their prompt; of anything else all of it.
function textOf(block) {
  const shown = $("pre:not(.played)", block);
  if (!block.matches(".output")) return $("code", shown).textContent.replace(/\n$/, "");
  const commands = $$(".command", shown).map(line => line.textContent.replace("$ ", ""));
  return commands.join("\n");
}

document.addEventListener("click", async event => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const name = button.dataset.name ??= button.textContent;
  const text = button.dataset.copy || textOf(button.closest("figure, .listing"));
  button.textContent = await navigator.clipboard.writeText(text).then(() => "Copied", () => "Not allowed");
  setTimeout(() => button.textContent = name, saidFor);
});
