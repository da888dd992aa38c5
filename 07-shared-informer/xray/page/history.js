// history.js: what was recorded, and the state after any record of it. It knows nothing of the page.

export const KEEP = 5000; // records
const EVERY = 250; // records between two checkpoints

// fold changes view as the record says: null removes a station.
export function fold(view, set) {
  for (const [station, value] of Object.entries(set ?? {})) {
    if (value === null) delete view[station];
    else view[station] = value;
  }
}

// History holds records at the positions first ≤ i < end; the position p means "records before p are applied".
// checkpoints[k] is the state at the position first + k*EVERY. Values of stations are never changed in place, so that
// a checkpoint is a shallow copy.
export class History {
  constructor(state) {
    this.first = this.end = 0;
    this.records = [];
    this.seqBefore = state.seq; // of the record before the first one
    this.timeBefore = state.time;
    this.latest = { ...state.set };
    this.checkpoints = [{ ...state.set }];
    this.captions = []; // {at, time, caption}
    this.skipped = 0; // events that the records kept stand for
  }

  push(record) {
    if (record.seq <= this.seqAt(this.end)) return;
    this.records.push(record);
    this.end++;
    fold(this.latest, record.set);
    if (record.caption) this.captions.push({ at: this.end, time: record.time, caption: record.caption });
    this.skipped += record.skipped ?? 0;
    if (this.records.length % EVERY === 0) this.checkpoints.push({ ...this.latest });
    if (this.records.length >= KEEP) this.drop();
  }

  // drop lets the oldest records go into the base: as many as lie before the second checkpoint.
  drop() {
    const gone = this.records.splice(0, EVERY);
    this.checkpoints.shift();
    this.first += EVERY;
    this.seqBefore = gone.at(-1).seq;
    this.timeBefore = gone.at(-1).time;
    for (const record of gone) this.skipped -= record.skipped ?? 0;
    this.captions = this.captions.filter((c, i) => c.at > this.first || i >= this.captions.length - 5);
  }

  // record is the last one applied at a position; undefined at the beginning.
  record(position) { return this.records[position - 1 - this.first]; }
  seqAt(position) { return this.record(position)?.seq ?? this.seqBefore; }
  timeAt(position) { return this.record(position)?.time ?? this.timeBefore; }

  clamp(position) { return Math.min(this.end, Math.max(this.first, position)); }

  // view is the state at a position, from the checkpoint before it.
  view(position) {
    const n = this.clamp(position) - this.first;
    const k = Math.min(Math.floor(n / EVERY), this.checkpoints.length - 1);
    const view = { ...this.checkpoints[k] };
    for (let i = k * EVERY; i < n; i++) fold(view, this.records[i].set);
    return view;
  }

  // objectSeq is the seq under which the program keeps the object of a change, before and after; undefined if there is
  // none. An event has no object before: the record that comes when it is stored has.
  objectSeq({ seq, key, change, to }) {
    const at = this.records.findLastIndex(r => r.seq <= seq);
    const fits = ({ chip }) => chip?.object && chip.key === key && chip.change === change;
    const stored = r => fits(r) && r.chip.to === 'store';
    const arrives = to === 'reflector' || to === 'client-go/informer';
    return (arrives && this.records.slice(at, at + 300).find(stored)?.seq)
      || this.records.slice(0, at + 1).findLast(fits)?.seq;
  }

  // captionsAt are the last captions at a position, newest first.
  captionsAt(position, most = 8) {
    return this.captions.filter(c => c.at <= position).slice(-most).reverse();
  }

  // changes are the latest changes of objects, newest first: the stations that one change passes make one line.
  changes(position, most = 12) {
    const stages = { reflector: 1, store: 2, log: 3 };
    const lines = [], byKey = new Map();
    for (let p = position; p > Math.max(this.first, position - 400) && lines.length < most; p--) {
      const { chip, time, seq } = this.record(p);
      const stage = stages[chip?.to];
      if (!stage) continue;
      const line = byKey.get(chip.key);
      if (line && line.change === chip.change && stage < line.stage) {
        line.stage = stage;
        continue;
      }
      const made = { ...chip, time, seq, stage };
      byKey.set(chip.key, made);
      lines.push(made);
    }
    return lines;
  }
}
