// dom.js: elements and their texts.

// show writes a text and, for tests and scripts, the plain value.
export function show(element, words, value = words) {
  if (element.shown !== words) {
    element.shown = words;
    element.textContent = words;
  }
  const plain = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  if (element.dataset.value !== plain) element.dataset.value = plain;
}

// rows gives parent exactly n children, the old ones first, and returns them.
export function rows(parent, n, make) {
  while (parent.children.length > n) parent.lastChild.remove();
  while (parent.children.length < n) parent.append(make());
  return [...parent.children];
}

export function make(tag, className = '', ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}
