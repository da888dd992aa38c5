// xray.js: the page. It takes the stream of messages, and draws what the player shows, once a frame.
import { CHANGES, age, clock, count, describe, plural, symbol } from './format.js';
import { History } from './history.js';
import { Player } from './player.js';
import { make, rows, show } from './dom.js';
import { Stations, drawTitles } from './stations.js';
import { Chips } from './chips.js';
import { openHandler, openObject } from './panel.js';
import { drawActions, drawComparison, listenForActions, renewToken } from './actions.js';

const parts = {}; // the elements by their id
for (const element of document.querySelectorAll('[id]')) parts[element.id] = element;

const READ = 12; // ms in a frame for reading messages
const MOST_READ = 50; // the same when many messages have come
const DRAW = 60; // ms between two drawings of stations and buttons, because numbers that change faster cannot be read
const AGES = 250; // ms between two drawings of ages and lists
const CAPTIONS = 1100; // ms that a caption stays at least, so that a screen reader can keep up
const QUIET = 'This view is new. Press a button, and see what happens.';
const AFTER = 1500; // ms after a caption from which a change may take its place
const STEPS = 400; // the same while one steps
const HOLD = 2000; // ms that a station may wait for the chips that bring its changes
const CALM = 14; // chips in flight up to which a station waits for the chip that brings its change

let instance = '', informer = new URLSearchParams(location.search).get('informer') ?? '';
const inbox = []; // messages not yet read
let source = null, skew = 0; // skew: this clock minus the clock of the program
let history = new History({ seq: 0, time: Date.now(), set: {} });
const player = new Player(history);
const stations = new Stations(
  (name, implementation, from) => openHandler(name, implementation, query(), Date.now() - skew, from),
  () => { chips.stale = true; stations.boxes.forEach(chips.watch); },
);
const chips = new Chips(parts.stage, stations, ({ seq, chip }, from) => openChange({ ...chip, seq }, from));
stations.boxes.forEach(chips.watch);

function openChange(change, from) { openObject({ ...change, seq: history.objectSeq(change) }, query(), from); }

function query() { return informer ? `?informer=${encodeURIComponent(informer)}` : ''; }

// The stream.

function connect() {
  source?.close();
  source = new EventSource(`/xray/events${query()}`);
  source.addEventListener('message', ({ data }) => {
    inbox.push(data);
    if (document.hidden) takeIn(MOST_READ); // there are no frames then
  });
  source.addEventListener('error', () => {
    setLost(true);
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000); // it does not try again by itself
  });
}

// reconnect opens the stream again after an action that ends it.
async function reconnect(action) {
  source?.close();
  await action;
  connect();
}

// takeIn reads the inbox for about so many ms, because many messages can come together after the machine was busy.
function takeIn(ms) {
  const end = performance.now() + ms;
  while (inbox.length && performance.now() < end) {
    const message = JSON.parse(inbox.shift());
    if (instance !== message.instance || informer !== message.informer) begin(message);
    else history.add(message);
    if (document.body.dataset.stream === 'lost') setLost(false);
  }
}

function setLost(lost) {
  document.body.dataset.stream = lost ? 'lost' : 'open';
  parts.lost.textContent = lost && instance
    ? 'The program has ended: this is its last state. If it starts again, the page goes on.' : '';
  drawActions(history.latest, lost);
}

// begin starts with an empty history, for another program or informer. After a break of the stream the history stays.
function begin(state) {
  if (instance && instance !== state.instance) renewToken();
  ({ instance, informer } = state);
  skew = Date.now() - state.time;
  history = new History(state);
  player.start(history);
  chips.clear();
  stations.clear();
  parts.kind.textContent = state.kind;
  parts.namespace.textContent = state.namespace;
  drawInformers(state.informers);
  drawComparison(state.compared);
  drawTitles(state.parts);
  redraw = true;
}

function drawInformers(names) {
  parts.choose.hidden = names.length < 2;
  rows(parts.informer, names.length, () => make('option')).forEach((option, i) => {
    option.value = names[i];
    option.textContent = names[i];
  });
  parts.informer.value = informer;
}

