// dom.js: short names.
export const $ = (selector, within = document) => within.querySelector(selector);
export const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

// element makes an element.
export function element(name, className, text = "") {
  return Object.assign(document.createElement(name), { className, textContent: text });
}
