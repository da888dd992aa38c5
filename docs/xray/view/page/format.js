// format.js: numbers, ages and names as text; the kinds of change with their symbols.

export const CHANGES = {
  add: { symbol: '+', word: 'add' },
  update: { symbol: '~', word: 'update' },
  delete: { symbol: '−', word: 'delete' },
  tombstone: { symbol: '†', word: 'tombstone' },
  resync: { symbol: '↻', word: 'same again' },
  initial: { symbol: '▸', word: 'initial add' },
  listed: { symbol: '≡', word: 'from a list' },
};

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const tenth = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const count = n => whole.format(n ?? 0);
export const kib = bytes => tenth.format((bytes ?? 0) / 1024) + ' KiB';
export const yesNo = b => (b ? 'yes' : 'no');
export const plural = (n, noun) => `${count(n)} ${n === 1 ? noun : noun + 's'}`;
export const clock = ms => time.format(ms);

export function millis(ms) {
  if (ms < 0.1) return '< 0.1 ms';
  if (ms < 10) return `${tenth.format(ms)} ms`;
  return `${whole.format(ms)} ms`;
}

// age says how long before now something was.
export function age(ms, now) {
  if (!ms) return '–';
  const s = Math.max(0, (now - ms) / 1000);
  if (s < 1) return 'now';
  if (s < 90) return `${Math.floor(s)} s ago`;
  if (s < 5400) return `${Math.round(s / 60)} min ago`;
  return `${Math.round(s / 3600)} h ago`;
}

export function countdown(ms, now) {
  return ms ? `in ${tenth.format(Math.max(0, (ms - now) / 1000))} s` : '–';
}

// nameOf returns a key without its namespace.
export function nameOf(key = '') {
  return key.slice(key.indexOf('/') + 1);
}

// stationName returns the name of a station for a sentence: for "handlers/slow" it is "handler slow".
export function stationName(id) {
  return id.replace('client-go/', 'client-go’s ').replace('second/', 'second ').replace('handlers/', 'handler ')
    .replace(/^server$/, 'API server');
}

// describe returns a sentence about a record, for somebody who has paused at it.
export function describe(record) {
  if (!record) return 'The oldest state that is kept.';
  if (record.caption) return record.caption.text;
  const informer = { 'client-go': 'client-go’s informer', second: 'the second informer' }[record.implementation]
    ?? 'our informer';
  if (!record.chip) return `${informer}: ${record.kind}.`;
  const { change, name, from, to } = record.chip;
  const word = CHANGES[change]?.word ?? change;
  return `${informer}, ${record.kind}: ${word} of ${name}, ${stationName(from)} → ${stationName(to)}.`;
}

// symbol makes the mark of a kind of change: its shape and colour come from the class.
export function symbol(change) {
  const mark = document.createElement('i');
  mark.className = `mark ${change}`;
  mark.textContent = CHANGES[change]?.symbol ?? '·';
  mark.setAttribute('aria-hidden', 'true');
  return mark;
}
