/** Two auditors who were told two stories by one log find that out from their packs. */
import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import type { Receipt } from '@gw/contract/receipt';
import { bytesOf, registerOf, spanHashOf } from '@gw/testing/evidence/made-packs';
import { expect, test } from 'vitest';
import { type ArchivedMonth, archivedFormat, archivedHash } from './archived-month.ts';
import { canonicalText } from './canonical.ts';
import { signedCheckpoint } from './checkpoint.ts';
import { consistencySpans, inclusionSpans, leafHash } from './merkle.ts';
import { packText } from './pack-writer.ts';
import { type PackVerification, verifyPack } from './verify.ts';

const example = new URL('../docs/examples/receipt.json', import.meta.url);
const receipt = JSON.parse(readFileSync(example, 'utf8')) as Receipt;
const [key, next] = [signingKeyOf('01'.repeat(32)), signingKeyOf('02'.repeat(32))];
const trust = { keys: [next.publicJwk, key.publicJwk] };
const baseUrl = 'https://gw.example';
const [from, to] = ['2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'];
const issued = new Date('2026-11-30T00:00:00Z');

const month: ArchivedMonth = {
  format: archivedFormat,
  account: 'acct_1',
  month: '2025-01',
  receipts: 3,
  files_sha256: 'aa'.repeat(32),
  note_sha256: 'bb'.repeat(32),
  at: '2026-11-01T00:00:00.000Z',
};
type Logged = Receipt | ArchivedMonth;
const isMonth = (entry: Logged): entry is ArchivedMonth => !('object' in entry);
const call = (at: number, model = 'one'): Receipt => ({
  ...receipt,
  id: `rcpt_01a1fd70-f1c0-7000-8000-00000000000${at}`,
  model,
});
const log: readonly Logged[] = [0, 1, 2, 3, 4, 5].map((at) => call(at));
const changed = (at: number, to: Logged): Logged[] => log.map((each, index) => (index === at ? to : each));

interface Told {
  /** The entries of the log, and the indexes of those that the auditor asked for. */
  readonly entries: readonly Logged[];
  readonly asked?: readonly number[];
  readonly since?: number;
  readonly signer?: typeof key;
}
async function packOf({ asked, entries, signer = key, since }: Told): Promise<unknown> {
  const leaves = entries.map((each) => (isMonth(each) ? archivedHash(each) : leafHash(canonicalText(each))));
  const [hash, size] = [spanHashOf(leaves), entries.length];
  const register = registerOf(entries.map((each) => (isMonth(each) ? null : each.created_at)));
  const [root, hoursRoot] = [hash({ begin: 0, end: size }), register.root];
  const stated = { account: 'acct_1', baseUrl, size, root, hoursRoot, completeUntil: issued, issued };
  const checkpoint = await signedCheckpoint(stated, signer);
  const placed = entries.map((entry, index) => ({ entry, index, path: inclusionSpans(index, size).map(hash) }));
  const archived = placed.flatMap(({ entry, index, path }) => (isMonth(entry) ? [{ index, path, month: entry }] : []));
  const shown = placed.flatMap(({ entry, index, path }) =>
    isMonth(entry) || asked?.includes(index) === false ? [] : [{ receipt: entry, lineage: null, log: { index, path } }],
  );
  const receipt_ids = shown.map((each) => each.receipt.id);
  const text = await packText(
    {
      id: '00000000-0000-4000-8000-000000000001',
      issuedAt: issued,
      baseUrl,
      accountId: 'acct_1',
      selection: { from, to, ...(asked !== undefined && { receipt_ids }) },
      excluded: [],
      period: { from: new Date(from), to: new Date(to) },
      receipts: shown.toSorted((a, b) => (a.receipt.id < b.receipt.id ? -1 : 1)),
      log: {
        checkpoint,
        consistency: since === undefined ? null : { from: since, path: consistencySpans(since, size).map(hash) },
        ...(asked === undefined && { hours: register.hours({ from, to }) }),
        ...(archived.length > 0 && { archived }),
      },
    },
    signer,
  );
  return JSON.parse(text);
}

async function told(earlier: Told, later: Told): Promise<string[]> {
  const kept = await packOf(earlier);
  const { mismatches, signature }: PackVerification = await verifyPack(bytesOf(await packOf(later)), {
    trust,
    earlier: kept,
  });
  expect(signature).toBe('trusted');
  return mismatches
    .filter(({ found }) => found.includes('the log tells two stories'))
    .map(({ expected, field, receipt: name }) => `${name?.slice(-3) ?? 'pack'} ${field}: ${expected.slice(0, 46)}`);
}

test.each<[string, Told, Told, string[]]>([
  [
    'another root at the same size',
    { entries: log, asked: [0] },
    { entries: changed(5, call(5, 'other')), asked: [1] },
    [expect.stringMatching(/^pack log: the root [0-9a-f]+/)],
  ],
  [
    'another root, with the proof of another log',
    { entries: log.slice(0, 4), asked: [0] },
    { entries: changed(1, call(1, 'other')), asked: [2], since: 4 },
    [expect.stringMatching(/^pack log: the root [0-9a-f]+/)],
  ],
  [
    'another receipt at the same index, and nobody asked for a proof',
    { entries: log.slice(0, 4), asked: [1] },
    { entries: changed(1, call(9)), asked: [1] },
    ['9:1 log: at index 1 the entry of the earlier pack'],
  ],
  [
    'the same receipt at another index',
    { entries: log.slice(0, 4), asked: [1] },
    { entries: [call(0), call(2), call(1), call(3), call(4)], asked: [2] },
    ['1:1 log: at index 1 the entry of the earlier pack'],
  ],
  [
    'a receipt in the place of an archived month',
    { entries: changed(1, month), asked: [0] },
    { entries: [...log, call(6)], asked: [1] },
    ['1:1 log: at index 1 the entry of the earlier pack'],
  ],
  [
    'an archived month in the place of a receipt',
    { entries: log, asked: [1] },
    { entries: [...changed(1, month), call(6)], asked: [0] },
    ['pack log: at index 1 the entry of the earlier pack'],
  ],
  [
    'a shorter log with another entry at an index',
    { entries: log, asked: [1] },
    { entries: changed(1, call(9)).slice(0, 4), asked: [1] },
    ['9:1 log: at index 1 the entry of the earlier pack'],
  ],
])('%s is named', async (_, earlier, later, named) => {
  expect(await told(earlier, later)).toEqual(named);
});

test('a log that goes on, by a new key or without a proof, tells one story', async () => {
  for (const later of [
    { entries: log, since: 4 },
    { entries: log, since: 4, signer: next },
    { entries: log },
    { entries: log, asked: [0, 5] },
  ])
    expect(await told({ entries: log.slice(0, 4), asked: [0, 1] }, later)).toEqual([]);
  expect(await told({ entries: log }, { entries: log, signer: next, asked: [3] })).toEqual([]);
});
