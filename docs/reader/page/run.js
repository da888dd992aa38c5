// run.js: Run beside a transcript. The player says what happens, and how each line compares: this page compares
// nothing. What an event means is in scripts/harness/step/play.
import { ask } from "./connection.js";
import { $, $$, element, refuse } from "./dom.js";
import { keep } from "./keep.js";
import { openExercises } from "./practice.js";

let figure = null;   // where the run is shown; null if its transcript is not on this page
let played = null;   // the lines of the run
let sections = {};   // by the line of their command in the transcript
let last = null;     // the section that lines are added to
let verdict = "";
let asked = false;   // this window has asked for the run
let isOver = true;
let usesCluster = false;
let id = 0;          // of the run
let sent = 0;        // how many events of it have come; after a new connection, all of them come again
let seen = 0;        // how many were shown

async function post(path, where) {
  const answer = await ask(path, { method: "POST" });
  if (answer && !answer.ok) refuse($(".status", where), (await answer.json()).error);
}

function say(text, className = "", where = figure) {
  const status = where ? $(".status", where) : $("#elsewhere");
  status.textContent = text;
  status.className = "status " + className;
}

// sayWithSeconds says something, and for how many seconds it is so. (Nobody wants to hear them.)
function sayWithSeconds(text, begun) {
  say(text);
  const seconds = $(".status", figure).appendChild(element("span", ""));
  seconds.ariaHidden = "true";
  const show = () => seconds.isConnected
    ? seconds.textContent = ` ${Math.max(0, Math.round((Date.now() - begun) / 1000))} s` : clearInterval(clock);
  const clock = setInterval(show, 1000);
  show();
}

// offer shows these buttons, and no others. If the button with the focus goes away, the output gets the focus, and not
// another button: a second Enter must not stop what the first one has started.
function offer(...names) {
  const buttons = $$("figcaption [data-do]", figure);
  const focused = buttons.find(button => button === document.activeElement);
  for (const button of buttons) button.hidden = !names.includes(button.dataset.do);
  if (focused?.hidden) focus(played);
}

const focus = where => where.focus({ preventScroll: true });

// turn shows the run, or what the book has.
function turn(where, toRun) {
  where.classList.toggle("playing", toRun);
  $('[data-do="turn"]', where).textContent = toRun ? "The book" : "The run";
}

// fromBook returns what the book has, for the time until the program is built and has printed something.
function fromBook(where) {
  const lines = $("pre:not(.played) > code", where).cloneNode(true);
  lines.className = "from-book";
  lines.ariaHidden = "true";
  return lines;
}

// add adds lines of the run.
function add(...lines) {
  $(".from-book", played)?.remove();
  played.append(...lines);
}

// begin makes room for a run in its figure. The height stays, so that the text below does not jump.
function begin({ transcript, how }) {
  const follows = how?.includes("follow") ?? false;
  const before = figure;
  figure = $$("figure[data-run]").find(({ dataset }) =>
    dataset.run === transcript && (dataset.how === "follow") === follows) ?? null;
  if (before && before !== figure && !isOver) forget(before);
  sections = {}, last = null, verdict = "", isOver = false, usesCluster = false;
  $("#elsewhere").textContent = "";
  if (!figure) return say(`${transcript.replace("/testdata/", " ").replace(".txt", "")} runs`);
  const hasFocus = figure.contains(document.activeElement);
  const height = $("pre", figure).offsetHeight;
  $(".played", figure)?.remove();
  $(".start", figure)?.remove();
  played = element("pre", "played");
  played.tabIndex = 0;
  played.style.minHeight = height + "px";
  played.append(fromBook(figure));
  $("figcaption", figure).after(played);
  sayWhoseCode();
  turn(figure, true);
  offer("stop");
  if (hasFocus) focus(played);
  say("");
}

// forget takes a run away whose end this page has not seen.
function forget(where) {
  say("", "", where);
  turn(where, false);
  $(".played", where)?.remove();
  for (const button of $$("figcaption [data-do]", where)) button.hidden = !["run", "step"].includes(button.dataset.do);
}

function section(at = 0) {
  if (!sections[at]) add(sections[at] = element("div", "section"));
  return last = sections[at];
}

function row(text, className, note = "") {
  const line = element("span", "line " + className, text);
  if (note) line.append(element("span", "want", note));
  return line;
}

const verdicts = {
  ok: ({ text }) => row(text, "ok"),
  differs: ({ text, want }) => row(text, "other", "the book: " + want),
  missing: ({ want }) => row(want, "gd", "did not come"),
  extra: ({ text }) => row(text, "other", "not in the book"),
};

