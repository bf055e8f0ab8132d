/** Cosignatures, made by a witness that shares no code with the check (testing/evidence/witness.ts). */
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { cosigner } from '@gw/testing/evidence/witness';
import { expect, test } from 'vitest';
import { canonicalText } from './canonical.ts';
import { type Checkpoint, checkCheckpoint, noteText, signedCheckpoint } from './checkpoint.ts';
import { checkCosignatures, witnessKeyIn } from './cosignatures.ts';
import { receiptVerdict, verifyReceipt } from './kept-receipt.ts';
import { leafHash } from './merkle.ts';
import { type NoteKey, vkeyOf } from './note.ts';
import { packText } from './pack-writer.ts';
import { verdictOf } from './verdict.ts';
import { verifyPack } from './verify.ts';

const key = signingKeyOf('01'.repeat(32));
const trust = { keys: [key.publicJwk] };
const [one, two] = [cosigner('witness.example/w1', '0a'.repeat(32)), cosigner('witness.example/w2', '0b'.repeat(32))];
const keyOf = (vkey: string): NoteKey => witnessKeyIn(vkey) ?? expect.fail(vkey);
const [first, second] = [keyOf(one.vkey), keyOf(two.vkey)];

const at = new Date('2026-11-21T09:00:00Z');
const atS = at.getTime() / 1000;
const receipt = { id: 'rcpt_1', object: 'gw.receipt', version: 1 };
const leaf = leafHash(canonicalText(receipt));
const made = (account = 'acct_1') =>
  signedCheckpoint(
    {
      account,
      baseUrl: 'https://gw.example',
      size: 1,
      root: leaf,
      hoursRoot: 'cd'.repeat(32),
      completeUntil: at,
      issued: at,
    },
    key,
  );
const withLines = (checkpoint: Checkpoint, ...lines: readonly string[]): Checkpoint => ({
  ...checkpoint,
  note: checkpoint.note + lines.join(''),
});
const found = async (checkpoint: Checkpoint, ...witnesses: readonly NoteKey[]) => {
  const { cosigned, mismatches, unknownLines, waiting } = await checkCosignatures(checkpoint, witnesses);
  const lacking = [...mismatches.map((each) => each.found), ...waiting.map(() => 'none')];
  return [cosigned.map((each) => `${each.witness} ${each.at}`), lacking, unknownLines];
};

test('a cosignature counts for the witness whose key is given, with its time, and other lines show nothing', async () => {
  const plain = await made();
  const text = noteText(plain);
  const cosigned = withLines(plain, one.cosign(text, atS), two.cosign(text, atS + 1));
  expect(await checkCheckpoint(cosigned, trust)).toBe('trusted');
  expect(await found(cosigned)).toEqual([[], [], 2]);
  expect(await found(cosigned, first)).toEqual([['witness.example/w1 2026-11-21T09:00:00.000Z'], [], 1]);
  expect(await found(cosigned, first, second)).toEqual([
    ['witness.example/w1 2026-11-21T09:00:00.000Z', 'witness.example/w2 2026-11-21T09:00:01.000Z'],
    [],
    0,
  ]);
  expect(await found(plain, first)).toEqual([[], ['none'], 0]);
  const again = withLines(cosigned, one.cosign(text, atS + 60));
  expect(await found(again, first)).toEqual([['witness.example/w1 2026-11-21T09:01:00.000Z'], [], 1]);
  expect(await checkCosignatures(null, [first])).toMatchObject({ mismatches: [], waiting: ['witness.example/w1'] });
});

