// chips.js: the lines between the stations, and the chips that travel along them.
import { CHANGES, symbol } from './format.js';

const MOST = 40; // chips in flight
const TRAVEL = 420; // ms from one station to the next
const APART = 150; // ms between two chips that set out on one line
const PATIENCE = 2500; // ms that a chip may wait for its start; later ones are left out
const EASE = 'cubic-bezier(0.4, 0.2, 0.6, 0.8)';
const SVG = 'http://www.w3.org/2000/svg';

const still = matchMedia('(prefers-reduced-motion: reduce)');
const narrow = matchMedia('(max-width: 1040px)');

export class Chips {
  constructor(stage, stations, onOpen) {
    this.stage = stage;
    this.stations = stations;
    this.svg = stage.querySelector('.lines');
    this.lines = new Map(); // "from>to" → {points, free, busy}
    this.flying = new Set();
    this.pool = [];
    this.arrivals = new Map(); // "station|key" → when the chip of that key gets there
    this.stale = true;
    stage.addEventListener('pointerdown', event => {
      const chip = event.target.closest('.chip');
      if (chip) onOpen(chip.record, chip);
    });
    stage.addEventListener('click', event => { // Enter on the chip that is held
      const chip = event.target.closest('.chip');
      if (chip && event.detail === 0) onOpen(chip.record, chip);
    });
    const watch = new ResizeObserver(() => { this.stale = true; });
    this.watch = element => watch.observe(element);
    this.watch(stage);
    narrow.addEventListener('change', () => { this.stale = true; });
  }

  // layout measures the stations and draws the lines, if something moved since.
  layout() {
    if (!this.stale) return;
    this.stale = false;
    const base = this.stage.getBoundingClientRect();
    const nodes = new Map();
    for (const [id, box] of this.stations.boxes) {
      if (!box.offsetParent) continue; // it is not shown in a narrow window
      const { left, top, width, height } = box.querySelector('.node').getBoundingClientRect();
      nodes.set(id, { x: left + width / 2 - base.left, y: top + height / 2 - base.top });
    }
    const server = this.stations.boxes.get('server').getBoundingClientRect();
    const edge = server.right - base.left;
    const old = this.lines;
    this.lines = new Map();
    this.svg.replaceChildren();
    for (const [from, to] of this.pairs(nodes)) this.draw(from, to, nodes, edge, old);
    for (const chip of this.flying) this.reroute(chip);
  }

  // reroute moves a chip to where its line is now.
  reroute(chip) {
    const line = this.lines.get(`${chip.dataset.from}>${chip.dataset.to}`);
    if (!line) return;
    chip.flight?.effect.setKeyframes(keyframes(line.points, chip.held));
    if (chip.held) chip.style.transform = place(line.points.at(-1));
  }

