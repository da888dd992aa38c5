// output.js: makes of a line of a terminal what a page can do: files are links, and commands are buttons.
import { $, element } from "./dom.js";

// A file, perhaps with a line; a command of the practice tool; another command; or the name of the next exercise.
const file = String.raw`(?<![\w./-])((?:\.practice/[a-z-]+/)?(?:\d\d-[\w-]+|docs|scripts)(?:/[\w.-]+)*/[\w-]+\.(?:go|md|txt))(?::(\d+))?`;
const practice = String.raw`\x60?(scripts/practice\.sh ([a-z]+)(?: ([a-z]+(?:-[a-z]+)*))?)\x60?`;
const command = String.raw`\x60?(go (?:test|run) (?=[-.])[^\x60]+|scripts/[a-z-]+\.sh)\x60?`;
const next = String.raw`(?<=^Next: +)([a-z]+(?:-[a-z]+)*)`;
const parts = new RegExp([file, practice, command, next].join("|"), "g");

const ownActions = ["start", "check", "hint", "solution", "keep", "reset"];

// linkOutput returns a text with links and buttons. exercises are those that the practice tool has listed; own is the
// one whose output this is, which a command without a name means.
export function linkOutput(text, exercises = [], own = null) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(parts)) {
    let [all, path, line, tool, action, name, other, following] = match;
    const named = exercises.find(exercise => exercise.name === (name ?? following));
    if (tool && name && !named) { // a word after the command
      tool = tool.slice(0, -name.length).trimEnd();
      all = all.slice(0, all.indexOf(tool) + tool.length);
    }
    nodes.push(text.slice(end, match.index));
    if (path) nodes.push(fileLink(path, line));
    else if (other) nodes.push(...copied(other));
    else if (following) nodes.push(named ? pageLink(following, named) : following);
    else nodes.push(...practised(tool, action, named ?? own));
    end = match.index + all.length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

function fileLink(path, line) {
  const link = element("a", path.endsWith(".md") ? "" : "source", line ? `${path}:${line}` : path);
  link.href = "/" + path + (line ? "?line=" + line : "");
  return link;
}

const pageLink = (text, exercise) => Object.assign(element("a", "", text), { href: "/" + exercise.page });

// copied returns a command that only a terminal can run.
function copied(command) {
  const button = element("button", "", "Copy");
  Object.assign(button.dataset, { copy: command });
  return [element("code", "", command), " ", button];
}

// practised returns the button that does what a command of the practice tool does, or a link to the page that has it.
function practised(command, action, exercise) {
  if (!exercise || !ownActions.includes(action)) return copied(command);
  if (!$(`figure[data-exercise="${CSS.escape(exercise.page)}"]`)) {
    return [pageLink(command, exercise)];
  }
  const button = element("button", "", action[0].toUpperCase() + action.slice(1));
  Object.assign(button.dataset, { practice: action, exercise: exercise.page });
  button.title = command;
  return [button];
}
