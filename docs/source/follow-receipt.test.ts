/** A kept receipt is followed to its signed head by code that shares nothing with the product. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { canonicalText, textDigest } from '@gw/contract/internal/ledger-entry';
import { signedHead } from '@gw/evidence/batch-proof';
import { signedCheckpoint } from '@gw/evidence/checkpoint';
import { receiptVerdict, verifyReceipt } from '@gw/evidence/kept-receipt';
import { inclusionSpans, leafHash } from '@gw/evidence/merkle';
import { spanHashOf } from '@gw/testing/evidence/made-packs';
import { afterAll, expect, test } from 'vitest';
import { examples } from './examples.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-follow-receipt-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = fileURLToPath(new URL('../examples/follow_receipt.py', import.meta.url));

function python(reply: unknown, proof: unknown): { code: number | null; out: string } {
  const files = [reply, proof].map((value, at) => {
    const file = join(folder, `${at}.json`);
    writeFileSync(file, JSON.stringify(value));
    return file;
  });
  const { status, stderr, stdout } = spawnSync('python3', ['-B', script, ...files], { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

const key = signingKeyOf('01'.repeat(32));
const [{ receipt }] = Object.values(examples) as [(typeof examples)[keyof typeof examples]];
const at = '2026-11-29T10:40:46.467Z';

/** A tree of `size` leaves, of which this is one. */
function tree(leaf: string, index: number, size: number) {
  const leaves = Array.from({ length: size }, (_, each) => (each === index ? leaf : leafHash(String(each))));
  const hash = spanHashOf(leaves);
  return { root: hash({ begin: 0, end: size }), path: inclusionSpans(index, size).map(hash) };
}

async function proofOf(index: number, count: number, replaces: string | null) {
  const own = leafHash(canonicalText(receipt));
  const [rest_sha256, previous, number, total] = ['a'.repeat(64), 'b'.repeat(64), 20 + index, 900];
  const row = textDigest(`${own}\n${rest_sha256}`);
  const entry = [receipt.id, receipt.version, row, ...(replaces === null ? [] : [replaces])].join(' ');
  const batch = tree(leafHash(entry), index, count);
  const kind = replaces === null ? 'added' : 'settled';
  const told = ['gw.batch', number, kind, Date.parse(at), count, total, batch.root, previous];
  const minute = tree(leafHash(textDigest(told.join('\n'))), number - 17, 40);
  const head = await signedHead({ first: 17, last: 56, head: previous, root_hash: minute.root }, new Date(at), key);
  const log = tree(own, index, count);
  const baseUrl = 'https://gw.example';
  const times = { hoursRoot: log.root, completeUntil: new Date(at), issued: new Date(at) };
  return {
    object: 'gw.receipt_proof',
    receipt_id: receipt.id,
    version: receipt.version,
    leaf_hash: own,
    index,
    path: log.path,
    checkpoint: await signedCheckpoint({ account: 'acct_1', baseUrl, size: count, root: log.root, ...times }, key),
    batch: {
      number,
      kind,
      at,
      count,
      total,
      previous,
      rest_sha256,
      replaces,
      index,
      path: batch.path,
      signed: { head, path: minute.path },
    },
    batch_fault: null,
  };
}

test('each place in a batch, a minute and a log is followed, by ours too', async () => {
  for (const [index, count] of [
    [0, 1],
    [0, 2],
    [4, 5],
    [2, 7],
    [6, 7],
    [12, 13],
  ] as const) {
    const proof = await proofOf(index, count, index === 2 ? 'c'.repeat(64) : null);
    const expected = `in the chain since ${at}, batch ${20 + index}\nin the log at index ${index}\n`;
    expect(python({ choices: [], gw: receipt }, proof)).toEqual({ code: 0, out: expected });
    const verified = await verifyReceipt({ ...receipt }, { proof }, { keys: [key.publicJwk] });
    expect(receiptVerdict(verified), JSON.stringify(verified)).toBe('holds');
  }
});

test('another receipt, batch or place is not', async () => {
  const proof = await proofOf(4, 7, null);
  expect(python({ ...receipt, model: 'other' }, proof)).toEqual({ code: 1, out: 'The proof is of another receipt.\n' });
  const other = { ...proof, batch: { ...proof.batch, count: 8 } };
  expect(python(receipt, other)).toEqual({ code: 1, out: 'The receipt does not lead to the signed head.\n' });
  expect(python(receipt, { ...proof, index: 3 })).toMatchObject({ code: 1 });
  const open = { ...proof, index: null, batch: { ...proof.batch, signed: null } };
  expect(python(receipt, open)).toEqual({ code: 1, out: 'It is not signed yet.\n' });
});