  pairs(nodes) {
    const all = [['server', 'client-go/informer']];
    for (const informer of ['', 'second/']) {
      const row = ['reflector', 'queue', 'store', 'journal', 'channels'].map(name => informer + name);
      ['server', ...row.filter(id => nodes.has(id))].forEach((id, i, ids) => { if (i) all.push([ids[i - 1], id]); });
    }
    for (const id of nodes.keys()) {
      const [informer, name] = id.split(/(?<=^|\/)handlers\//);
      if (name === undefined) continue;
      // From the store come the initial adds of a handler that joins.
      for (const from of ['informer', 'journal', 'channels', 'store']) all.push([informer + from, id]);
    }
    return all.filter(([from, to]) => nodes.has(from) && nodes.has(to));
  }

  draw(from, to, nodes, edge, old) {
    const path = document.createElementNS(SVG, 'path');
    let a = nodes.get(from);
    const b = nodes.get(to);
    if (from === 'server') {
      if (!narrow.matches) a = { x: edge, y: b.y };
      else if (to !== 'reflector') a = { x: b.x, y: b.y - 40 }; // our informer lies between
    }
    path.setAttribute('d', narrow.matches || Math.abs(a.y - b.y) < 2 ? `M${a.x} ${a.y}L${b.x} ${b.y}` : bend(a, b));
    if (from === 'server') path.classList.add('cable');
    this.svg.append(path);
    const line = old.get(`${from}>${to}`) ?? { free: 0, busy: 0 };
    const half = narrow.matches ? 0 : 36; // of a chip: it does not cover the texts at both ends
    line.points = sample(path, from === 'server' ? half : 0, to.includes('handlers/') ? half : 0);
    this.lines.set(`${from}>${to}`, line);
  }

  // send lets the chip of a record set out after the chip of the same key has come to where this one starts.
  // It returns the time of arrival, 0 if the chip is left out.
  send(record, now, slower) {
    const { key, from, to } = record.chip;
    const line = this.lines.get(`${from}>${to}`);
    if (!line || this.flying.size >= MOST || line.busy >= this.share()) return 0;
    const start = Math.max(now, line.free, this.arrivals.get(`${from}|${key}`) ?? 0);
    if (start - now > PATIENCE * slower) return 0;
    const end = start + TRAVEL * slower;
    line.free = start + APART * slower;
    this.remember(`${to}|${key}`, end, now);
    this.fly(record, line, { duration: end - start, delay: start - now });
    return end;
  }

  // share is how many chips one line may have: when there are many, the first lines leave some to the others.
  share() { return this.flying.size < MOST / 2 ? MOST / 3 : MOST / this.lines.size; }

  remember(place, end, now) {
    this.arrivals.set(place, end);
    if (this.arrivals.size < 1000) return;
    for (const [old, time] of this.arrivals) if (time < now) this.arrivals.delete(old);
  }

  fly(record, line, timing) {
    const chip = this.take(record, false);
    line.busy++;
    this.flying.add(chip);
    chip.flight = chip.animate(keyframes(line.points, false), { easing: EASE, ...timing });
    const done = () => {
      line.busy--;
      this.pulse(record.chip);
      this.putBack(chip);
    };
    chip.flight.onfinish = done;
    chip.flight.oncancel = () => { line.busy--; };
  }

  // pulse lets the mark of the station where a chip arrives light up.
  pulse({ to, change }) {
    const node = this.stations.boxes.get(to)?.querySelector('.node');
    if (!node || still.matches || node.pulse?.playState === 'running' || this.flying.size > MOST / 2) return;
    const boxShadow = [`0 0 0 3px var(--${change})`, '0 0 0 12px transparent'];
    node.pulse = node.animate({ boxShadow }, { duration: 600, easing: 'ease-out' });
  }

  // holdStill shows the chip of the record at which the page is paused; it is a button that one can reach.
  holdStill(record, travel) {
    const focused = this.flying.has(document.activeElement);
    this.clear();
    const line = record?.chip && this.lines.get(`${record.chip.from}>${record.chip.to}`);
    if (!line) return;
    const chip = this.take(record, true);
    this.flying.add(chip);
    chip.tabIndex = 0;
    chip.removeAttribute('aria-hidden');
    if (focused) chip.focus();
    chip.style.transform = place(line.points.at(-1));
    chip.style.opacity = 1;
    if (travel && !still.matches) {
      chip.flight = chip.animate(keyframes(line.points, true), { duration: TRAVEL, easing: EASE });
    }
  }

  clear() {
    for (const chip of this.flying) {
      chip.flight?.cancel();
      this.putBack(chip);
    }
    this.arrivals.clear();
    for (const line of this.lines.values()) { line.busy = 0; line.free = 0; }
  }

  take(record, held) {
    const { key, name, change, from, to } = record.chip;
    const chip = this.pool.pop() ?? this.makeChip();
    chip.record = record;
    chip.held = held;
    chip.className = `chip ${change}`;
    chip.tabIndex = -1;
    chip.setAttribute('aria-hidden', 'true');
    chip.setAttribute('aria-label', `${CHANGES[change]?.word ?? change} of ${name}: show the object before and after`);
    chip.replaceChildren(symbol(change), name);
    Object.assign(chip.dataset, { key, change, from, to, chip: record.seq });
    chip.style.opacity = 0;
    chip.hidden = false;
    return chip;
  }

  makeChip() {
    const chip = document.createElement('button');
    this.stage.append(chip);
    return chip;
  }

  putBack(chip) {
    this.flying.delete(chip);
    chip.flight = null;
    chip.hidden = true;
    delete chip.dataset.chip;
    this.pool.push(chip);
  }
}

// bend is a line that goes right, then up or down, then right again, with round corners: as on a map of trains.
function bend(a, b) {
  const middle = b.x - 16, way = Math.sign(b.y - a.y), r = Math.min(10, Math.abs(b.y - a.y) / 2);
  return `M${a.x} ${a.y}H${middle - r}Q${middle} ${a.y} ${middle} ${a.y + way * r}`
    + `V${b.y - way * r}Q${middle} ${b.y} ${middle + r} ${b.y}H${b.x}`;
}

function sample(path, skipFirst, skipLast) {
  const length = path.getTotalLength() - skipFirst - skipLast;
  return Array.from({ length: 13 }, (_, i) => path.getPointAtLength(skipFirst + length * i / 12));
}

const place = ({ x, y }) => `translate(${x}px, ${y}px) translate(var(--middle), -50%)`;

// keyframes move a chip along the points, and fade it if it is not held there. Without motion it only appears at the
// end.
function keyframes(points, held) {
  if (still.matches) {
    const transform = place(points.at(-1));
    return [{ transform, opacity: 1 }, { transform, opacity: 1, offset: 0.7 }, { transform, opacity: 0 }];
  }
  const frames = points.map((point, i) => ({ transform: place(point), offset: i / (points.length - 1) }));
  Object.assign(frames[0], { opacity: 0 });
  Object.assign(frames.at(-1), { opacity: held ? 1 : 0.2 });
  frames.splice(1, 0, { opacity: 1, offset: 0.03 });
  frames.splice(-1, 0, { opacity: 1, offset: 0.97 });
  return frames;
}
