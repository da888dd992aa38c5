// player.js: which record is shown: live, paused, or replayed at a speed.

const APART = 15; // ms of recorded time at least between two records of a slow replay, so that one sees each
const LONGEST = 1000; // ms of real time at most that a replay waits for the next record

// Player holds a position in a history, and the view at that position. tick is called once a frame.
export class Player {
  slower = 1;

  constructor(history) { this.start(history); }

  start(history) {
    this.history = history;
    this.paused = false;
    this.follow = this.slower === 1; // it shows records as soon as they come
    this.seek(history.end);
  }

  get mode() {
    if (this.paused) return 'paused';
    return this.follow || this.position === this.history.end ? 'live' : 'replaying';
  }

  // waiting is the number of records that are kept and have not been shown.
  get waiting() { return this.history.end - Math.max(this.position, this.history.first); }

  // seek shows the state at a position. The view stays, even if the history drops its record.
  seek(position) {
    this.show(this.history.clamp(position));
    this.time = this.history.timeAt(this.position); // recorded time; in a slow replay it runs slower than real time
    this.due = this.time; // when the last record was due
  }

  pause() { this.paused = true; this.follow = false; }

  play() { this.paused = false; }

  live() { this.paused = false; this.follow = true; this.slower = 1; }

  slow(times) {
    this.slower = times;
    if (times > 1) this.follow = false;
  }

  // tick continues by elapsed ms, and returns the records that it has applied.
  tick(elapsed) {
    const { history } = this;
    if (this.position < history.first && !this.paused) this.seek(history.first);
    if (this.paused || this.position === history.end) return [];
    if (!this.follow) return this.replay(elapsed);
    return this.apply(history.end);
  }

  replay(elapsed) {
    const { history } = this;
    this.time += elapsed / this.slower;
    let to = this.position;
    for (; to < history.end; to++) {
      const due = Math.max(history.timeAt(to + 1), this.slower > 1 ? this.due + APART : 0);
      this.time = Math.max(this.time, due - LONGEST / this.slower);
      if (due > this.time) break;
      this.due = due;
    }
    if (to === history.end && this.slower === 1) this.follow = true;
    return this.apply(to);
  }

  show(position) {
    this.position = position;
    this.view = this.history.view(position);
    this.record = this.history.record(position);
    this.seq = this.history.seqAt(position);
  }

  apply(to) {
    const from = this.position;
    this.show(to);
    return this.history.records.slice(from - this.history.first, to - this.history.first);
  }
}