// Drawing: once a frame, and only what changed.

let redraw = true, stale = false, lastFrame = 0, lastDraw = 0, lastAges = 0, lastCaption = 0, drawnEnd = -1;

function frame(now) {
  requestAnimationFrame(frame);
  takeIn(Math.min(READ + inbox.length, MOST_READ));
  const applied = player.tick(now - lastFrame);
  lastFrame = now;
  if (applied.length) stations.syncHandlers(player.view); // a chip may be on its way to a handler that is new
  chips.layout();
  const ages = redraw || now - lastAges > AGES;
  if (applied.length) launch(applied, now);
  stale ||= applied.length > 0 || drawnEnd !== history.end;
  if (ages || (stale && now - lastDraw > DRAW)) {
    stale = false;
    lastDraw = now;
    const moment = player.mode === 'live' ? Date.now() - skew : player.time;
    stations.draw(player.view, moment, now, ages);
    drawPosition();
    drawActions(history.latest, document.body.dataset.stream === 'lost');
  }
  if (ages) drawSlowParts(now);
  redraw = false;
}

// launch sends the chips of records. While there are few, a station changes when its chip arrives.
function launch(records, now) {
  const calm = records.length < 60 && chips.flying.size < CALM;
  if (!calm) stations.release();
  for (const record of records) {
    if (!record.chip) continue;
    const end = chips.send(record, now, player.slower);
    if (end && calm) stations.hold(record.chip.to, end, now, HOLD * player.slower);
  }
}

function drawPosition() {
  drawnEnd = history.end;
  const { body } = document;
  const seq = String(player.seq);
  if (body.dataset.seq !== seq) body.dataset.seq = seq;
  if (body.dataset.mode !== player.mode) body.dataset.mode = player.mode;
  parts.slider.min = history.first;
  parts.slider.max = history.end;
  parts.slider.value = player.position;
  const waiting = player.waiting;
  const words = waiting && player.mode !== 'live' ? `${plural(waiting, 'record')} waiting to be shown.` : '';
  show(parts.waiting, words, waiting);
}

function drawSlowParts(now) {
  lastAges = now;
  const { mode, seq } = player;
  const ended = document.body.dataset.stream === 'lost' && instance;
  const time = mode === 'live' && !ended ? Date.now() - skew : player.time;
  show(parts.mode, `${ended ? 'ended' : mode}, record ${count(seq)}, ${clock(time)}`);
  show(parts.pause, mode === 'paused' ? 'Play' : 'Pause');
  parts.slider.setAttribute('aria-valuetext', mode === 'live' ? 'live' : `record ${seq}: ${describe(player.record)}`);
  const shown = history.records.length;
  const all = shown + history.skipped;
  const sampled = history.skipped ? `Sampled: ${count(history.skipped)} of ${count(all)} records are left out.` : '';
  show(parts.sampled, sampled, history.skipped);
  drawCaption(now);
  drawCaptions();
  drawRecent();
}

// The address of the reading room, if this program was started from there: then references to the book are links.
const book = document.querySelector('meta[name="xray-book"]').content;

function bookLink(words, section) {
  if (!book) return words;
  const link = make('a', '', words);
  Object.assign(link, { href: new URL(section, book), target: '_blank', rel: 'noopener' });
  return link;
}

// fillCaption writes a sentence, and the section of the book that explains it.
function fillCaption(element, words, section) {
  if (element.words === words) return false;
  element.words = words;
  element.replaceChildren(words);
  if (section) element.append(' ', bookLink(make('cite', '', section), section));
  return true;
}

function drawCaption(now) {
  if (now - lastCaption < (player.paused ? STEPS : CAPTIONS)) return;
  const { text, section } = player.paused ? { text: describe(player.record), ...player.record?.caption } : sayLast();
  if (fillCaption(parts.caption, text, section) && text !== QUIET) lastCaption = now;
}

