// actions.js: the buttons that do something in the cluster, to the connection or to a handler.
import { count, nameOf } from './format.js';
import { rows, make } from './stations.js';

const said = document.querySelector('#said');
const object = document.querySelector('#object');
const bulk = document.querySelector('#bulk');
let newest = ''; // the name of the object that changed last
let token = document.querySelector('meta[name="xray-token"]').content;

// renewToken asks for the token of a program that was started again.
export async function renewToken() {
  try {
    const page = new DOMParser().parseFromString(await (await fetch('/xray')).text(), 'text/html');
    token = page.querySelector('meta[name="xray-token"]')?.content ?? token;
  } catch { /* the next action says what is wrong */ }
}

export function listenForActions(query) {
  document.addEventListener('click', event => {
    const button = event.target.closest('button[data-action]');
    if (event.detail) button?.blur(); // pressed with the mouse: the next space is a pause
    if (button && button.getAttribute('aria-disabled') !== 'true') act(bodyOf(button), query());
  });
}

function bodyOf({ dataset: { action, count: number, pace, handler, needs } }) {
  const body = { action };
  if (needs === 'object') body.name = object.value || newest;
  if (number) body.count = Number(number);
  if (pace) body.pace = pace;
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

// say shows what was done; that it was done is soon old, an error stays.
let sayUntil = 0;
function say(words, failed) {
  clearTimeout(sayUntil);
  if (!failed) sayUntil = setTimeout(() => { said.textContent = ''; }, 8000);
  said.textContent = words;
  said.classList.toggle('error', failed);
}

// drawActions disables what is not possible now. latest is the newest state: buttons act on it, even while paused.
// A button is disabled with aria-disabled, because a button that is disabled while it has the focus loses it.
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
    const can = !lost && (needs ? possible[needs] : true) && (handler ? Boolean(latest[`handlers/${handler}`]) : true);
    const value = String(!can);
    if (button.getAttribute('aria-disabled') !== value) button.setAttribute('aria-disabled', value);
  }
  drawObjects(keys);
  drawBulk(latest.bulk);
}

// drawObjects leaves the list alone while somebody chooses from it.
function drawObjects(keys) {
  if (document.activeElement === object) return;
  const names = keys.map(nameOf).sort();
  if (object.names === names.join()) return;
  object.names = names.join();
  const chosen = object.value;
  rows(object, names.length + 1, () => make('option')).slice(1).forEach((option, i) => {
    option.value = option.textContent = names[i];
  });
  object.value = names.includes(chosen) ? chosen : '';
}

function drawBulk(state) {
  bulk.hidden = !state;
  if (!state) return;
  bulk.max = state.of;
  bulk.value = state.made;
  bulk.title = `${state.what}: ${count(state.made)} of ${count(state.of)}`;
}
