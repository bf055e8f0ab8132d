import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { methodologyOf } from './methodologies.ts';

describe('a methodology', () => {
  // If this fails, a constant or formula has changed: give the methodology a new version before the new hash.
  it.each([
    ['gw-1.0', '1.0.0', '5b54341e85b4ccdcab47866167df53913c0f93c60ec92455bbf8062ca9689004'],
    ['ecologits-0.11.3', '0.11.3', 'cb619215bc53532911f9083bcf37239f2767608479b5b80a1bfb746d834fa7e2'],
  ] as const)('%s %s keeps its constants and formulas', (id, version, hash) => {
    expect(methodologyOf(id)).toMatchObject({ id, version, hash: `sha256:${hash}` });
  });

  it('publishes the text that its hash is over, with every constant and formula', () => {
    const { document, hash } = methodologyOf('gw-1.0');
    expect(hash).toBe(`sha256:${createHash('sha256').update(document).digest('hex')}`);
    expect(JSON.parse(document)).toMatchObject({
      rules: { idleShare: 0.1, chargesInput: true },
      constants: { serving: { batchSize: 64 }, prefill: { utilisation: 0.4 }, uncertainty: { proxy: 0.6 } },
      steps: { gpu_energy: { unit: 'Wh' }, prefill_time: { unit: 'GPU·s' }, request_energy: { unit: 'Wh' } },
    });
  });

  it('that leaves input out has no constants and steps for it', () => {
    expect(methodologyOf('ecologits-0.11.3').document).not.toContain('prefill_time":');
    expect(JSON.parse(methodologyOf('ecologits-0.11.3').document)).not.toHaveProperty('constants.prefill');
  });
});
