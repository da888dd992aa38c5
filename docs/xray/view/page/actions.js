// actions.js: the buttons that do something in the cluster, to the connection or to a handler.
import { count, nameOf } from './format.js';
import { rows, make } from './dom.js';

const said = document.querySelector('#said');
const object = document.querySelector('#object');
const bulk = document.querySelector('#bulk');
const cancel = document.querySelector('#cancel');
let newest = ''; // the name of the object that changed last
let token = document.querySelector('meta[name="xray-token"]').content;

// renewToken asks for the token of a program that was started again.
export async function renewToken() {
  try {
    const page = new DOMParser().parseFromString(await (await fetch('/xray')).text(), 'text/html');
    token = page.querySelector('meta[name="xray-token"]')?.content ?? token;
  } catch { /* the next action says what is wrong */ }
}

// drawComparison writes the parts that can be chosen. client-go's informer has only the second place.
export function drawComparison(compared) {
  document.querySelector('#compare').hidden = !compared;
  document.body.dataset.parts = compared ? `${compared.first},${compared.second}` : '';
  for (const place of compared ? ['first', 'second'] : []) {
    const sets = compared.sets.filter(({ name }) => place === 'second' || name !== 'client-go');
    const choice = document.querySelector(`#${place}`);
    rows(choice, sets.length, () => make('option')).forEach((option, i) => {
      option.value = sets[i].name;
      option.textContent = sets[i].title;
    });
    choice.value = compared[place];
  }
}

// listenForActions does what a button says. The choice of other parts ends the stream: reconnect opens another one.
export function listenForActions(query, reconnect) {
  for (const choice of document.querySelectorAll('[data-compare]')) {
    choice.addEventListener('change', () => {
      const [first, second] = ['first', 'second'].map(id => document.querySelector(`#${id}`).value);
      reconnect(act({ action: 'compare', first, second }, query()));
    });
  }
  document.addEventListener('click', event => {
    const button = event.target.closest('button[data-action]');
    if (event.detail) button?.blur(); // pressed with the mouse: the next space pauses, and does not press it again
    if (button && button.getAttribute('aria-disabled') !== 'true') act(bodyOf(button), query());
  });
}

// bodyOf returns the body of the request for the action of a button.
function bodyOf(button) {
  const { action, count: updates, speed, handler, needs } = button.dataset;
  const body = { action };
  if (needs === 'object') body.name = object.value || newest;
  if (updates) body.count = Number(updates);
  if (speed) body.speed = speed;
  if (handler) body.handler = handler;
  return body;
}

async function act(body, query) {
  try {
    const response = await fetch(`/xray/do${query}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Xray-Token': token },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error ?? response.statusText);
    say(answer.done, false);
  } catch (error) {
    say(`Not done: ${error.message}`, true);
  }
}

// say shows what was done, for some seconds. An error stays until the next action.
let sayTimeout = 0;
function say(words, failed) {
  clearTimeout(sayTimeout);
  if (!failed) sayTimeout = setTimeout(() => { said.textContent = ''; }, 8000);
  said.textContent = words;
  said.classList.toggle('error', failed);
}

// drawActions disables the buttons whose action is not possible now. Buttons act on the latest state, even while the
// page is paused. They are disabled with aria-disabled, because a button with the attribute disabled loses the focus.
export function drawActions(latest, lost) {
  const keys = latest.store?.keys ?? [];
  newest = nameOf(keys[0]);
  const possible = {
    object: true,
    idle: !latest.bulk,
    cut: Boolean(latest.server?.cut),
    uncut: !latest.server?.cut,
  };
  for (const button of document.querySelectorAll('button[data-action]')) {
    const { needs, handler } = button.dataset;
    const impossible = needs && !possible[needs];
    const removed = handler && !latest[`handlers/${handler}`];
    const value = String(Boolean(lost || impossible || removed));
    if (button.getAttribute('aria-disabled') !== value) button.setAttribute('aria-disabled', value);
  }
  drawObjects(keys);
  drawBulk(latest.bulk);
}

// drawObjects writes the names of the objects into the list, but not while somebody chooses from it.
function drawObjects(keys) {
  if (document.activeElement === object) return;
  const names = keys.map(nameOf).sort();
  if (object.names === names.join()) return;
  object.names = names.join();
  const chosen = object.value;
  rows(object, names.length + 1, () => make('option')).slice(1).forEach((option, i) => {
    option.value = names[i];
    option.textContent = names[i];
  });
  object.value = names.includes(chosen) ? chosen : '';
}

function drawBulk(state) {
  if (!state && document.activeElement === cancel) document.querySelector('[data-count="10000"]').focus();
  bulk.hidden = cancel.hidden = !state;
  if (!state) return;
  bulk.max = state.of;
  bulk.value = state.made;
  bulk.title = `${state.what}: ${count(state.made)} of ${count(state.of)}`;
}
