// history.js: what was recorded, and the state after any record of it. It knows nothing of the page.

const KEEP = 5000; // records
const DROP = 250; // records that are dropped in one go

// History holds records at the positions first ≤ i < end; the position p means "records before p are applied". Each
// record has the state of all stations as it was sent with it, in its set.
export class History {
  constructor(state) {
    this.first = this.end = 0;
    this.records = [];
    this.before = state; // what there was before the first record
    this.captions = []; // {at, time, caption}
    this.skipped = 0; // events that the records kept stand for
  }

  // add takes a message of the program: the state, and the records that have come since the last one. There are none
  // after a break of the stream.
  add({ seq, time, set, records, missed }) {
    if (seq <= this.seqAt(this.end)) return;
    records ??= [{ seq, time, lane: 'ours', kind: 'connected again', skipped: 0 }];
    records[0].skipped += missed;
    for (const record of records) this.push({ ...record, set });
  }

  push(record) {
    this.records.push(record);
    this.end++;
    if (record.caption) this.captions.push({ at: this.end, time: record.time, caption: record.caption });
    this.skipped += record.skipped;
    if (this.records.length >= KEEP) this.drop();
  }

  drop() {
    const gone = this.records.splice(0, DROP);
    this.first += DROP;
    this.before = gone.at(-1);
    for (const record of gone) this.skipped -= record.skipped;
    this.captions = this.captions.filter((c, i) => c.at > this.first || i >= this.captions.length - 5);
  }

  // record is the last one applied at a position; undefined at the beginning.
  record(position) { return this.records[position - 1 - this.first]; }
  at(position) { return this.record(position) ?? this.before; }
  seqAt(position) { return this.at(position).seq; }
  timeAt(position) { return this.at(position).time; }
  view(position) { return this.at(position).set; }
  get latest() { return this.view(this.end); }

  clamp(position) { return Math.min(this.end, Math.max(this.first, position)); }

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
