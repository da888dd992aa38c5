// stations.js: writes the state of each station into its box. It writes a text only if the text differs.
import { CHANGES, age, count, countdown, kib, millis, nameOf, plural, yesNo } from './format.js';

const text = value => value || '–';

// The fields of each station: its name in the state, its label, and a function that makes a text of the value and the
// time. The field start has no function, because drawCursors writes it.
const FIELDS = {
  server: [['connected', 'connected', yesNo], ['cut', 'cut', yesNo], ['lists', 'LIST requests', count],
    ['watches', 'WATCH requests', count], ['bytes', 'sent', kib]],
  reflector: [['doing', 'doing', text], ['until', 'tries again', countdown], ['version', 'version', text],
    ['lastEvent', 'last event', age], ['events', 'events', count], ['bookmarks', 'bookmarks', count]],
  store: [['objects', 'objects', count], ['version', 'version', text]],
  journal: [['end', 'notifications', count], ['start', 'needed from']],
  'client-go/informer': [['received', 'objects and events received', count], ['objects', 'objects', count]],
};
const FIXED = Object.keys(FIELDS); // the stations that are always there

// The handlers of both informers: the prefix of their stations, the station from which they get notifications, their
// fields, and the elements of the page.
const IMPLEMENTATIONS = [
  { name: 'ours', prefix: 'handlers/', from: 'journal', list: '#handlers', sum: '#sum-ours',
    fields: [['waiting', 'waiting', count], ['calls', 'calls', count], ['folded', 'folded', count]] },
  { name: 'client-go', prefix: 'client-go/handlers/', from: 'client-go/informer', list: '#their-handlers',
    sum: '#sum-theirs', fields: [['waiting', 'waiting', count], ['calls', 'calls', count]] },
];

// show writes a text and, for tests and scripts, the plain value.
export function show(element, words, value = words) {
  if (element.shown !== words) {
    element.shown = words;
    element.textContent = words;
  }
  const plain = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  if (element.dataset.value !== plain) element.dataset.value = plain;
}

// rows gives parent exactly n children, the old ones first, and returns them.
export function rows(parent, n, make) {
  while (parent.children.length > n) parent.lastChild.remove();
  while (parent.children.length < n) parent.append(make());
  return [...parent.children];
}

