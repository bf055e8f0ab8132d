/**
 * Whoever alters or leaves out one value of a receipt or of its lineage is found, whichever value it is: by the package, and
 * by the script that shares no code with it.
 */
import { leaves, other, type Path } from '@gw/methodology/internals/testdata/changes';
import type { Lineage } from '@gw/methodology/lineage';
import { verify } from '@gw/methodology/recompute';
import { cases } from '@gw/testing/cases';
import { describe, expect, it } from 'vitest';
import { kinds } from './kinds.ts';

/** What follows from nothing that a lineage states, so nothing can tell that it was altered. */
const unseen = [
  // Of the reply; neither a number nor a word of the calculation depends on it.
  'receipt.request_id',
];
/** A call that was not cut short can have ended in each of three ways; a text that is none of them is found. */
const endings = ['complete', 'client_aborted', 'upstream_error'];

/** Every so many leaves of the lineages; of the receipts every one. */
const stride = cases(1, 40);

type Held = Record<string | number, unknown>;

/** Calls `look` with the value at a path changed, then without it; afterwards all is as before. */
function whileMutated(root: object, path: Path, look: () => boolean): string[] {
  const holder = path.slice(0, -1).reduce<Held>((at, key) => at[key] as Held, root as Held);
  const last = path.at(-1) ?? '';
  const before = Array.isArray(holder) ? [...holder] : { ...holder };
  const put = (content: object) => {
    for (const key of Object.keys(holder)) delete holder[key];
    Object.assign(holder, content);
    if (Array.isArray(holder)) holder.length = Object.keys(content).length;
  };
  const passed: string[] = [];
  holder[last] = other(holder[last]);
  if (look()) passed.push('changed');
  const rest = Array.isArray(before)
    ? before.filter((_, index) => index !== Number(last))
    : Object.fromEntries(Object.entries(before).filter(([key]) => key !== last));
  put(rest);
  if (look()) passed.push('left out');
  put(before);
  return passed;
}

function missed(root: object, name: string, paths: readonly Path[], look: () => boolean): string[] {
  return paths.flatMap((path) => whileMutated(root, path, look).map((how) => `${name}.${path.join('.')} ${how}`));
}

describe('one value that was altered or left out is found by verify', () => {
  it.each(kinds)('in a receipt and a lineage, %s', (_, made) => {
    const receipt = structuredClone(made.receipt);
    const lineage = structuredClone(made.lineage) as Lineage;
    const look = () => verify(lineage, receipt).ok;
    expect(look()).toBe(true);
    const some = leaves(lineage).filter((_path, index) => index % stride === 0);
    const found = [...missed(receipt, 'receipt', leaves(receipt), look), ...missed(lineage, 'lineage', some, look)];
    expect(found).toEqual(unseen.flatMap((path) => [`${path} changed`, `${path} left out`]));
    expect(look()).toBe(true);
    for (const status of endings) {
      const cutShort = lineage.facts.isCutShort === true && status === 'complete';
      expect(verify(lineage, { ...receipt, status }).ok, status).toBe(!cutShort);
    }
  });
});
