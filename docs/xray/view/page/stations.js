// stations.js: writes the state of each station into its box. It writes a text only if the text differs.
import { CHANGES, age, count, countdown, kib, millis, nameOf, stationName, yesNo } from './format.js';
import { make, rows, show } from './dom.js';
import { drawChunks, drawQueue, drawReflector, drawStore, makeBar } from './parts.js';

const text = value => value || '–';

// The fields of each station: its name in the state, its label, and a function that makes a text of the value and the
// time. The field start has no function, because drawCursors writes it.
const FIELDS = {
  server: [['connected', 'connected', yesNo], ['cut', 'cut', yesNo], ['lists', 'LIST requests', count],
    ['watches', 'WATCH requests', count], ['bytes', 'sent', kib]],
  reflector: [['doing', 'doing', text], ['until', 'tries again', countdown], ['version', 'version', text],
    ['lastEvent', 'last event', age], ['events', 'events', count], ['bookmarks', 'bookmarks', count]],
  queue: [['waiting', 'deltas that wait', count], ['pops', 'pops', count], ['dropped', 'dropped', count]],
  store: [['objects', 'objects', count], ['version', 'version', text]],
  journal: [['end', 'notifications', count], ['start', 'needed from']],
  channels: [['end', 'notifications', count]],
  informer: [['received', 'objects and events received', count], ['objects', 'objects', count]],
};
const PARTS = ['reflector', 'queue', 'store', 'journal', 'channels']; // of an informer, if it has them

