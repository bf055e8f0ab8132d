/**
 * Names with escapes, which JSON.parse may take for others: V8 13 and 14 (Node 24 and 26), once they have seen a name with a
 * backslash in it, read `"\""` or `"\n"` as that one (https://github.com/nodejs/node/issues/63785). So a request of one
 * customer could change what is read of another one's, and a part of a body could vanish.
 */
import { elementAt } from './defined.ts';

/** Where a name stands in its text, with its quotes. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Half of a surrogate pair: no text that came as UTF-8 has it, but in an escape. */
const mark = '\udc00';

/** As JSON.parse. `text`: JSON without duplicate names, that came as UTF-8; `names`: all of its names with escapes, in their order. */
export function parseEscapedNames(text: string, names: readonly Span[]): unknown {
  let plain = '';
  let at = 0;
  for (const [index, { from, to }] of names.entries()) {
    plain += `${text.slice(at, from)}"${mark}${index}"`;
    at = to;
  }
  const meant = names.map(({ from, to }) => String(JSON.parse(text.slice(from, to))));
  return renamed(JSON.parse(plain + text.slice(at)), meant);
}

function renamed(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  const nameOf = (name: string) => (name.startsWith(mark) ? elementAt(names, Number(name.slice(1))) : name);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [nameOf(name), renamed(item, names)]));
}
