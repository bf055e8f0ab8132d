/**
 * The RFC 8785 form of JSON values that come in the same few shapes over and over, as receipts do: the order of the names of each
 * shape is found once, which makes it three times as fast as a library.
 *
 * Not for what clients send (canonical-text.ts): the names of the shapes are kept.
 */

/** Thrown for what is left to a library: nobody sees its words. */
class NotPlainError extends Error {}

/** The names of an object as they come, where each stands in order, and how they begin their members in that order. */
interface Shape {
  readonly names: readonly string[];
  readonly sorted: readonly string[];
  readonly openings: readonly string[];
}

/** By first name and number of names. */
const shapes = new Map<string, Shape[]>();
const mostShapes = 200;
let held = 0;

/** Returns the RFC 8785 form. Throws for what is no plain JSON: what JSON has no form for, or only by a method of its own. */
export function plainCanonicalText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
      if (!Number.isFinite(value)) throw new NotPlainError();
      return String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? listText(value) : objectText(value);
    default:
      throw new NotPlainError();
  }
}

/** What JSON escapes, and halves of pairs, which may stand alone. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

function quoted(text: string): string {
  if (!special.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new NotPlainError();
  return JSON.stringify(text);
}

function listText(list: readonly unknown[]): string {
  let text = '[';
  for (let at = 0; at < list.length; at += 1)
    text += at === 0 ? plainCanonicalText(list[at]) : `,${plainCanonicalText(list[at])}`;
  return `${text}]`;
}

function objectText(value: object): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new NotPlainError();
  const names = Object.keys(value);
  if (names.length === 0) return '{}';
  const { openings, sorted } = shapeOf(names);
  const fields = value as Readonly<Record<string, unknown>>;
  let text = '{';
  for (let at = 0; at < sorted.length; at += 1) text += openings[at] + plainCanonicalText(fields[sorted[at] as string]);
  return `${text}}`;
}

function shapeOf(names: readonly string[]): Shape {
  const mark = `${names.length} ${names[0]}`;
  const alike = shapes.get(mark);
  const found = alike?.find((shape) => names.every((name, at) => name === shape.names[at]));
  if (found !== undefined) return found;
  const sorted = [...names].sort();
  const openings = sorted.map((name, at) => `${at === 0 ? '' : ','}${quoted(name)}:`);
  const shape = { names, sorted, openings };
  if (held >= mostShapes) {
    shapes.clear();
    held = 0;
  }
  held += 1;
  shapes.set(mark, [...(shapes.get(mark) ?? []), shape]);
  return shape;
}
