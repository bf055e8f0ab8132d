import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortedText } from '../documents/digest.ts';
import { digestedText, lineageDigest, partTexts } from '../lineage/lineage-digest.ts';
import { assess } from '../receipt/assess.ts';
import { call, calls } from '../testdata/facts.ts';
import { measuredCalls } from '../testdata/telemetry.ts';
import { statedFacts } from './stated-facts.ts';

const stated = {
  id: 'rcpt_1',
  version: 1,
  created_at: call.requestedAt,
  model: 'm',
  provider: null,
  region: null,
  deployment: 'd',
};

describe('stated facts', () => {
  it('give what the facts give', () => {
    fc.assert(
      fc.property(fc.oneof(calls, measuredCalls), (facts) => {
        expect(assess(statedFacts(facts))).toEqual(assess(facts));
      }),
      { numRuns: cases(200) },
    );
  });

  it('leave out what is no fact of the calculation: addresses, names of credentials', () => {
    const site = { ...call.site, id: 'd1', firstAttempt: { origin: 'http://10.0.0.1', credential: 'main' } };
    const accelerators = { model: 'H100', count: 8, rack: 'r1' };
    const model = { ...call.model, price: 1 };
    const facts = { ...call, secret: 's', site: { ...site, accelerators }, model };
    const text = JSON.stringify(statedFacts(facts));
    expect(text).toContain('"accelerators":{"model":"H100","count":8}');
    for (const word of ['firstAttempt', '10.0.0.1', 'secret', 'rack', 'price']) expect(text).not.toContain(word);
  });
});

describe('the digest of a call', () => {
  it('is over the canonical text of call, stated facts and methodology, whatever the order of their fields', () => {
    fc.assert(
      fc.property(fc.oneof(calls, measuredCalls), (facts) => {
        const hash = 'sha256:0';
        const text = digestedText(stated, facts, hash, partTexts);
        expect(text).toBe(sortedText({ call: stated, facts: statedFacts(facts), methodology_hash: hash }));
        const reversed = Object.fromEntries(Object.entries(facts).reverse()) as typeof facts;
        expect(lineageDigest(stated, reversed, hash)).toBe(lineageDigest(stated, facts, hash));
      }),
      { numRuns: cases(200) },
    );
  });

  it('is another one for another call, other facts and another methodology', () => {
    const digests = [
      lineageDigest(null, call, 'sha256:0'),
      lineageDigest(stated, call, 'sha256:0'),
      lineageDigest({ ...stated, deployment: null }, call, 'sha256:0'),
      lineageDigest(stated, { ...call, site: { ...call.site, pueEvidence: null } }, 'sha256:0'),
      lineageDigest(stated, { ...call, site: { ...call.site, typicalConcurrency: 24 } }, 'sha256:0'),
      lineageDigest(stated, call, 'sha256:1'),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });
});
