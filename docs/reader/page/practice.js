// practice.js: Start, Check, Hint, Solution, Keep and Reset beside an exercise. The practice tool does all of this, and
// knows the state of each exercise: this page shows what the tool prints.
import { ask } from "./connection.js";
import { $, $$, element, refuse } from "./dom.js";
import { linkOutput } from "./output.js";

const buttons = { "": ["start"], open: ["check", "hint", "solution", "reset"], solved: ["check", "solution", "keep", "reset"] };
let exercises = {}; // by their page
const known = () => Object.values(exercises);
let asked = null;   // the figure whose button was pressed
let run = null;     // the last action on an exercise
let page = "";      // the exercise whose events come; "" if they are those of a step
let sent = 0;       // how many events of it have come; after a new connection, all of them come again

function say(figure, text, className = "") {
  const status = figure ? $(".status", figure) : $("#elsewhere");
  status.textContent = text;
  status.className = "status " + className;
}

// about says what the buttons do, before one is pressed.
function about({ kind, state, folder, solved, places }) {
  const { file } = places[0];
  const code = text => element("code", "", text);
  const list = nodes => nodes.flatMap((node, i) => [i === 0 ? "" : i === nodes.length - 1 ? " and " : ", ", node]);
  if (!state) {
    return [solved ? "Solved. " : "", "Start makes the folder ", code(folder), ", a copy of this clone, ",
      kind === "fix" ? "with a bug in " : "without this code in ", code(file), ". You work there. No file of yours changes."];
  }
  const links = places.map(({ line, function: shown }) => {
    const link = element("a", "source", line ? `${file}:${line}` : file);
    link.href = `/${file}` + (shown ? "?show=" + encodeURIComponent(shown) : "");
    return link;
  });
  const task = state === "solved" ? "Solved, in " : kind === "fix" ? "The bug is in " : "Your code goes into ";
  return [task, ...list(links), ". Work in the folder ", code(folder), ": open it by itself (", code("code " + folder),
    "), because an editor hides it in the clone. Check runs the book's tests there. ",
    state === "open" ? "There are three hints. " : "Keep merges your solution into the files of the clone, and its steps run on it. ",
    "Solution shows how the book's code differs from yours, and changes nothing. ",
    "Reset brings the start back, and says how yours comes back.", solved ? " The exercise stays solved." : ""];
}

// shownState is the state of an exercise that the page shows. An exercise stays solved after a reset.
const shownState = ({ state, solved }) => state || (solved ? "solved" : "");

// show shows the state of an exercise, and the buttons for this state.
function show(figure) {
  const exercise = exercises[figure.dataset.exercise];
  const isRunning = run && !run.isOver && run.page === figure.dataset.exercise;
  const visible = isRunning ? ["stop"] : buttons[exercise?.state] ?? [];
  const focused = document.activeElement;
  $$("figcaption button", figure).forEach(button => button.hidden = !visible.includes(button.dataset.practice));
  if (focused.hidden && figure.contains(focused)) { // a second Enter must not stop what the first one has started
    $(isRunning ? ".played" : "figcaption button:not([hidden])", figure)?.focus({ preventScroll: true });
  }
  if (!exercise) return;
  const task = $(".task", figure);
  if (task && figure.dataset.state !== shownState(exercise)) task.open = exercise.state === "open";
  figure.dataset.state = shownState(exercise);
  leadToFolder(figure, exercise);
  $(".about", figure).replaceChildren(...about(exercise));
}

// leadToFolder lets the links of the task lead to the files of the exercise, once it is started.
function leadToFolder(figure, { page, state, folder }) {
  const isOwnPage = location.pathname === "/" + page;
  for (const link of isOwnPage ? $$("article > :not(figure) a.source") : $$(".task a.source", figure)) {
    link.dataset.clone ??= link.getAttribute("href");
    link.href = (state ? "/" + folder : "") + link.dataset.clone;
  }
}

// showProgress shows how many exercises are solved: in the contents, and on the page with all exercises.
function showProgress(all) {
  const progress = some => some.some(({ state, solved }) => state || solved)
    ? `${some.filter(({ solved }) => solved).length} of ${some.length}` : "";
  for (const link of $$("#contents a[href^='/docs/']")) {
    const chapter = link.pathname.slice("/docs/".length, -".md".length);
    link.dataset.progress = progress(chapter === "practice" ? all : all.filter(e => e.page.startsWith(chapter + "/")));
  }
  for (const link of $$("article td > a")) {
    const exercise = exercises[link.pathname.slice(1)];
    if (exercise) link.dataset.state = shownState(exercise);
  }
}

const [compiling, failing] = ["compiling the practice tool …", "the practice tool fails"];
let again = 0; // the timer of showExercises

