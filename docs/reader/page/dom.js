// dom.js: short names, and messages that go away.
export const $ = (selector, within = document) => within.querySelector(selector);
export const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

// element makes an element.
export function element(name, className, text = "") {
  return Object.assign(document.createElement(name), { className, textContent: text });
}

let refusals = [];

// refuse says why something is not done now. It stays until forgetRefusals.
export function refuse(status, text) {
  refusals.push({ status, text, before: status.textContent, className: status.className });
  status.textContent = text;
  status.className = "status bad";
}

// forgetRefusals puts back what was said before: what was in the way has ended.
export function forgetRefusals() {
  for (const { status, text, before, className } of refusals.reverse()) {
    if (status.textContent === text) Object.assign(status, { textContent: before, className });
  }
  refusals = [];
}
