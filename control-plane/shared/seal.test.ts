/** A seal is of its kind, text and key alone, in a form that is frozen. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { type SealedKind, sealFault, sealOf } from './seal.ts';

const [current, former, other] = [1, 2, 3].map((id) => ({ id, secret: Buffer.alloc(32, id) }));
if (!current || !former || !other) throw new Error('There are three keys.');
const keys = { current, others: [former] };
const kinds: readonly SealedKind[] = [
  ...(['gw.acknowledgement', 'gw.audit', 'gw.audit_head'] as const),
  ...(['gw.batch', 'gw.log_entry', 'gw.receipt'] as const),
];

test('any program computes it from the key, the kind and the text', () => {
  const expected = createHmac('sha256', current.secret).update('gw.batch\nä').digest('hex');
  expect(sealOf(current, 'gw.batch', 'ä')).toBe(expected);
});

test('one of a kind is none of another kind, text or key', () => {
  for (const kind of kinds) {
    const seal = sealOf(current, kind, 'text');
    const faults = kinds.map((each) => sealFault(keys, each, 'text', { id: 1, seal }));
    expect(faults).toEqual(kinds.map((each) => (each === kind ? null : 'forged')));
    expect(sealFault(keys, kind, 'text ', { id: 1, seal })).toBe('forged');
    expect(sealFault(keys, kind, 'text', { id: 2, seal })).toBe('forged');
    expect(sealFault(keys, kind, 'text', { id: 3, seal })).toBe('unknown key');
    expect(sealFault(keys, kind, 'text', { id: 2, seal: sealOf(former, kind, 'text') })).toBeNull();
    for (const wrong of ['', seal.slice(1), seal.toUpperCase(), `${seal}0`, 'é'.repeat(64)])
      expect(sealFault(keys, kind, 'text', { id: 1, seal: wrong })).toBe('forged');
  }
});
