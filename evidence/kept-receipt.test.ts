import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { expect, test } from 'vitest';
import { signedHead } from './batch-proof.ts';
import { canonicalText, sha256Of } from './canonical.ts';
import { signedCheckpoint } from './checkpoint.ts';
import { receiptIn, receiptVerdict, verifyReceipt } from './kept-receipt.ts';
import { leafHash } from './merkle.ts';
import type { Node } from './receipt-node.ts';

const key = signingKeyOf('0a'.repeat(32));
const trust = { keys: [key.publicJwk] };
const receipt: Node = {
  id: 'rcpt_1',
  object: 'gw.receipt',
  version: 1,
  created_at: '2026-11-20T10:00:00.000Z',
  tier: 'measured',
  carbon_g: 0.5,
  energy_wh: 1,
};
const leaf = leafHash(canonicalText(receipt));
const rest_sha256 = 'a'.repeat(64);
const at = '2026-11-20T10:00:01.500Z';
const previous = '0'.repeat(64);

/** A batch of this receipt alone. */
async function proofOf(signed: boolean, logged: boolean): Promise<Node> {
  const root = leafHash(`rcpt_1 1 ${sha256Of(`${leaf}\n${rest_sha256}`)}`);
  const head = sha256Of(['gw.batch', 1, 'added', Date.parse(at), 1, 1, root, previous].join('\n'));
  const stated = await signedHead({ first: 1, last: 1, head, root_hash: leafHash(head) }, new Date(at), key);
  const baseUrl = 'https://gw.example';
  const times = { hoursRoot: leaf, completeUntil: new Date(at), issued: new Date(at) };
  return {
    object: 'gw.receipt_proof',
    receipt_id: 'rcpt_1',
    version: 1,
    leaf_hash: leaf,
    index: logged ? 0 : null,
    path: logged ? [] : null,
    checkpoint: logged
      ? await signedCheckpoint({ account: 'acct_1', baseUrl, size: 1, root: leaf, ...times }, key)
      : null,
    consistency: null,
    batch: {
      number: 1,
      kind: 'added',
      at,
      count: 1,
      total: 1,
      previous,
      rest_sha256,
      replaces: null,
      index: 0,
      path: [],
      signed: signed ? { head: stated, path: [] } : null,
    },
    batch_fault: null,
  };
}
const said = async (...args: Parameters<typeof verifyReceipt>) => {
  const result = await verifyReceipt(...args);
  return [receiptVerdict(result), ...result.mismatches, ...result.notes];
};

test('a receipt that is in the chain, or in the log, holds; one that is not signed yet has to wait', async () => {
  const [chain, log] = [await proofOf(true, false), await proofOf(false, true)];
  expect(await said(receipt, { proof: chain }, trust)).toEqual(['holds']);
  expect(await said(receipt, { proof: log }, trust)).toEqual(['holds']);
  expect(await said(receipt, { proof: chain, same: receipt, newest: { ...receipt, version: 2 } }, trust)).toEqual([
    'holds',
    'version 2 has superseded it',
  ]);
  expect(await said(receipt, { proof: chain }, {})).toEqual(['unauthenticated']);
  const open = await proofOf(false, false);
  expect(await said(receipt, { proof: open }, trust)).toEqual(['ask', expect.stringContaining('not signed yet')]);
  expect(await said(receipt, { proof: { ...open, batch: null } }, trust)).toEqual(['ask', expect.any(String)]);
});

test('one that is missing, other, or proven by somebody else does not hold', async () => {
  const proof = await proofOf(true, true);
  expect(await said(receipt, { proof: null }, trust)).toEqual(['fails', expect.stringMatching(/^missing: /)]);
  expect(await said({ ...receipt, carbon_g: 0.4 }, { proof }, trust)).toEqual([
    'fails',
    expect.stringContaining('other content'),
  ]);
  expect(await said({ ...receipt, id: 'rcpt_2' }, { proof }, trust)).toEqual(['fails', expect.any(String)]);
  expect(await said(receipt, { proof, same: { ...receipt, carbon_g: 0.4 } }, trust)).toEqual([
    'fails',
    'receipt.carbon_g: kept 0.5, served now 0.4',
  ]);
  expect((await said(receipt, { proof }, { thumbprint: 'x' }))[0]).toBe('fails');
  const altered = { ...proof, batch: null, batch_fault: 'Batch 1 does not have the receipts that came with it.' };
  expect(await said(receipt, { proof: altered }, trust)).toEqual(['fails', expect.stringContaining('Batch 1')]);
});

test('a stand-in that became what its sidecar had made is told of', async () => {
  const kept = {
    ...receipt,
    tier: 'degraded',
    carbon_g: null,
    energy_wh: null,
    degraded_reason: 'sidecar_unavailable',
  };
  const found = await said(kept, { proof: await proofOf(true, true), same: receipt, newest: receipt }, trust);
  expect(found).toEqual(['ask', expect.stringContaining('settled')]);
});

test('nothing that a proof can be throws, and nothing of it that is other holds', async () => {
  const proof = await proofOf(true, false);
  for (const other of [undefined, 7, [], {}, { ...proof, batch: 7 }, { ...proof, index: 0 }, { ...proof, batch: {} }])
    expect((await said(receipt, { proof: other }, trust))[0], JSON.stringify(other)).toBe('fails');
  const { batch } = proof as { batch: Node };
  for (const name of Object.keys(batch).filter((each) => each !== 'signed'))
    for (const value of [undefined, 'x', 7, [], null])
      if (JSON.stringify(value) !== JSON.stringify(batch[name]))
        expect((await said(receipt, { proof: { ...proof, batch: { ...batch, [name]: value } } }, trust))[0]).toBe(
          'fails',
        );
});

test('a kept reply is read as well as the receipt in it', () => {
  expect(receiptIn({ choices: [], gw: receipt })).toEqual(receipt);
  expect(receiptIn({ choices: [], gw: { ...receipt, salt: 'ab'.repeat(16) } })).toEqual(receipt);
  expect(receiptIn(receipt)).toEqual(receipt);
  for (const other of [null, 7, [], {}, { gw: 7 }, { gw: { id: 'x' } }]) expect(receiptIn(other)).toBeNull();
});
