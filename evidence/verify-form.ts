/**
 * Holds the parts of a pack to its schema.
 *
 * Invariant: a member that the schema does not name is a mismatch, and is named, wherever it is. Without that a signer could put in a text
 * that another program shows as if it had been checked.
 */
import type { z } from 'zod';
import { type PackMismatch, shown } from './receipt-node.ts';

const fieldOf = (path: readonly PropertyKey[]): string => path.map(String).join('.');
const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, name) => (at as Record<PropertyKey, unknown> | undefined)?.[name], value);
const topOf = (field: string): string => field.replace(/\..*/s, '');

/**
 * Returns what other checks have found, and what the schema finds beside it. `receipt`: the id of the receipt that the value is of, or null.
 */
export function withForm(
  schema: z.ZodType,
  value: unknown,
  receipt: string | null,
  others: readonly PackMismatch[],
): readonly PackMismatch[] {
  const { error } = schema.safeParse(value);
  if (error === undefined) return others;
  const named = others.map(({ field }) => field);
  const tops = named.map(topOf);
  const fault = (path: readonly PropertyKey[], expected: string) => ({
    receipt,
    field: fieldOf(path),
    expected,
    found: shown(valueAt(value, path)),
  });
  const faults = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys
          .map((key) => fault([...issue.path, key], 'no such member'))
          .filter(({ field }) => !named.some((each) => `${field}.`.startsWith(`${each}.`)))
      : [fault(issue.path, `as in the schema of packs: ${issue.message}`)].filter(
          ({ field }) => !tops.includes(topOf(field)),
        ),
  );
  return [...others, ...faults];
}
