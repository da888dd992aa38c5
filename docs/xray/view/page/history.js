// history.js: the records that have come, and the state after each of them. It does not touch the page.

const KEEP = 5000; // records
const DROP = 250; // records that are dropped in one go

// History holds the records at the positions first ≤ i < end. At position p, the records before p are applied. Each
// record has in its set the state of all stations that came with it.
export class History {
  constructor(state) {
    this.first = this.end = 0;
    this.records = [];
    this.before = state; // the state before the first record
    this.captions = []; // {at, time, caption}
    this.skipped = 0; // events without a record, between the records that are kept
  }

  // add takes a message of the program: the state, and the records since the last message. After a break of the stream
  // a message has no records.
  add({ seq, time, set, records, missed }) {
    if (seq <= this.seqAt(this.end)) return;
    records ??= [{ seq, time, implementation: 'ours', kind: 'connected again', skipped: 0 }];
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

  // record returns the last record that is applied at a position, or undefined at the beginning.
  record(position) { return this.records[position - 1 - this.first]; }
  at(position) { return this.record(position) ?? this.before; }
  seqAt(position) { return this.at(position).seq; }
  timeAt(position) { return this.at(position).time; }
  view(position) { return this.at(position).set; }
  get latest() { return this.view(this.end); }

  clamp(position) { return Math.min(this.end, Math.max(this.first, position)); }

  // objectSeq returns the seq of the record whose object shows a change, before and after; undefined if there is none.
  // When an event arrives at an informer, its record has no object before. A record soon after has it: when the change
  // is stored.
  objectSeq({ seq, key, change, to }) {
    const at = this.records.findLastIndex(r => r.seq <= seq);
    const fits = ({ chip }) => chip?.object && chip.key === key && chip.change === change;
    if (['reflector', 'queue', 'client-go/informer'].includes(to)) {
      const stored = this.records.slice(at, at + 300).find(r => fits(r) && r.chip.to === 'store');
      if (stored) return stored.seq;
    }
    return this.records.slice(0, at + 1).findLast(fits)?.seq;
  }

  // captionsAt returns the last captions at a position, the newest first.
  captionsAt(position, most = 8) {
    return this.captions.filter(c => c.at <= position).slice(-most).reverse();
  }

  // changes returns the latest changes of objects, the newest first. A change has one line, however many stations it
  // passes.
  changes(position, most = 12) {
    const stages = { reflector: 1, store: 2, journal: 3, channels: 3 };
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