// judge replaces the rows of a section by those that the player has compared.
function judge({ at, rows = [], through = 0, more = 0 }) {
  $$(".pending", played).forEach(line => Number(line.dataset.n) <= through && line.remove());
  const block = section(at);
  $$(".line:not(.given, .pending, .printed)", block).forEach(line => line.remove());
  const fresh = rows.map(line => verdicts[line.verdict]?.(line)).filter(Boolean);
  if (more) fresh.push(row(`and ${more} more`, "c"));
  const given = $(".given", block);
  if (given) given.after(...fresh);
  else block.prepend(...fresh);
}

const ends = {
  ok: ["as in the book", "good"], differs: ["not as in the book", "bad"], stopped: ["stopped", ""], failed: ["failed", "bad"],
};

// offerCluster offers to start a cluster, above what the book has. When it is there, the step is run again.
function offerCluster(text) {
  const isNone = text.startsWith("no cluster chosen");
  const start = element("p", "start", isNone ? "This step needs a cluster, and there is none. " : text + ". ");
  const button = element("button", "", "Start one on this machine");
  button.dataset.do = "cluster";
  start.append(button, element("span", "", " It needs no Docker. The first time may take ten minutes. Then the step runs again."));
  const hasFocus = played === document.activeElement;
  played.replaceWith(start);
  figure.classList.remove("playing");
  if (hasFocus) focus(button);
}

// openPage opens the web page of the step in a second window, if this window has asked for it a moment ago. A
// browser allows no more: later, or elsewhere, there is the link.
function openPage(address) {
  const { page, how } = figure.dataset;
  if (!page) return add(row("ADDRESS is " + address, "c"));
  const href = `http://${address}${page}`;
  const link = Object.assign(element("a", "external", `Open ${page} in a second window`), { href, target: "_blank", rel: "noopener noreferrer" });
  const line = row("", "page");
  line.append(link);
  add(line);
  if (!asked || how !== "follow") return;
  asked = false;
  focus(link);
  if (navigator.userActivation?.isActive) open(href, "_blank", "noopener,noreferrer");
}

// failure returns the rows of an error. Of a long one, such as the stack of a panic, the reader opens the rest.
function failure(error) {
  const lines = error.trimEnd().split("\n"), most = 8;
  if (lines.length <= most) return [row(error, "gd")];
  const panic = error.match(/^(panic|fatal error): [^]*?(?=\n\ngoroutine )/m);
  const all = element("details", "log");
  all.append(element("summary", "", `All of it, ${lines.length} lines`), error);
  return [row(panic ? lines[0] + "\n" + panic[0] : lines.slice(0, most).join("\n"), "gd"), all];
}

const removeProgress = () => $$(".progress", played).forEach(line => line.remove());

// What to do on an event. Without a figure only the first and the last count.
const handlers = {
  build({ takesMinutes, begun }) {
    removeProgress();
    sayWithSeconds(takesMinutes ? "compiling, for minutes the first time …" : "compiling …", begun);
  },
  begin: () => say("running …"),
  cluster({ state, text = "", begun }) {
    if (state === "starting") sayWithSeconds("starting a cluster …", begun);
    if (state === "started") $("#cluster").hidden = false;
    if (state === "connecting") say("connecting to the cluster …");
    if (state === "ready") {
      usesCluster = true;
      removeProgress();
      say("running …");
    }
    if (state === "none" && text.includes("scripts/local-up.sh")) offerCluster(text);
  },
  value: ({ name, text }) => name === "ADDRESS" && openPage(text),
  command({ at, text }) {
    offer("stop");
    say("running …");
    const given = row("", "given " + (text.startsWith("$") ? "command" : "action"));
    given.append(...text.split(/(\s+)/).map((part, i) => i % 2 ? part : element("span", "word", part)));
    section(at).append(given);
  },
  wait(event) {
    if (event.for === "enter") {
      say("next: the marked command");
      $$(".given", played).at(-1)?.classList.add("next");
      offer("next", "stop");
      focus($('[data-do="next"]', figure));
    } else {
      say("waiting for: " + event.text);
    }
  },
  line({ n, text }) {
    const line = row(text, "pending");
    line.dataset.n = n;
    (last ?? section()).append(line);
  },
  printed: ({ text }) => (last ?? section()).append(row(text, "c printed", "on standard output")),
  block: judge,
  warning: ({ text }) => add(row(text, "c")),
  progress: ({ text }) => add(row(text, "c progress")),
  end({ verdict: result, error }) {
    verdict = figure.dataset.how === "follow" && result === "ok" ? "stopped" : result;
    $$(".page", played).forEach(line => line.remove()); // nobody answers there any more
    if ($(".start", figure)) return say("needs a cluster");
    say(...(ends[verdict] ?? [verdict, ""]));
    if (error) add(...failure(error));
    if (result === "stopped" && usesCluster) {
      add(row("What the step made in the cluster is being removed.", "c"));
    }
  },
  log({ text }) {
    const log = element("details", "log");
    const isExpected = verdict === "ok" && /^[IWE]\d{4} /.test(text);
    log.append(element("summary", "", isExpected
      ? "client-go's log, on standard error (what it says belongs to the step: all went as in the book)"
      : "Its log, on standard error"), text);
    add(log);
  },
};

