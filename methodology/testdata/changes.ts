/** Single changes of a lineage. */
import type { Lineage } from '../lineage/lineage.ts';

export type Path = readonly (string | number)[];

/** Every number, text, boolean and null in a JSON value. */
export function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, key]));
}

/** Calls `look` with one leaf changed in place; afterwards it is as before. */
export function whileChanged<T>(lineage: Lineage, path: Path, look: (changed: Lineage) => T): T {
  let holder: Record<string, unknown> = lineage as unknown as Record<string, unknown>;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  const last = path.at(-1) ?? '';
  const before = holder[last];
  holder[last] = other(before);
  const seen = look(lineage);
  holder[last] = before;
  return seen;
}

/** Another value close by: one more, a double's neighbour, one more letter. */
export function other(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return value + 1;
  // The smallest numbers have no neighbour by a factor.
  if (typeof value === 'number') {
    const neighbour = value * (1 + Number.EPSILON);
    return neighbour === value ? value + Number.MIN_VALUE : neighbour;
  }
  if (typeof value === 'boolean') return !value;
  return value === null ? 1 : `${value} `;
}
