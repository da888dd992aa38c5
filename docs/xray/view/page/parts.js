// parts.js: what the boxes of a reflector, a queue, a store and a journal show besides their fields.
import { CHANGES, count, nameOf, plural, symbol } from './format.js';
import { make, rows, show } from './dom.js';

export function drawReflector(box, value) {
  box.dataset.state = value.doing;
  const { error = '' } = value, place = box.querySelector('[data-field="error"]');
  show(place, error.split(': ').slice(-2).join(': '), error); // the cause; the whole error is the title
  if (place.title !== error) place.title = error;
}

// drawQueue writes what waits: a line for each pop to come, with a sign for each delta.
export function drawQueue(box, { name, loop, items = [], more, popped, compared }) {
  const field = field => box.querySelector(`[data-field="${field}"]`);
  show(field('name'), name ?? '');
  drawItems(field('items'), items);
  show(field('more'), more ? `and ${plural(more, 'more pop')}` : '', more);
  drawPopped(field('popped'), popped);
  const missing = compared?.missing ? `missing ${compared.names}` : 'none missing';
  show(field('compared'), compared ? `${count(compared.listed)}, ${missing}` : '–', compared ?? null);
  for (const button of box.querySelectorAll('[data-action="loop"]')) {
    button.setAttribute('aria-pressed', String(button.dataset.speed === loop));
  }
}

function drawItems(list, items) {
  const plain = JSON.stringify(items);
  if (list.dataset.value === plain) return;
  list.dataset.value = plain;
  list.replaceChildren(...items.map(({ key, deltas }) => {
    const label = make('span', 'label', nameOf(key));
    label.title = `${nameOf(key)}: ${sayDeltas(deltas)}`;
    const marks = deltas.map(word => (CHANGES[word] ? symbol(word) : word));
    return make('li', '', label, make('span', 'marks', ...marks, make('span', 'unseen', sayDeltas(deltas))));
  }));
}

const sayDeltas = deltas => deltas.map(word => CHANGES[word]?.word ?? word).join(', ');

function drawPopped(place, popped) {
  const signs = (popped?.deltas ?? []).map(word => CHANGES[word]?.symbol ?? word).join(' ');
  show(place, popped ? `${nameOf(popped.key)} ${signs}` : '–', popped ?? null);
  place.parentElement.title = popped ? `${nameOf(popped.key)}: ${sayDeltas(popped.deltas)}` : '';
}

export function drawStore(box, value) {
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

export function drawChunks(box, chunks) {
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
export const makeBar = () => make('li', '', make('span', 'label'), make('span', 'bar', make('i')), make('span', 'number'));
const makeChunk = () => make('div', 'chunk', make('i'));
