// keep.js: what the clone keeps for the reader: the place, light or dark, and that the tips were closed. A browser would
// keep it for this address only, and the next start may have another one.

export const keep = what =>
  fetch("/-/keep?" + new URLSearchParams(what), { method: "POST", keepalive: true }).catch(() => {}); // the reader has ended

const page = "place" in document.body.dataset ? document.body.dataset.name : null; // null: it is none to come back to
const wait = 300; // milliseconds, while somebody scrolls
let section = null, timer = 0;

function send() {
  clearTimeout(timer);
  timer = 0;
  keep({ page, section });
}

// keepPlace notes which section is read, by the anchor of its heading.
export function keepPlace(anchor) {
  if (page === null || document.hidden || anchor === section) return;
  const isFirst = section === null;
  section = anchor;
  if (isFirst) send();
  else timer ||= setTimeout(send, wait);
}

addEventListener("pagehide", () => timer && send());
document.addEventListener("visibilitychange", () => { // of two tabs, the one that was seen last counts
  if (page === null || section === null) return;
  if (!document.hidden || timer) send();
});
