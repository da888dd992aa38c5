// panel.js: the panel at the side: an object before and after a change, or the last calls of a handler.
import { CHANGES, age, clock, millis, nameOf } from './format.js';
import { diff, toLines } from './diff.js';
import { make } from './dom.js';

const panel = document.querySelector('#panel');
const title = document.querySelector('#panel-title');
const body = document.querySelector('#panel-body');
let opener = null;

panel.addEventListener('close', () => {
  const visible = opener?.isConnected && !opener.hidden;
  (visible ? opener : document.querySelector('#t-recent')).focus();
});
panel.addEventListener('click', event => { if (event.target === panel) panel.close(); });
document.querySelector('#panel-close').addEventListener('click', () => panel.close());

function open(words, from) {
  opener = from;
  title.textContent = words;
  body.replaceChildren(make('p', 'quiet', 'Loading …'));
  if (!panel.open) panel.showModal();
}

// load asks for JSON, and shows the elements that build makes of it, or the error.
async function load(url, build) {
  try {
    const response = await fetch(url);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error ?? response.statusText);
    body.replaceChildren(...build(answer));
  } catch (error) {
    body.replaceChildren(make('p', 'error', error.message));
  }
}

export function openObject({ seq, name, change }, query, from) {
  open(`${name}: ${CHANGES[change]?.word ?? change}`, from);
  if (!seq) {
    body.replaceChildren(make('p', 'quiet', 'The object of this change is no longer kept.'));
    return;
  }
  load(`/xray/object/${seq}${query}`, ({ key, before, after }) => {
    const known = before || !after || ['add', 'initial'].includes(change); // a record of client-go may lack it
    const lines = diff(toLines(ordered(known ? before : after)), toLines(ordered(after)));
    return [make('p', 'quiet', `${key} ${sayDiff(known, before, after, lines)}`), diffTable(lines)];
  });
}

// ordered puts the metadata first, which tells two versions of an object apart.
const ordered = object => object && { metadata: object.metadata, ...object };

function sayDiff(known, before, after, lines) {
  if (!known) return 'as this notification has it; what was before is not kept here.';
  if (!before) return 'was not there before.';
  if (!after) return 'is gone.';
  return lines.some(([sign]) => sign !== ' ') ? 'before and after:' : 'has not changed.';
}

function diffTable(lines) {
  const table = make('table', 'diff');
  table.setAttribute('aria-label', 'Lines before and after');
  for (const [sign, text] of lines) {
    const row = table.insertRow();
    row.className = { '+': 'plus', '−': 'minus', ' ': '' }[sign];
    row.append(make('td', 'sign', sign), make('td', '', text));
  }
  return table;
}

export function openHandler(name, implementation, query, moment, from) {
  open(`${implementation === 'ours' ? 'Handler' : 'client-go’s handler'} ${name}: last calls`, from);
  const separator = query ? '&' : '?';
  const url = `/xray/handlers/${encodeURIComponent(name)}${query}${separator}implementation=${implementation}`;
  load(url, ({ calls }) => {
    if (!calls?.length) return [make('p', 'quiet', 'No call has returned yet.')];
    return [callsTable(calls, moment)];
  });
}

function callsTable(calls, moment) {
  const table = make('table', 'calls');
  const head = table.createTHead().insertRow();
  for (const label of ['Time', 'Age', 'Event', 'Object', 'Took']) {
    const cell = make('th', '', label);
    cell.scope = 'col';
    head.append(cell);
  }
  const rows = table.createTBody();
  for (const { time, key, change, tookMs } of calls) {
    const { symbol = '', word = change } = CHANGES[change] ?? {};
    const cells = [clock(time), age(time, moment), `${symbol} ${word}`, nameOf(key), millis(tookMs)];
    rows.insertRow().append(...cells.map(words => make('td', '', words)));
  }
  return table;
}
