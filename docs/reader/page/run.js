// run.js: Run beside a transcript. The player says what happens, and how each line compares: this page compares
// nothing. What an event means is in scripts/harness/step/play.
import { $, $$, element } from "./dom.js";

let figure = null;   // where the run is shown; null if its transcript is not on this page
let played = null;   // the lines of the run
let wanted = null;   // the transcript whose step wants a cluster
let sections = {};   // by the line of their command in the transcript
let last = null;     // the section that lines are added to
let verdict = "";

async function post(path) {
  const answer = await fetch(path, { method: "POST" });
  if (!answer.ok) say(await answer.json().then(body => body.error, () => "the reading room is gone"), "bad");
}

function say(text, className = "") {
  const status = figure ? $(".status", figure) : $("#elsewhere");
  status.textContent = text;
  status.className = "status " + className;
}

function show(name, visible) {
  const button = figure && $(`[data-do="${name}"]`, figure);
  if (button) button.hidden = !visible;
}

// begin makes room for a run in its figure. The height stays, so that the text below does not jump.
function begin(transcript) {
  if (transcript !== "a cluster" || !figure) {
    figure?.classList.remove("playing");
    figure = $(`figure[data-run="${CSS.escape(transcript)}"]`);
  }
  sections = {}, last = null, verdict = "";
  $("#elsewhere").textContent = "";
  if (!figure) return say(`${transcript.replace("/testdata/", " ").replace(".txt", "")} runs`);
  const height = $("pre", figure).offsetHeight;
  $(".played", figure)?.remove();
  $(".start", figure)?.remove();
  played = element("pre", "played");
  played.tabIndex = 0;
  played.style.minHeight = height + "px";
  $("figcaption", figure).after(played);
  figure.classList.add("playing");
  for (const [name, visible] of Object.entries({ run: false, step: false, stop: true, next: false })) show(name, visible);
  say(transcript === "a cluster" ? "starting a cluster …" : "");
}

function section(at = 0) {
  return last = sections[at] ??= played.appendChild(element("div", "section"));
}

function row(text, className, note = "") {
  const line = element("span", "line " + className, text);
  if (note) line.append(element("span", "want", note));
  return line;
}

const verdicts = {
  ok: ({ text }) => row(text, "ok"),
  differs: ({ text, want }) => row(text, "gi", "the book: " + want),
  missing: ({ want }) => row(want, "gd", "did not come"),
  extra: ({ text }) => row(text, "gi", "not in the book"),
};

// judge replaces the rows of a section by those that the player has compared.
function judge({ at, rows = [], through = 0, more = 0 }) {
  $$(".pending", played).forEach(line => Number(line.dataset.n) <= through && line.remove());
  const block = section(at);
  $$(".line:not(.given):not(.pending)", block).forEach(line => line.remove());
  const fresh = rows.map(line => verdicts[line.verdict]?.(line)).filter(Boolean);
  if (more) fresh.push(row(`and ${more} more`, "c"));
  const given = $(".given", block);
  if (given) given.after(...fresh);
  else block.prepend(...fresh);
}

const ends = {
  ok: ["as in the book", "good"], differs: ["not as in the book", "bad"], stopped: ["stopped", ""], failed: ["failed", "bad"],
};

// What to do on an event. Without a figure only the first and the last count.
const handlers = {
  build: () => say("compiling …"),
  begin: () => say("running …"),
  cluster({ state }) {
    if (state === "connecting") say("connecting to the cluster …");
    if (state === "ready") say("running …");
    if (state !== "none") return;
    wanted = figure.dataset.run;
    const start = element("p", "start", "This step needs a cluster, and there is none. ");
    const button = element("button", "", "Start one on this machine");
    button.dataset.do = "cluster";
    start.append(button, element("span", "", " It needs no Docker. The first time may take ten minutes."));
    played.replaceWith(start); // and below it what the book has
    figure.classList.remove("playing");
  },
  value({ name, text }) {
    if (name !== "ADDRESS") return;
    const link = Object.assign(element("a", "external", text), { href: text, target: "_blank", rel: "noopener noreferrer" });
    played.append(row("ADDRESS is ", "c"));
    played.lastChild.append(link);
  },
  command({ at, text }) {
    show("next", false);
    say("running …");
    section(at).append(row(text, "given " + (text.startsWith("$") ? "command" : "action")));
  },
  wait(event) {
    if (event.for === "enter") {
      say("");
      show("next", true);
      $('[data-do="next"]', figure).focus({ preventScroll: true });
    } else {
      say("waiting for: " + event.text);
    }
  },
  line({ n, text }) {
    const line = row(text, "pending");
    line.dataset.n = n;
    (last ?? section()).append(line);
  },
  block: judge,
  note: ({ text }) => played.append(row(text, "c")),
  warning: ({ text }) => played.append(row(text, "c")),
  progress: ({ text }) => played.append(row(text, "c")),
  end({ verdict: result, error }) {
    verdict = result;
    if ($(".start", figure)) return say("needs a cluster");
    say(...(ends[result] ?? [result, ""]));
    if (error) played.append(row(error, "gd"));
  },
};

export function onRunEvent(event) {
  if (event.event === "run") return begin(event.transcript);
  if (event.event === "over") return finish(event);
  if (figure) handlers[event.event]?.(event);
}

function finish({ error }) {
  $("#elsewhere").textContent = "";
  if (!figure) return;
  if (error) {
    say("failed", "bad");
    played.append(row(error, "gd"));
  }
  const startedFor = wanted && !verdict ? wanted : null;
  for (const [name, visible] of Object.entries({ run: true, step: true, stop: false, next: false })) show(name, visible);
  $('[data-do="run"]', figure).textContent = "Run again";
  if (startedFor) {
    wanted = null;
    if (!error) post("/-/run?transcript=" + encodeURIComponent(startedFor)); // the cluster is there now
  }
}

function act(name, where) {
  const transcript = encodeURIComponent(where.dataset.run);
  const paths = {
    run: "/-/run?transcript=" + transcript, step: "/-/run?pause=true&transcript=" + transcript,
    stop: "/-/stop", next: "/-/next", cluster: "/-/cluster",
  };
  if (name === "next") show("next", false);
  if (!figure || name === "run" || name === "step") {
    figure?.classList.toggle("playing", figure === where && Boolean($(".played", figure)));
    figure = where;
  }
  post(paths[name]);
}

document.addEventListener("click", event => {
  const button = event.target.closest("[data-do]");
  if (button) act(button.dataset.do, button.closest("figure"));
});

// runInView runs the step whose transcript is nearest to the middle of the window.
export function runInView() {
  const middle = innerHeight / 2;
  const distance = where => {
    const { top, bottom } = where.getBoundingClientRect();
    return top > middle ? top - middle : bottom < middle ? middle - bottom : 0;
  };
  const [nearest] = $$("figure[data-run]").sort((a, b) => distance(a) - distance(b));
  if (!nearest || distance(nearest) > innerHeight) return;
  if (!$('[data-do="run"]', nearest).hidden) act("run", nearest);
}
