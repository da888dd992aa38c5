// diff.js: an object as lines of YAML, and the difference of two lists of lines.

const plain = s => /^[A-Za-z/][\w./:@+ -]*$/.test(s) && !/[: ]$|: |^(true|false|null|yes|no|on|off)$/i.test(s);

function scalar(value) {
  if (typeof value === 'string') return plain(value) ? value : JSON.stringify(value);
  return JSON.stringify(value);
}

const isEmpty = value => typeof value !== 'object' || value === null || Object.keys(value).length === 0;

export function toLines(value, indent = '') {
  if (value === null || value === undefined) return [];
  if (isEmpty(value)) return [indent + scalar(value)];
  const lines = [];
  for (const [name, inner] of Object.entries(value)) {
    const head = Array.isArray(value) ? `${indent}- ` : `${indent}${scalar(name)}: `;
    if (isEmpty(inner)) lines.push(head + scalar(inner));
    else if (Array.isArray(value)) {
      const [first, ...rest] = toLines(inner, indent + '  ');
      lines.push(head + first.trimStart(), ...rest);
    } else lines.push(head.trimEnd(), ...toLines(inner, indent + '  '));
  }
  return lines;
}

// diff returns lines as [sign, text]; the sign is "+", "−" or " ".
export function diff(before, after) {
  let start = 0, end = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const a = before.slice(start, before.length - end), b = after.slice(start, after.length - end);
  return [
    ...before.slice(0, start).map(text => [' ', text]),
    ...middle(a, b),
    ...before.slice(before.length - end).map(text => [' ', text]),
  ];
}

// middle finds the longest common lines; where that would take too long, everything counts as changed.
function middle(a, b) {
  if (a.length * b.length > 1e6) return [...a.map(t => ['−', t]), ...b.map(t => ['+', t])];
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const out = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.push([' ', a[i]]); i++; j++; }
    else if (j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) out.push(['−', a[i++]]);
    else out.push(['+', b[j++]]);
  }
  return out;
}
