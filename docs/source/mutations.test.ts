/**
 * Whoever alters or leaves out one value of a receipt or of its lineage is found, whichever value it is: by the package, and
 * by the script that shares no code with it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { leaves, other, type Path } from '@gw/methodology/internals/testdata/changes';
import type { Lineage } from '@gw/methodology/lineage';
import { methodologyOf } from '@gw/methodology/methodologies';
import { verify } from '@gw/methodology/recompute';
import { cases } from '@gw/testing/cases';
import { afterAll, describe, expect, it } from 'vitest';
import type { MadeCall } from './calls.ts';
import { kinds } from './kinds.ts';

/** These fields follow from nothing that a lineage states, so nobody can tell that they were altered. */
const unseen = [
  // The id belongs to the reply; no number or word of the calculation depends on it.
  'receipt.request_id',
  // They are compared with the request and the answer.
  'receipt.request_digest',
  'receipt.answer_digest',
];
/** Receipts from before there were projects have no such field, so that of a call of no project may be left out. */
const allowedOf = ({ project }: MadeCall['receipt']): string[] => [
  ...unseen.flatMap((path) => [`${path} changed`, `${path} left out`]),
  ...(project === null ? ['receipt.project left out'] : []),
];
/** A call that was not cut short can have ended in each of three ways; a text that is none of them is found. */
const endings = ['complete', 'client_aborted', 'upstream_error'];

/** With many cases the slow script looks at every leaf; else at every so many of the receipts and of the lineages. */
const strides = [cases(1, 32), cases(1, 960)].map(String);

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
  it.each(kinds)('in a receipt and a lineage, %s', (name, made) => {
    const receipt = structuredClone(made.receipt);
    const lineage = structuredClone(made.lineage) as Lineage;
    const look = () => verify(lineage, receipt).ok;
    expect(look()).toBe(true);
    // Each field has its turn in some kind.
    const at = kinds.findIndex(([each]) => each === name);
    const some = (root: object, stride: number) => leaves(root).filter((_, leaf) => (leaf + at) % stride === 0);
    const [ofReceipt, ofLineage] = [some(receipt, cases(1, 4)), some(lineage, cases(1, 480))];
    const found = [...missed(receipt, 'receipt', ofReceipt, look), ...missed(lineage, 'lineage', ofLineage, look)];
    const tried = new Set(ofReceipt.map((path) => path.join('.')));
    expect(found).toEqual(allowedOf(receipt).filter((each) => tried.has(each.replace(/^receipt\.| .*$/g, ''))));
    expect(look()).toBe(true);
    for (const status of endings) {
      const cutShort = lineage.facts.isCutShort === true && status === 'complete';
      expect(verify(lineage, { ...receipt, status }).ok, status).toBe(!cutShort);
    }
  });
});

/** Where, how, and in which factor. */
type Missed = readonly [string, string, string];

/** Terms of the source of a grid value: no number comes of them, and they are not the methodology's, so verify alone knows them. */
const terms = /^lineage\.factors\.\d+\.(licence|date|locator)$/;

describe('one value that was altered or left out is found by recompute.py', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-mutations-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const examples = fileURLToPath(new URL('../examples', import.meta.url));

  it('in a receipt and a lineage of each kind', () => {
    const stated = kinds.map(([name, { lineage, receipt }]) => {
      const document = methodologyOf('gw-2.0').document;
      return { name, receipt, lineage, document };
    });
    writeFileSync(join(folder, 'kinds.json'), JSON.stringify(stated));
    const script = fileURLToPath(new URL('./mutations.py', import.meta.url));
    const args = ['-B', script, examples, join(folder, 'kinds.json'), ...strides];
    const { status, stderr, stdout } = spawnSync('python3', args, { encoding: 'utf8', maxBuffer: 1e8 });
    expect(status, stderr).toBe(0);
    const found = JSON.parse(stdout) as Record<string, { readonly whole: number; readonly missed: Missed[] }>;
    for (const [name, { receipt }] of kinds) {
      const { missed: paths = [], whole } = found[name] ?? {};
      expect(whole, name).toBe(0);
      const rest = paths.filter(([path, _, factor]) => !(terms.test(path) && isOfGrid(factor)));
      const allowed = new Set(allowedOf(receipt));
      expect(
        rest.map(([path, how]) => `${path} ${how}`).filter((each) => !allowed.has(each)),
        name,
      ).toEqual([]);
    }
  }, 1_800_000);
});
const isOfGrid = (name: string): boolean => name === 'grid_intensity' || name === 'WUE_grid';