// sayWhoseCode says of a chapter with an open exercise that the clone's own code runs.
function sayWhoseCode() {
  const chapter = figure.dataset.run.split("/")[0];
  for (const { name, page, folder } of openExercises()) {
    if (!page.startsWith(chapter + "/")) continue;
    const line = row("This runs the clone's code, and not " + folder + ". Check of ", "open-exercise");
    line.append(Object.assign(element("a", "", name), { href: "/" + page }), " runs yours.");
    played.prepend(line);
  }
}

export function onRunEvent(event) {
  if (event.event === "run") {
    sent = 0;
    if (event.id !== id || figure && !figure.isConnected) [id, seen] = [event.id, 0];
  }
  sent++;
  if (sent <= seen) return;
  seen = sent;
  if (event.event === "run") return begin(event);
  if (event.event === "over") return finish(event);
  if (figure) handlers[event.event]?.(event);
}

// noteChange says of the runs that have ended: the code was another one.
export function noteChange() {
  const isRunning = where => where === figure && !isOver;
  for (const status of $$("figure[data-run] .status:is(.good, .bad)")) {
    if (isRunning(status.closest("figure")) || status.textContent.includes(older)) continue;
    status.textContent += older;
    status.classList.remove("good", "bad");
  }
}
const older = " (of an older version of the code)";

function finish({ error }) {
  isOver = true;
  $("#elsewhere").textContent = "";
  if (!figure) return;
  if (error) {
    say("failed", "bad");
    add(...failure(error));
  } else if (!verdict) {
    say("stopped"); // before the step began
  }
  const run = $('[data-do="run"]', figure);
  if (run.firstChild.data === "Run ") run.firstChild.data = "Run again ";
  if ($(".from-book", played)) forgetPlayed();
  if (played.isConnected) offer("run", "step", "turn");
  else offer("run", "step");
}

// forgetPlayed takes away a run that has shown nothing.
function forgetPlayed() {
  const hasFocus = played === document.activeElement;
  turn(figure, false);
  played.remove();
  if (hasFocus) focus($("pre", figure));
}

function act(name, where) {
  if (name === "turn") return turn(where, !where.classList.contains("playing"));
  const how = name === "step" ? "pause" : where.dataset.how ?? "";
  const run = "/-/run?" + new URLSearchParams({ transcript: where.dataset.run, how });
  const paths = { run, step: run, cluster: run + "&cluster=true", stop: "/-/stop", next: "/-/next" };
  keepTipsClosed();
  if (name === "next") {
    $(".next", played)?.classList.remove("next");
    offer("stop");
  } else asked = name !== "stop";
  post(paths[name], where);
}

// Tips are on each page until they were closed, or a step was run. A run leaves them on this one, where they would move
// the text.
const keepTipsClosed = () => $("#tips") && keep({ tips: "closed" });
$("#tips button")?.addEventListener("click", () => {
  keepTipsClosed();
  $("#tips").remove();
});

document.addEventListener("click", event => {
  const button = event.target.closest("[data-do]");
  if (button) act(button.dataset.do, button.closest("figure"));
});

// actInView runs the step whose transcript is nearest to the middle of the window, or goes through it.
export function actInView(name) {
  const middle = innerHeight / 2;
  const distance = where => {
    const { top, bottom } = where.getBoundingClientRect();
    return top > middle ? top - middle : bottom < middle ? middle - bottom : 0;
  };
  const button = where => $(`[data-do="${name}"]`, where);
  const [nearest] = $$("figure[data-run]").filter(button).sort((a, b) => distance(a) - distance(b));
  if (!nearest || distance(nearest) > innerHeight) return;
  if (!button(nearest).hidden) act(name, nearest);
}
