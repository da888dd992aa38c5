// reader.js: what a page does by itself. It works without this script, too: links then open pages of their own.

import { ask, lookAfter } from "./connection.js";
import "./copy.js";
import { $, $$, element, forgetRefusals } from "./dom.js";
import { keep, keepPlace } from "./keep.js";
import { onPracticeEvent, showExercises } from "./practice.js";
import { actInView, noteChange, onRunEvent } from "./run.js";

// Light or dark. A click switches from what is seen now. What the system has is kept as that, so that it goes on changing
// with the system.
$("#theme").addEventListener("click", () => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const chosen = (root.dataset.theme || system) === "dark" ? "light" : "dark";
  if (chosen === system) delete root.dataset.theme;
  else root.dataset.theme = chosen;
  keep({ theme: chosen === system ? "system" : chosen });
});

// The contents, which a narrow window hides.
function showMenu(open) {
  document.body.classList.toggle("menu", open);
  $("#menu").setAttribute("aria-expanded", String(open));
  $("#main").inert = open; // the contents cover it
}
$("#menu").addEventListener("click", () => showMenu(!document.body.classList.contains("menu")));
$("#contents").addEventListener("click", event => event.target.closest("a") && showMenu(false));
matchMedia("(max-width: 60rem)").addEventListener("change", () => showMenu(false));
const current = $("#contents [aria-current]");
if (current) $("#contents").scrollTop = current.offsetTop - $("#contents").clientHeight / 3;