// sayLast returns the last caption, or a sentence about the last change, if the change came later and is one of few.
function sayLast() {
  const [last] = history.captionsAt(player.position, 1);
  const [change] = history.changes(player.position, 1);
  const single = ['add', 'update', 'delete'].includes(change?.change) && !player.view.bulk;
  const captionEnd = (last?.time ?? 0) + AFTER;
  if (!single || change.time < captionEnd) return last?.caption ?? { text: QUIET };
  const article = change.change === 'delete' ? 'A' : 'An';
  return { text: `${article} ${change.change} of ${change.name}.` };
}

function drawCaptions() {
  const list = history.captionsAt(player.position);
  const earlier = list.filter(({ caption }) => caption.text !== parts.caption.words).slice(0, 2).reverse();
  rows(parts.earlier, earlier.length, () => make('li')).forEach((row, i) => show(row, earlier[i].caption.text));
  rows(parts.captions, list.length, () => make('li', '', make('time'), make('span'))).forEach((row, i) => {
    show(row.firstChild, clock(list[i].time));
    fillCaption(row.lastChild, list[i].caption.text, list[i].caption.section);
  });
}

// drawRecent writes the list of recent changes, but not while somebody is about to choose from it.
function drawRecent() {
  if (!player.paused && parts.recent.matches(':hover, :focus-within')) return;
  const moment = player.mode === 'live' ? Date.now() - skew : player.time;
  const lines = history.changes(player.position);
  rows(parts.recent, lines.length, makeChange).forEach((row, i) => {
    const line = lines[i];
    const button = row.firstChild;
    const [mark, words, when] = button.children;
    button.change = line;
    if (button.kind !== line.change) {
      button.kind = line.change;
      mark.replaceWith(symbol(line.change));
    }
    show(words, `${CHANGES[line.change]?.word ?? line.change} of ${line.name}`, line.seq);
    show(when, age(line.time, moment));
  });
}

function makeChange() {
  const button = make('button', '', symbol('add'), make('span'), make('time'));
  button.kind = 'add';
  button.addEventListener('click', () => openChange(button.change, button));
  return make('li', '', button);
}

// Time: pause, step, replay.

function goTo(position, travel = false) {
  player.pause();
  player.seek(position);
  stations.release();
  chips.holdStill(player.record, travel);
  redraw = true;
}

function togglePause() {
  if (!player.paused) return goTo(player.position);
  chips.clear();
  player.play();
  redraw = true;
}

function goLive() {
  chips.clear();
  player.live();
  player.seek(history.end);
  parts['replay-speed'].value = '1';
  redraw = true;
}

parts.pause.addEventListener('click', togglePause);
parts.back.addEventListener('click', () => goTo(player.position - 1));
parts.forward.addEventListener('click', () => goTo(player.position + 1, true));
parts.live.addEventListener('click', goLive);
parts.slider.addEventListener('input', () => goTo(parts.slider.valueAsNumber));
parts['replay-speed'].addEventListener('change', event => {
  player.slow(Number(event.target.value));
  redraw = true;
});
parts.informer.addEventListener('change', () => {
  informer = parts.informer.value;
  instance = '';
  parts.said.textContent = '';
  window.history.replaceState(null, '', query());
  connect();
});

document.addEventListener('keydown', event => {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest('dialog, input, select, textarea')) return;
  if (key === ' ' && !target.closest('button, a')) togglePause();
  else if (key === 'ArrowLeft') goTo(player.position - 1);
  else if (key === 'ArrowRight') goTo(player.position + 1, true);
  else return;
  event.preventDefault();
});

// The beginning.

for (const [change, { word }] of Object.entries(CHANGES)) parts.legend.append(make('li', '', symbol(change), word));
for (const title of document.querySelectorAll('#try cite')) {
  title.parentElement.prepend(bookLink(title.cloneNode(true), title.dataset.section));
  title.remove();
}
listenForActions(query, reconnect);
connect();
requestAnimationFrame(frame);
