import type { DeploymentTrouble } from '@gw/contract/internal/deployment-trouble';
import type { Snapshot, SnapshotRegion } from '@gw/contract/internal/snapshot';
import { describe, expect, it } from 'vitest';
import { measuredTrouble } from './measured-trouble.ts';
import { regionStatus } from './region-status.ts';

const at = Date.parse('2026-01-01T00:00:00.000Z');
const deployment = (id: string, ...models: string[]) => ({
  id,
  region: 'here',
  models: Object.fromEntries(models.map((model) => [model, model])),
});
const elsewhere = { ...deployment('z', 'a'), region: 'there' };
const snapshot = { deployments: [deployment('x', 'a', 'b'), deployment('y', 'a'), elsewhere] } as unknown as Snapshot;
const region = (status: SnapshotRegion['status'] = 'active') => ({ code: 'here', status }) as SnapshotRegion;

const busy = { status: 'saturated', failures: 3, at, until: at + 1000 } as const;
const down = { status: 'degraded', failures: 7, at, until: at + 1000 } as const;
const statusWith = (
  troubles: Readonly<Record<string, DeploymentTrouble>>,
  status?: SnapshotRegion['status'],
  isShown = (_model: string) => true,
) => regionStatus(snapshot, region(status), (id, model) => troubles[`${id} ${model}`] ?? null, isShown);

describe('the status of a region', () => {
  it("is the operator's word where that is not active", () => {
    const all = { 'x a': busy, 'x b': busy, 'y a': busy };
    expect(statusWith(all, 'degraded')).toEqual({ status: 'degraded', status_reason: 'An operator has set it.' });
  });

  it('is measured where none of its models can be served', () => {
    expect(statusWith({})).toEqual({ status: 'active', status_reason: null });
    expect(statusWith({ 'x a': down, 'x b': down, 'y a': down })).toEqual({
      status: 'degraded',
      status_reason:
        'Measured: a provider there cannot be reached or answers 502 to 504, for 7 calls in a row, the last at 2026-01-01T00:00:00.000Z.',
    });
    expect(statusWith({ 'x a': down, 'x b': down, 'y a': busy })).toEqual({
      status: 'saturated',
      status_reason:
        'Measured: a provider there reports overload, for 3 calls in a row, the last at 2026-01-01T00:00:00.000Z.',
    });
  });

  it('stays active where some can, and the reason names those that cannot', () => {
    expect(statusWith({ 'x a': down })).toEqual({ status: 'active', status_reason: null });
    expect(statusWith({ 'x b': busy })).toEqual({
      status: 'active',
      status_reason:
        'Measured for b: a provider there reports overload, for 3 calls in a row, the last at 2026-01-01T00:00:00.000Z.',
    });
  });
});

it('a model that an account cannot use is not named to it', () => {
  const none = { status: 'active', status_reason: null };
  expect(statusWith({ 'x b': busy }, 'active', (model) => model === 'a')).toEqual(none);
  expect(statusWith({ 'x a': busy, 'x b': busy, 'y a': busy }, 'active', () => false).status).toBe('saturated');
});

describe('what is measured', () => {
  const read = (entries: Record<string, string> | Error, now = at) => {
    const hgetall = async () => {
      if (entries instanceof Error) throw entries;
      return entries;
    };
    return measuredTrouble({ hgetall } as never, new Date(now));
  };

  it('is read by deployment and model, and holds until it says', async () => {
    const stored = { 'x a': JSON.stringify(busy) };
    expect((await read(stored))('x', 'a')).toEqual(busy);
    expect((await read(stored))('x', 'b')).toBeNull();
    expect((await read(stored, at + 1000))('x', 'a')).toBeNull();
  });

  it('is nothing where Redis is away, or holds what cannot be read', async () => {
    expect((await read(new Error('away')))('x', 'a')).toBeNull();
    expect((await read({ 'x a': 'no JSON', 'x b': '{}' }))('x', 'a')).toBeNull();
  });
});
