// connection.js: whether the reader answers. When it does not, the page says so, and asks until it does.
import { $, element } from "./dom.js";

const askEvery = 3000; // milliseconds
let isAsking = false;

// ask is fetch, for paths of the reader. It returns null if the reader does not answer.
export async function ask(path, options) {
  const answer = await fetch(path, options).catch(() => null);
  if (!answer || answer.status === 403) lookAfter();
  return answer;
}

// lookAfter looks whether the reader answers. If it does not, the page shows a message until it does, and is loaded
// anew then. A reader that was started again knows nothing of the browser, until its new address was opened.
export async function lookAfter() {
  if (isAsking) return;
  isAsking = true;
  const lost = $("#lost");
  for (;;) {
    const answer = await fetch("/-/find?words=").catch(() => null);
    if (answer && answer.status !== 403) break;
    const text = answer
      ? "The reader was started again, and has a new address: open the one that it has printed. Then this page goes on. "
      : "The reader has ended: start scripts/read.sh again, and open the address that it prints.";
    if (lost.firstChild?.textContent !== text) { // it is read aloud once
      lost.replaceChildren(text);
      if (answer) lost.append(Object.assign(element("a", "", "Load this page again"), { href: location.href }), ".");
    }
    lost.hidden = false;
    await new Promise(done => setTimeout(done, askEvery));
  }
  isAsking = false;
  if (!lost.hidden) location.reload();
}

// Without the reader, a link would lead to an error page of the browser.
document.addEventListener("click", event => {
  const link = event.target.closest("a[href]");
  const isOnPage = link?.hash && link.pathname === location.pathname;
  if (!link || $("#lost").hidden || $("#lost").contains(link) || link.origin !== location.origin || isOnPage) return;
  event.preventDefault();
  event.stopPropagation();
}, true);
