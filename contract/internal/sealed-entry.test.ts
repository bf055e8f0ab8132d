import { createHmac } from 'node:crypto';
import { contentOf, entryIn, entryKeys, entryNamed, sealedEntry } from '@gw/testing/ledger-entry';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EntryContent, EntryOpener, EntrySealer, isShown, namesOf, receiptIdOf, standIn } from './sealed-entry.ts';

const sealer = new EntrySealer(entryKeys.current);
const opener = new EntryOpener(entryKeys);

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.constant('x'.repeat(100_000)));
const filled = text.map((any) => `"${any}"`);
const number = fc.option(fc.double({ noNaN: true }));
const content: fc.Arbitrary<EntryContent> = fc.record({
  id: fc.uuid().map((uuid) => `rcpt_${uuid}`),
  version: fc.nat(65_535),
  account_id: text,
  key_id: text,
  endpoint: text,
  model: text,
  region: fc.option(filled),
  tier: text,
  status: text,
  prompt_tokens: number,
  completion_tokens: number,
  energy_wh: number,
  carbon_g: number,
  receipt: filled,
  trace: fc.option(filled),
  facts: fc.option(filled),
  assumed: fc.option(filled),
});
const state = fc.constantFrom('pending', 'made', 'shown', 'left', 'closed');

/** Names have 65,535 bytes at most. */
const isPossible = ({ account_id, endpoint, key_id, model, region, status, tier }: EntryContent): boolean =>
  [account_id, endpoint, key_id, model, region ?? '', status, tier].every((name) => Buffer.byteLength(name) < 65_536);

test('what was sealed is what is opened', () => {
  fc.assert(
    fc.property(content.filter(isPossible), state, (given, sealedAs) => {
      const entry = sealer.seal(given, sealedAs);
      const opened = opener.open(entry);
      const time = Number.parseInt(given.id.slice(5).replaceAll('-', '').slice(0, 12), 16);
      expect(opened).toEqual({ entry: { ...given, state: sealedAs, time, byEarlierKey: false } });
      expect([receiptIdOf(entry), namesOf(entry)?.account_id, isShown(entry)]).toEqual([
        given.id,
        given.account_id,
        sealedAs === 'shown',
      ]);
    }),
    { numRuns: 200 },
  );
});

test('the code is the one that any program computes', () => {
  const states = ['left', 'shown', 'pending', 'made', 'closed'] as const;
  for (const [at, each] of states.entries()) {
    const entry = entryNamed('a', each);
    expect(entry[1]).toBe(at);
    const signed = Buffer.from(entry.subarray(0, -16));
    signed[1] = Math.floor(at / 2);
    const code = createHmac('sha256', entryKeys.current.secret).update(signed).digest();
    expect(entry.subarray(-16)).toEqual(at % 2 === 0 ? code.subarray(0, 16) : code.subarray(16));
  }
});

test('an entry that was changed in any byte, cut or prolonged does not open, and nothing throws', () => {
  const entry = entryNamed('a', 'made', 'Zürich');
  for (let at = 0; at < entry.length; at += 1) {
    const other = Buffer.from(entry);
    other[at] = other.readUInt8(at) ^ 1;
    expect(opener.open(other), `byte ${at}`).toHaveProperty('fault');
    expect(opener.open(entry.subarray(0, at))).toHaveProperty('fault');
  }
  expect(opener.open(Buffer.concat([entry, Buffer.from('x')]))).toEqual({ fault: 'malformed' });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const any = Buffer.from([1, 1, 0, 1, ...bytes]);
      expect(opener.open(any)).toHaveProperty('fault');
      for (const read of [receiptIdOf, namesOf, isShown]) read(any);
    }),
  );
});

describe('keys', () => {
  const old = { id: 2, secret: Buffer.alloc(32, 2) };
  const byOld = new EntrySealer(old).seal(contentOf(entryIn(entryNamed('a'))), 'made');

  test('of before are accepted while they are listed, each under its number', () => {
    expect(opener.open(byOld)).toEqual({ fault: 'unknown key' });
    expect(new EntryOpener({ ...entryKeys, others: [old] }).open(byOld)).toMatchObject({
      entry: { byEarlierKey: true },
    });
    const underOther = new EntrySealer({ ...old, id: 1 }).seal(contentOf(entryIn(entryNamed('a'))), 'made');
    expect(opener.open(underOther)).toEqual({ fault: 'wrong code' });
  });

  test('what is sealed again is by the current one, for its new state', () => {
    expect(opener.open(sealer.again(byOld, 'closed'))).toMatchObject({
      entry: { state: 'closed', byEarlierKey: false },
    });
  });
});

describe('the entry of a call that its sidecar does not finish', () => {
  const { facts: _, trace: __, ...rest } = contentOf(entryIn(entryNamed('a', 'made', 'é')));
  const given = { ...rest, facts: null, trace: null, assumed: '{"tokens":1}' };
  const [sealed, pending] = sealer.sealStandIn(given);

  test('is the same whoever puts it together', () => {
    expect(opener.open(pending)).toMatchObject({ entry: { ...given, state: 'pending' } });
    for (const each of ['left', 'shown'] as const)
      expect(opener.open(standIn(sealed, given, each))).toEqual(opener.open(sealer.seal(given, each)));
    expect(sealed.length).toBeLessThan(280);
  });

  test('opens with no other text, state or amount', () => {
    const other = given.receipt.replace('é', 'e ');
    expect(opener.open(standIn(sealed, { ...given, receipt: other }, 'shown'))).toEqual({ fault: 'wrong code' });
    expect(opener.open(standIn(sealed, { ...given, assumed: '{"tokens":2}' }, 'left'))).toEqual({
      fault: 'wrong code',
    });
    for (const cut of [0, 1, 31, 33, 100])
      expect(opener.open(standIn(sealed.slice(0, cut), given, 'left'))).toHaveProperty('fault');
  });
});

test('a text of which each character takes three bytes is sealed to its end, however long', () => {
  const given = { ...contentOf(entryIn(entryNamed('a'))), receipt: JSON.stringify('語'.repeat(1_000_000)) };
  expect(opener.open(sealer.seal(given, 'made'))).toMatchObject({ entry: { receipt: given.receipt } });
});

test('an entry is good after many others were sealed and opened', () => {
  const first = entryNamed('first');
  const bytes = Buffer.from(first);
  for (let n = 0; n < 500; n += 1) opener.open(sealedEntry(entryIn(entryNamed(`${n}`, 'made', 'x'.repeat(3000)))));
  expect(first.equals(bytes)).toBe(true);
});
