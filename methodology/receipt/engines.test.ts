/** A lineage holds in any engine, also in one whose exp, ln and powers differ from this one's in the last place. */
import { afterEach, expect, it, vi } from 'vitest';
import { methodologyIds } from '../documents/methodologies.ts';
import { call } from '../testdata/facts.ts';
import { sampleOf } from '../testdata/lineages.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

const bits = new DataView(new ArrayBuffer(8));
/** The double beside it, further from 0. */
function beside(value: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + 1n);
  return bits.getFloat64(0);
}

it.each(methodologyIds)('%s', async (id) => {
  const sample = sampleOf(call, id);
  if (sample === null) throw new Error('The facts give no lineage.');
  const { impact, lineage } = sample;
  const [exp, log] = [Math.exp, Math.log];
  vi.spyOn(Math, 'exp').mockImplementation((value) => beside(exp(value)));
  vi.spyOn(Math, 'log').mockImplementation((value) => beside(log(value)));
  vi.resetModules();
  const { verify } = await import('../lineage/recompute.ts');
  const found = verify(lineage, { ...impact });
  expect(found.ok ? [] : found.mismatches).toEqual([]);
  // A number that really differs is still found.
  const energy = impact.energy_wh;
  if (energy === null) throw new Error('The receipt has no energy.');
  expect(verify(lineage, { ...impact, energy_wh: energy * (1 + 1e-9) }).ok).toBe(false);
});