export function make(tag, className = '', ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function makeFields(list, fields) {
  for (const [name, label] of fields) {
    const value = make('dd');
    value.dataset.field = name;
    list.append(make('div', '', make('dt', '', label), value));
  }
}

export class Stations {
  constructor(onHandler, onLayout) {
    this.onHandler = onHandler;
    this.onLayout = onLayout;
    this.boxes = new Map(); // station → element
    this.drawn = new Map(); // station → the value that was written
    this.held = new Map(); // station → {since, until}: it keeps its look, because a chip is on its way to it
    for (const id of FIXED) {
      const box = document.querySelector(`[data-station="${id}"]`);
      makeFields(box.querySelector('dl'), FIELDS[id]);
      this.boxes.set(id, box);
    }
  }

  // hold lets a station stay as it is until a time, at most for so many ms without a change. The handlers wait for the
  // chip that comes to the station from which they get notifications.
  hold(id, until, now, most) {
    for (const { prefix, from } of IMPLEMENTATIONS) {
      if (id === from) this.handlers(prefix).forEach(handler => this.hold(handler, until, now, most));
    }
    if (!this.drawn.has(id)) return;
    const held = this.held.get(id);
    if (held?.until > now) held.until = Math.max(held.until, Math.min(until, held.since + most));
    else this.held.set(id, { since: now, until });
  }

  handlers(prefix) { return [...this.boxes.keys()].filter(id => id.startsWith(prefix)); }
  release() { this.held.clear(); }

  // draw writes the stations that have changed. With ages it writes all of them. moment is the time of the state, now
  // is the time of the page.
  draw(view, moment, now, ages) {
    this.syncHandlers(view);
    const most = scaleOf(view);
    const rescaled = most !== this.most;
    this.most = most;
    for (const [id, box] of this.boxes) {
      if (this.held.get(id)?.until > now || (!ages && !rescaled && this.drawn.get(id) === view[id])) continue;
      this.drawn.set(id, view[id]);
      this.drawOne(id, box, view[id] ?? {}, moment);
    }
    this.drawCursors();
    this.drawSums();
  }

  drawOne(id, box, value, moment) {
    const fields = FIELDS[id] ?? box.implementation.fields;
    const cells = box.cells ??= fields.map(([name]) => box.querySelector(`[data-field="${name}"]`));
    fields.forEach(([name, , say], i) => say && show(cells[i], say(value[name], moment), value[name]));
    if (id === 'server') {
      box.dataset.state = connectionState(value);
      box.parentElement.dataset.line = box.dataset.state;
    }
    if (id === 'reflector') drawReflector(box, value);
    if (id === 'store') drawStore(box, value);
    if (id === 'journal') drawChunks(box, value.chunks ?? []);
    if (box.implementation) this.drawHandler(box, value, moment);
  }

  drawHandler(box, value, moment) {
    const { last, speed } = value;
    box.dataset.speed = speed;
    show(box.querySelector('.speed'), speed ?? '', speed);
    show(box.querySelector('[data-field="inCall"]'), value.waiting ? 'in a call, ' : '', value.waiting > 0);
    box.querySelector('.backlog i').style.transform = `scaleX(${Math.min(1, (value.waiting ?? 0) / this.most)})`;
    show(box.querySelector('.last'), last ? sayCall(last, moment) : 'no call has returned yet', last ?? null);
    for (const button of box.querySelectorAll('[data-action="speed"]')) {
      button.setAttribute('aria-pressed', String(button.dataset.speed === speed));
    }
  }

  // syncHandlers makes and removes the boxes of handlers.
  syncHandlers(view) {
    for (const id of this.boxes.keys()) if (id.includes('handlers/') && !view[id]) this.remove(id);
    for (const id in view) {
      if (!id.includes('handlers/') || this.boxes.has(id)) continue;
      this.add(id, IMPLEMENTATIONS.find(({ prefix }) => id.startsWith(prefix)));
    }
  }

  add(id, implementation) {
    const ours = implementation.name === 'ours';
    const name = id.slice(implementation.prefix.length);
    const box = document.querySelector('#handler').content.firstElementChild.cloneNode(true);
    box.implementation = implementation;
    box.dataset.station = id;
    makeFields(box.querySelector('dl'), implementation.fields);
    const title = box.querySelector('.name');
    title.textContent = name;
    title.setAttribute('aria-label', `${ours ? '' : 'client-go’s '}handler ${name}: show its last calls`);
    if (!ours) box.querySelector('.speeds').remove();
    for (const button of box.querySelectorAll('[data-action]')) {
      button.dataset.handler = name;
      button.setAttribute('aria-label', `${button.textContent}: handler ${name}`);
    }
    box.addEventListener('click', event => {
      if (!event.target.closest('[data-action]')) this.onHandler(name, implementation.name, title);
    });
    const place = document.querySelector(implementation.list);
    place.insertBefore(box, [...place.children].find(({ dataset }) => joined(dataset.station) > joined(id)) ?? null);
    this.boxes.set(id, box);
    this.onLayout();
  }

  remove(id) {
    const box = this.boxes.get(id);
    if (box.contains(document.activeElement)) document.querySelector('[data-action="add"]').focus();
    box.remove();
    this.boxes.delete(id);
    this.drawn.delete(id);
    this.held.delete(id);
    this.onLayout();
  }

  // drawCursors puts a mark for each handler under the strip of chunks, at its position.
  drawCursors() {
    const { chunks = [], end = 0 } = this.drawn.get('journal') ?? {};
    const ours = this.handlers('handlers/').map(id => this.drawn.get(id)).filter(Boolean);
    const start = Math.min(end, ...ours.map(({ at = 0 }) => at));
    show(this.start ??= document.querySelector('[data-field="start"]'), count(start), start);
    const low = chunks[0]?.first ?? 0;
    const high = chunks.length ? chunks.at(-1).first + chunks.at(-1).size : 1;
    rows(this.cursors ??= document.querySelector('.cursors'), ours.length, makeCursor).forEach((row, i) => {
      const { name } = ours[i], at = Math.min(end, ours[i].at ?? 0);
      const x = Math.min(1, Math.max(0, (at - low) / (high - low)));
      const [mark, label] = row.children;
      show(label, `${at < low ? '‹ ' : ''}${name} ${count(at)}`, at);
      if (row.x === x) return;
      row.x = x;
      mark.style.left = `${x * 100}%`;
      label.style.left = x <= 0.5 ? `calc(${x * 100}% + 9px)` : 'auto';
      label.style.right = x > 0.5 ? `calc(${(1 - x) * 100}% + 9px)` : 'auto';
    });
  }

  drawSums() {
    for (const { prefix, sum } of IMPLEMENTATIONS) {
      const waiting = this.handlers(prefix).reduce((total, id) => total + (this.drawn.get(id)?.waiting ?? 0), 0);
      show(document.querySelector(sum), `${count(waiting)} waiting`, waiting);
    }
    const scale = `bars 0 to ${count(this.most)}`;
    for (const place of document.querySelectorAll('.scale')) show(place, scale, this.most);
  }
}

// joined returns the number in the name of a handler that joined later, such as handler-3.
const joined = id => Number(id.match(/\d+$/)?.[0] ?? 0);

// scaleOf returns the end of the backlog bars of all handlers: 1, 2 or 5 times a power of ten, at least 10.
function scaleOf(view) {
  let most = 10;
  for (const id in view) if (id.includes('handlers/')) most = Math.max(most, view[id].waiting ?? 0);
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map(n => n * power).find(n => n >= most);
}

function connectionState({ cut, connected }) {
  if (cut) return 'cut';
  return connected ? 'open' : 'closed';
}

function sayCall({ key, change, time, tookMs }, moment) {
  return `last call ${CHANGES[change]?.symbol ?? ''} ${nameOf(key)}, ${age(time, moment)}, ${millis(tookMs)}`;
}

function drawReflector(box, value) {
  box.dataset.state = value.doing;
  const { error = '' } = value, place = box.querySelector('[data-field="error"]');
  show(place, error.split(': ').slice(-2).join(': '), error); // the cause; the whole error is the title
  if (place.title !== error) place.title = error;
}

function drawStore(box, value) {
  const keys = value.keys ?? [], indexes = value.indexes ?? {};
  const names = keys.slice(0, 5).map(key => nameOf(key).replaceAll('-', '\u2011')).join('  '); // no break at a hyphen
  show(box.querySelector('[data-field="keys"]'), names + (keys.length > 5 ? ' …' : ''), keys);
  const place = box.querySelector('[data-field="indexes"]');
  place.dataset.value = JSON.stringify(indexes);
  const all = Object.entries(indexes);
  rows(place, all.length, makeIndex).forEach((element, i) => drawIndex(element, ...all[i], value.values[all[i][0]]));
}

// drawIndex gets the values that changed last, and how many there are in total.
function drawIndex(element, name, values, total) {
  const [title, list, rest] = element.children;
  show(title, `index ${name}`);
  const all = Object.entries(values ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const most = Math.max(1, ...all.map(([, n]) => n));
  rows(list, all.length, makeBar).forEach((row, i) => {
    const [label, bar, number] = row.children;
    const [value, objects] = all[i];
    label.title = value;
    show(label, value);
    bar.firstChild.style.transform = `scaleX(${objects / most})`;
    show(number, count(objects));
  });
  const leftOut = total - all.length;
  show(rest, leftOut ? `and ${plural(leftOut, 'more value')} that changed earlier` : '', leftOut);
}

function drawChunks(box, chunks) {
  const strip = box.querySelector('.strip');
  strip.dataset.value = JSON.stringify(chunks);
  rows(strip, chunks.length, makeChunk).forEach((element, i) => {
    const { first, size, used } = chunks[i];
    element.style.flexGrow = size;
    element.firstChild.style.transform = `scaleX(${used / size})`;
    const title = `from ${count(first)}: ${count(used)} of ${count(size)} used`;
    if (element.title !== title) element.title = title;
  });
}

const makeIndex = () => make('div', 'index', make('h5'), make('ul'), make('p', 'quiet'));
const makeBar = () => make('li', '', make('span', 'label'), make('span', 'bar', make('i')), make('span', 'number'));
const makeChunk = () => make('div', 'chunk', make('i'));
const makeCursor = () => make('li', '', make('i'), make('span'));