// showExercises asks for the states of all exercises, and shows them. While the practice tool is compiled, it asks again.
export async function showExercises() {
  const figures = $$("figure[data-exercise]");
  const answer = await ask("/-/exercises");
  const all = await answer?.json().catch(() => null);
  if (!all) return; // the reader has left this page, or the server is gone
  clearTimeout(again);
  const statusOf = figure => $(".status", figure).textContent;
  if (all.building) {
    figures.filter(figure => statusOf(figure) !== compiling).forEach(figure => say(figure, compiling));
    again = setTimeout(showExercises, 1000);
    return;
  }
  figures.filter(figure => [compiling, failing].includes(statusOf(figure))).forEach(figure => say(figure, ""));
  if (!answer.ok) {
    return figures.forEach(figure => {
      say(figure, failing, "bad");
      $(".about", figure).textContent = all.error;
    });
  }
  exercises = Object.fromEntries(all.map(exercise => [exercise.page, exercise]));
  figures.forEach(show);
  showProgress(all);
}

export const openExercises = () => known().filter(({ state }) => state === "open");

// begin makes room for what the tool prints.
function begin({ id, action }) {
  const figures = $$(`figure[data-exercise="${CSS.escape(page)}"]`);
  const figure = figures.includes(asked) ? asked : figures[0];
  run = { id, action, page, figure, seen: 1, verdict: "", isOver: false };
  if (!figure) return say(null, page.replace("/practice/", " ").replace(".md", `: ${action}`));
  const old = $(".played", figure);
  if (action === "hint" && old) { // it is about what is there
    run.output = old;
    print(`$ scripts/practice.sh hint ${exercises[page]?.name ?? ""}`, "c");
  } else {
    old?.remove();
    run.output = element("pre", "played");
    run.output.tabIndex = 0;
    $("figcaption", figure).after(run.output);
  }
  figures.forEach(show);
}

function print(text, className = "") {
  if (!run.output) return;
  run.isTask ||= run.action === "start" && text.startsWith("# "); // it is above, as text
  if (run.isTask) return;
  $(".waiting:last-child", run.output)?.remove(); // the next line says more
  if (/^ +…/.test(text)) className = "c waiting"; // how long something takes
  const looks = { check: { "  FAIL": "gd" }, solution: { "+": "gi", "-": "gd" } }[run.action] ?? {};
  const look = Object.keys(looks).find(start => text.startsWith(start));
  const line = element("span", "line " + (className || looks[look] || ""));
  line.append(...(run.action === "solution" && look ? [text] : linkOutput(text, known(), exercises[page])));
  run.output.append(line);
  if (["check", "hint"].includes(run.action)) run.output.scrollTop = run.output.scrollHeight;
}

const ends = {
  start: { ok: ["started"], failed: ["not started", "bad"] },
  check: { ok: ["solved", "good"], failed: ["not solved yet", "bad"] },
  keep: { ok: ["kept in the clone"], failed: ["not kept", "bad"] },
  reset: { ok: ["the start is back"], failed: ["not reset", "bad"] },
};

async function finish({ error }) {
  const { figure, action, verdict } = run;
  run.isOver = true;
  if (error) print(error, "gd");
  say(null, "");
  if (figure) {
    const end = verdict === "stopped" ? ["stopped"] : error ? ["failed", "bad"] : ends[action]?.[verdict];
    say(figure, ...(end ?? [""]));
  }
  const isMine = figure && asked === figure;
  asked = null;
  await showExercises();
  const isWide = matchMedia("(min-width: 75rem)").matches; // otherwise the panel would cover what the tool says
  if (isMine && action === "start" && verdict === "ok" && isWide) $(".about a.source", figure)?.click();
}

const handlers = {
  build: () => run.figure && say(run.figure, "compiling …"),
  begin: () => run.figure && say(run.figure, "running …"),
  progress: ({ text }) => print(text),
  warning: ({ text }) => print(text, "c"),
  end: ({ verdict }) => run.verdict = verdict,
  over: finish,
};

// onPracticeEvent shows an event, if it is one of an exercise.
export function onPracticeEvent(event) {
  if (event.event === "run") {
    [page, sent] = [/\/practice\/[a-z-]+\.md$/.test(event.transcript) ? event.transcript : "", 0];
    if (run && run.page !== page) { // it must have ended
      run.isOver = true;
      $$("figure[data-exercise]").forEach(show);
    }
  }
  if (!page) return false;
  sent++;
  if (event.event === "build" && event.id !== run?.id) begin(event);
  if (run && run.page === page && sent > run.seen) {
    run.seen = sent;
    handlers[event.event]?.(event);
  }
  return true;
}

document.addEventListener("click", async event => {
  const button = event.target.closest("[data-practice]");
  if (!button) return;
  const action = button.dataset.practice;
  const figure = button.dataset.exercise // it is in an output
    ? $(`figure[data-exercise="${CSS.escape(button.dataset.exercise)}"]`) : button.closest("figure");
  const exercise = encodeURIComponent(figure.dataset.exercise);
  const path = action === "stop" ? "/-/stop" : `/-/practice?action=${action}&exercise=${exercise}`;
  asked = figure;
  const answer = await ask(path, { method: "POST" });
  if (answer?.ok) return;
  asked = null;
  if (answer) refuse($(".status", figure), (await answer.json()).error);
});

document.addEventListener("visibilitychange", () => document.hidden || showExercises()); // a terminal may do it, too
showExercises();