// The informers: the prefix of their stations, the stations from which handlers get notifications, and the elements of
// the page. A second informer of ours has the place of client-go's.
const HANDLER = [['waiting', 'waiting', count], ['calls', 'calls', count]];
const IMPLEMENTATIONS = [
  { name: 'ours', prefix: '', from: ['journal', 'channels'], lane: '.lane.ours', list: '#handlers', sum: '#sum-ours',
    parts: PARTS },
  { name: 'second', prefix: 'second/', from: ['second/journal', 'second/channels'], lane: '.lane.theirs',
    list: '#their-handlers', sum: '#sum-theirs', parts: PARTS },
  { name: 'client-go', prefix: 'client-go/', from: ['client-go/informer'], list: '#their-handlers',
    sum: '#sum-theirs', parts: [] },
];
const kindOf = id => id.slice(id.lastIndexOf('/') + 1); // of a station: "queue" for "second/queue"

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
    for (const { lane, prefix, parts } of IMPLEMENTATIONS) {
      if (lane) document.querySelector(lane).append(document.querySelector('#parts').content.cloneNode(true));
      for (const box of lane ? document.querySelector(lane).querySelectorAll('[aria-label].station') : []) {
        box.dataset.station = prefix + box.dataset.station;
        if (prefix) box.setAttribute('aria-label', `${box.getAttribute('aria-label')} of the second informer`);
      }
      for (const part of parts) this.fix(prefix + part);
    }
    this.fix('server');
    this.fix('client-go/informer');
  }

  fix(id) {
    const box = document.querySelector(`[data-station="${id}"]`);
    makeFields(box.querySelector('dl'), FIELDS[kindOf(id)]);
    this.boxes.set(id, box);
  }

  // hold lets a station stay as it is until a time, at most for so many ms without a change. The handlers wait for the
  // chip that comes to the station from which they get notifications.
  hold(id, until, now, most) {
    for (const { prefix, from } of IMPLEMENTATIONS) {
      if (from.includes(id)) this.handlers(prefix).forEach(handler => this.hold(handler, until, now, most));
    }
    if (!this.drawn.has(id)) return;
    const held = this.held.get(id);
    if (held?.until > now) held.until = Math.max(held.until, Math.min(until, held.since + most));
    else this.held.set(id, { since: now, until });
  }

  handlers(prefix) { return [...this.boxes.keys()].filter(id => id.startsWith(`${prefix}handlers/`)); }
  release() { this.held.clear(); }

  // draw writes the stations that have changed. With ages it writes all of them. moment is the time of the state, now
  // is the time of the page.
  draw(view, moment, now, ages) {
    this.syncHandlers(view);
    const most = scaleOf(view);
    const rescaled = most !== this.most;
    this.most = most;
    this.showStations(view);
    for (const [id, box] of this.boxes) {
      if (box.hidden) continue;
      if (this.held.get(id)?.until > now || (!ages && !rescaled && this.drawn.get(id) === view[id])) continue;
      this.drawn.set(id, view[id]);
      this.drawOne(id, box, view[id] ?? {}, moment);
    }
    for (const { prefix, parts } of IMPLEMENTATIONS) {
      if (!parts.length) continue;
      if (view[`${prefix}journal`]) this.drawCursors(prefix);
      if (view[`${prefix}channels`]) this.drawBuffers(prefix);
    }
    this.drawSums(view);
  }

  // showStations hides the stations that the informers on show do not have.
  showStations(view) {
    for (const [id, box] of this.boxes) {
      if (box.hidden === !view[id]) continue;
      box.hidden = !view[id];
      this.onLayout();
    }
  }

  drawOne(id, box, value, moment) {
    const kind = box.implementation ? 'handler' : kindOf(id);
    const fields = FIELDS[kind] ?? box.fields;
    const cells = box.cells ??= fields.map(([name]) => box.querySelector(`[data-field="${name}"]`));
    fields.forEach(([name, , say], i) => say && show(cells[i], say(value[name], moment), value[name]));
    if (kind === 'server') {
      box.dataset.state = connectionState(value);
      box.parentElement.dataset.line = box.dataset.state;
    }
    if (kind === 'reflector') drawReflector(box, value);
    if (kind === 'queue') drawQueue(box, value);
    if (kind === 'store') drawStore(box, value);
    if (kind === 'journal') drawChunks(box, value.chunks ?? []);
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
      this.add(id, IMPLEMENTATIONS.find(({ prefix }) => id.startsWith(`${prefix}handlers/`)), view);
    }
  }

  add(id, implementation, view) {
    const ours = implementation.name === 'ours';
    const name = kindOf(id);
    const box = document.querySelector('#handler').content.firstElementChild.cloneNode(true);
    box.implementation = implementation;
    box.dataset.station = id;
    const folds = view[`${implementation.prefix}journal`];
    box.fields = folds ? [...HANDLER, ['folded', 'folded', count]] : HANDLER;
    makeFields(box.querySelector('dl'), box.fields);
    const title = box.querySelector('.name');
    title.textContent = name;
    title.setAttribute('aria-label', `${stationName(id)}: show its last calls`);
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

  // clear removes all handlers: other informers have other ones, with the same names.
  clear() {
    this.held.clear();
    this.drawn.clear();
    for (const id of [...this.boxes.keys()]) if (id.includes('handlers/')) this.remove(id);
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

  // drawBuffers shows how much waits for each handler in its buffer.
  drawBuffers(prefix) {
    const all = this.handlers(prefix).map(id => this.drawn.get(id)).filter(Boolean);
    const place = this.boxes.get(`${prefix}channels`).querySelector('.buffers');
    rows(place, all.length, makeBar).forEach((row, i) => {
      const [label, bar, number] = row.children;
      const { name, waiting } = all[i];
      show(label, name);
      bar.firstChild.style.transform = `scaleX(${Math.min(1, waiting / this.most)})`;
      show(number, count(waiting), waiting);
    });
  }

  // drawCursors puts a mark for each handler under the strip of chunks, at its position.
  drawCursors(prefix) {
    const box = this.boxes.get(`${prefix}journal`);
    const { chunks = [], end = 0 } = this.drawn.get(`${prefix}journal`) ?? {};
    const ours = this.handlers(prefix).map(id => this.drawn.get(id)).filter(Boolean);
    const start = Math.min(end, ...ours.map(({ at = 0 }) => at));
    show(box.querySelector('[data-field="start"]'), count(start), start);
    const low = chunks[0]?.first ?? 0;
    const high = chunks.length ? chunks.at(-1).first + chunks.at(-1).size : 1;
    rows(box.querySelector('.cursors'), ours.length, makeCursor).forEach((row, i) => {
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

  drawSums(view) {
    for (const { name, prefix, sum } of IMPLEMENTATIONS) {
      if (name !== 'ours' && (name === 'second') !== Boolean(view['second/store'])) continue; // not on show
      const waiting = this.handlers(prefix).reduce((total, id) => total + (this.drawn.get(id)?.waiting ?? 0), 0);
      show(document.querySelector(sum), `${count(waiting)} waiting`, waiting);
    }
    const scale = `bars 0 to ${count(this.most)}`;
    for (const place of document.querySelectorAll('.scale')) show(place, scale, this.most);
  }
}

// drawTitles says what the informers are made of.
export function drawTitles(parts) {
  const second = parts.second ?? parts['client-go'];
  document.querySelector('#title-ours').textContent = parts.ours.title || 'Our informer';
  document.querySelector('#title-theirs').textContent = `${second.title || 'client-go’s informer'}, same events`;
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
const makeCursor = () => make('li', '', make('i'), make('span'));