test('a cosignature over something else, of another time or of another key does not hold', async () => {
  const plain = await made();
  const text = noteText(plain);
  const line = one.cosign(text, atS);
  const payload = Buffer.from(line.split(' ')[2] ?? '', 'base64');
  const lineOf = (bytes: Buffer) => `— witness.example/w1 ${bytes.toString('base64')}\n`;
  const other = cosigner('witness.example/w1', '0c'.repeat(32)).cosign(text, atS);
  const foreign = Buffer.concat([payload.subarray(0, 4), Buffer.from(other.split(' ')[2] ?? '', 'base64').subarray(4)]);
  const later = Buffer.from(payload.with(11, payload[11] === 0 ? 1 : 0));
  for (const bad of [
    one.cosign(noteText(await made('acct_2')), atS),
    one.cosign(`${text}\n`, atS),
    lineOf(foreign),
    lineOf(later),
    lineOf(payload.subarray(0, -1)),
    lineOf(payload.subarray(0, 5)),
    // A time that no date has.
    one.cosign(text, Number.MAX_SAFE_INTEGER),
  ]) {
    expect(await found(withLines(plain, bad), first)).toEqual([[], ['one that does not fit'], 0]);
    expect(await found(withLines(plain, line, bad), first), 'beside one that fits').toEqual([
      [],
      ['one that does not fit'],
      0,
    ]);
  }
  expect(await found(withLines(plain, other), first)).toEqual([[], ['none'], 1]);
});

test('a witness whose key is published as that of signatures is the same', () => {
  expect(keyOf(vkeyOf({ ...first, type: 1 }))).toEqual(first);
  expect(witnessKeyIn(one.vkey.replace('w1', 'w2'))).toBeNull();
});

test('a pack holds only if each witness that was asked for has cosigned its checkpoint, and may still get its line', async () => {
  const plain = await made();
  const packWith = async (checkpoint: Checkpoint | null) =>
    bytesOf(
      await packText(
        {
          id: '00000000-0000-4000-8000-000000000001',
          issuedAt: at,
          baseUrl: 'https://gw.example',
          accountId: 'acct_1',
          selection: {},
          excluded: [],
          period: null,
          receipts: [],
          log: checkpoint && { checkpoint, consistency: null },
        },
        key,
      ),
    );
  const cosigned = withLines(plain, one.cosign(noteText(plain), atS));
  const verified = async (checkpoint: Checkpoint | null, ...witnesses: readonly NoteKey[]) => {
    const result = await verifyPack(await packWith(checkpoint), { trust, witnesses });
    return [verdictOf(result), ...result.mismatches.map(({ expected, field }) => `${field}: ${expected}`)];
  };
  expect(await verified(cosigned, first)).toEqual(['holds']);
  expect(await verified(cosigned)).toEqual(['holds']);
  for (const [checkpoint, ...witnesses] of [
    [cosigned, first, second],
    [plain, first],
    [null, first],
  ] as const)
    expect(await verified(checkpoint, ...witnesses)).toEqual(['ask']);
  const other = withLines(plain, one.cosign(noteText(await made('acct_2')), atS));
  const unfit = 'log.checkpoint.note: a cosignature of witness.example/w1';
  expect(await verified(other, first)).toEqual(['fails', unfit]);
});

test('so does the proof of a kept receipt, which waits for the log', async () => {
  const plain = await made();
  const proof = {
    receipt_id: 'rcpt_1',
    version: 1,
    leaf_hash: leaf,
    index: 0,
    path: [],
    checkpoint: withLines(plain, one.cosign(noteText(plain), atS)),
    batch: null,
  };
  const verified = async (given: unknown, ...witnesses: readonly NoteKey[]) => {
    const result = await verifyReceipt(receipt, { proof: given }, trust, witnesses);
    return [receiptVerdict(result), ...result.mismatches, result.log?.cosigned.length];
  };
  expect(await verified(proof, first)).toEqual(['holds', 1]);
  expect(await verified(proof, second)).toEqual(['ask', 0]);
  const unfit = withLines(plain, one.cosign(noteText(await made('acct_2')), atS));
  expect(await verified({ ...proof, checkpoint: unfit }, first)).toEqual([
    'fails',
    'its checkpoint needs a cosignature of witness.example/w1, and has one that does not fit',
    0,
  ]);
  expect(await verified({ ...proof, index: null }, first)).toEqual(['ask', undefined]);
});