// The section that is read has a mark in the contents: the last one whose heading is in the upper third of the window,
// or above it.
function markSection() {
  const links = $$("#contents .headings a");
  const isReached = ({ hash }) =>
    document.getElementById(decodeURIComponent(hash.slice(1)))?.getBoundingClientRect().top < innerHeight / 3;
  const read = links.findLast(isReached);
  for (const link of links) {
    if (link === read) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
  keepPlace(read ? decodeURIComponent(read.hash.slice(1)) : "");
}
addEventListener("scroll", markSection, { passive: true });
document.addEventListener("visibilitychange", markSection);
markSection();

// The panel with a file. It loads the page of the file, and takes the listing out of it. load returns null if there is
// no such page, or no answer: then the page says so.
async function load(address) {
  const answer = await ask(address);
  if (!answer?.ok) return null;
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

const panel = $("#panel");
let opener = null; // the link that opened the panel, which gets the focus back

async function openPanel(address, { keepScroll = false } = {}) {
  const page = await load(address);
  const listing = page && $(".listing", page);
  if (!listing) {
    if (page && !keepScroll) location.href = address; // a folder
    return;
  }
  const top = keepScroll ? $("pre", panel)?.scrollTop : undefined;
  const close = Object.assign(document.createElement("button"), { className: "close", textContent: "Close" });
  close.addEventListener("click", closePanel);
  panel.replaceChildren(listing, close);
  panel.dataset.address = address;
  panel.hidden = false;
  document.body.classList.add("beside");
  const pre = $("pre", panel);
  const first = $(".line.marked", panel);
  if (top !== undefined) pre.scrollTop = top;
  else if (first) pre.scrollTop = Math.max(0, first.offsetTop - pre.offsetTop - pre.clientHeight / 5);
  if (!keepScroll) {
    opener?.scrollIntoView({ block: "nearest" }); // the text beside the panel is narrower, and so longer
    pre.focus({ preventScroll: true });
    watch();
  }
}

function closePanel() {
  if (panel.hidden) return;
  panel.hidden = true;
  panel.replaceChildren();
  document.body.classList.remove("beside");
  opener?.focus();
  watch();
}

document.addEventListener("click", event => {
  const link = event.target.closest("a.source");
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || $("main > .listing")) return;
  event.preventDefault();
  opener = link;
  openPanel(link.href);
});

// Find, as one types.
const finder = $("#finder"), words = $("#words"), found = $("#found");
let asked = 0;
let shown = Promise.resolve(); // until the sections for the last words are shown

function openFinder() {
  finder.showModal();
  words.select();
}

async function find() {
  const number = ++asked;
  const text = words.value.trim();
  let sections = [], corrected = "";
  if (text) {
    const answer = await ask("/-/find?words=" + encodeURIComponent(words.value.slice(0, 400)));
    if (answer?.ok) ({ Sections: sections, Corrected: corrected } = await answer.json());
  }
  if (number !== asked) return; // a later answer counts
  found.replaceChildren(...sections.map(({ Page, Title, Anchor, Excerpt }, i) => {
    const titles = Title.split(" › ");
    const link = Object.assign(document.createElement("a"), { href: `/${Page}#${Anchor}`, tabIndex: -1 });
    link.append(titles.at(-1));
    link.append(Object.assign(document.createElement("span"), { className: "where", textContent: titles.length > 1 ? titles[0] : Page }));
    const excerpt = element("span", "excerpt");
    excerpt.append(...(Excerpt ?? []).map(({ Text, IsMatch }) => IsMatch ? element("mark", "", Text) : Text));
    link.append(excerpt);
    const item = document.createElement("li");
    item.id = "found-" + i;
    item.role = "option";
    item.append(link);
    return item;
  }));
  found.dataset.words = text; // for tests
  choose(0);
  $("#nothing").replaceChildren(text && !sections.length ? "No section has these words." : "");
  if (!corrected) return;
  const meant = element("button", "", corrected);
  meant.addEventListener("click", () => {
    words.value = corrected;
    words.focus();
    shown = find();
  });
  $("#nothing").append(" Did you mean ", meant, "?");
}

function choose(i) {
  const items = $$("li", found);
  items.forEach((item, n) => item.setAttribute("aria-selected", String(n === i)));
  items[i]?.scrollIntoView({ block: "nearest" });
  words.setAttribute("aria-activedescendant", items[i]?.id ?? "");
}

$("#find").addEventListener("click", openFinder);
words.addEventListener("input", () => shown = find());
finder.addEventListener("click", event => event.target === finder && finder.close());
found.addEventListener("click", event => event.target.closest("a") && finder.close());
words.addEventListener("keydown", async event => {
  const items = $$("li", found);
  const now = items.findIndex(item => item.getAttribute("aria-selected") === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && items.length) {
    event.preventDefault();
    choose((now + step + items.length) % items.length);
  } else if (event.key === "Enter") {
    event.preventDefault();
    await shown; // who types fast means these words, and not the ones before
    $("[aria-selected=true] a", found)?.click();
  }
});

// Keys.
const keysWindow = $("#shortcuts");
$("#help").addEventListener("click", () => keysWindow.showModal());
keysWindow.addEventListener("click", event => event.target.matches("dialog, button") && keysWindow.close());
document.addEventListener("keydown", event => {
  const isTyping = event.target.closest("input, textarea, select, dialog") && event.key !== "Escape";
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const go = selector => $(selector)?.click();
  const keys = { n: () => go("[rel=next]"), p: () => go("[rel=prev]"), r: () => actInView("run"), s: () => actInView("step"), "/": openFinder, "?": () => keysWindow.showModal(), Escape: () => { closePanel(); showMenu(false); } };
  if (!Object.hasOwn(keys, event.key)) return;
  if (event.key !== "Escape") event.preventDefault();
  keys[event.key]();
});

// A file of this page has changed: the blocks that differ are replaced, and the panel. If the text itself has
// changed, all of it is.
async function refresh() {
  const fresh = await load(location.pathname + location.search);
  if (!fresh) return; // what is shown stays
  document.body.dataset.version = fresh.body.dataset.version;
  const part = $("main > article") ? "article" : ".listing";
  const [old, now] = [$(`main > ${part}`), $(`main > ${part}`, fresh)];
  if (!old || !now) return;
  const blocks = [$$("figure.block", old), $$("figure.block", now)];
  const textOf = tree => {
    const copy = tree.cloneNode(true);
    $$("figure.block", copy).forEach(figure => figure.remove());
    return copy.textContent;
  };
  if (blocks[0].length === blocks[1].length && textOf(old) === textOf(now)) {
    const changed = blocks[0].filter((figure, i) => figure.dataset.hash !== blocks[1][i].dataset.hash);
    for (const figure of changed) replaceBlock(figure, blocks[1][blocks[0].indexOf(figure)]);
    if (changed.length) noteChange();
  } else {
    old.replaceWith(now);
  }
  if (!panel.hidden) openPanel(panel.dataset.address, { keepScroll: true });
  showExercises();
}

function replaceBlock(figure, fresh) {
  const isPlaying = figure.classList.contains("playing");
  figure.className = fresh.className;
  figure.dataset.hash = fresh.dataset.hash;
  const [caption, played] = [$("figcaption", figure), $(".played", figure)];
  figure.replaceChildren(...fresh.childNodes);
  if (played) { // it goes on
    $("figcaption", figure).replaceWith(caption);
    caption.after(played);
    figure.classList.toggle("playing", isPlaying);
  }
}

// "changed by you" opens the difference.
document.addEventListener("click", event => {
  const figure = event.target.closest(".badge")?.closest("figure");
  if (!figure) return;
  const difference = $(".difference", figure);
  difference.open = !difference.open;
  difference.scrollIntoView({ block: "nearest" });
  $("summary", difference).focus({ preventScroll: true });
});

let changes = null;

// watch asks for events: the page, or the file in the panel, has changed, or a step has done something. A page that nobody sees asks for
// none, because the server serves few pages at a time.
function watch() {
  changes?.close();
  changes = null;
  if (document.hidden) return;
  const files = [document.body.dataset.name], versions = [document.body.dataset.version];
  if (!panel.hidden) {
    const { file, version } = $(".listing", panel).dataset;
    files.push(file);
    versions.push(version);
  }
  changes = new EventSource("/-/events?" + new URLSearchParams({ files, versions }));
  changes.addEventListener("error", lookAfter);
  changes.addEventListener("message", ({ data }) => {
    const event = JSON.parse(data);
    if (event.event === "watching") return document.body.dataset.watching = files.join();
    if (event.event === "over") forgetRefusals();
    if (event.event === "changed") refresh();
    else if (!onPracticeEvent(event)) onRunEvent(event);
  });
}
document.addEventListener("visibilitychange", watch);
addEventListener("pagehide", () => changes?.close());
watch();

// A listing on a page of its own begins at the lines that are marked.
if (!location.hash) $("main > .listing .line.marked")?.scrollIntoView({ block: "center" });
document.body.dataset.ready = "true"; // for tests
