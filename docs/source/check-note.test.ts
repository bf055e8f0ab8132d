/** A checkpoint and its cosignatures are checked by code that shares nothing with the product. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { noteText, signedCheckpoint } from '@gw/evidence/checkpoint';
import { witnessKeyIn } from '@gw/evidence/cosignatures';
import { vkeyOf } from '@gw/evidence/note';
import { cosigner } from '@gw/testing/evidence/witness';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'gw-check-note-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = fileURLToPath(new URL('../examples/check_note.py', import.meta.url));
const key = signingKeyOf('01'.repeat(32));
const others = [signingKeyOf('02'.repeat(32)).publicJwk];

function python(
  document: unknown,
  keys: unknown,
  ...witnesses: readonly string[]
): { code: number | null; out: string } {
  const files = [document, { keys }].map((value, at) => {
    const file = join(folder, `${at}.json`);
    writeFileSync(file, JSON.stringify(value));
    return file;
  });
  const { status, stderr, stdout } = spawnSync('python3', ['-B', script, ...files, ...witnesses], { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

const at = new Date('2026-11-21T09:00:00Z');
const witness = cosigner('witness.example/w1', '0a'.repeat(32));
async function made() {
  const plain = await signedCheckpoint(
    {
      account: 'acct_1',
      baseUrl: 'https://gw.example',
      size: 7,
      root: 'ab'.repeat(32),
      completeUntil: at,
      hoursRoot: 'cd'.repeat(32),
      issued: at,
    },
    key,
  );
  return { ...plain, note: plain.note + witness.cosign(noteText(plain), at.getTime() / 1000) };
}

test('a checkpoint of a pack or of a proof is followed to the keys of the gateway and of a witness', async () => {
  const checkpoint = await made();
  const signed = 'gw.example/receipts/acct_1: 7 entries, signed\n';
  const cosigned = `${signed}cosigned by witness.example/w1 at 2026-11-21T09:00:00+00:00\n`;
  const keys = [...others, key.publicJwk];
  const asSignature = vkeyOf({ ...(witnessKeyIn(witness.vkey) ?? expect.fail()), type: 1 });
  expect(python({ log: { checkpoint } }, keys)).toEqual({ code: 0, out: signed });
  for (const vkey of [witness.vkey, asSignature])
    expect(python({ checkpoint, index: 0 }, keys, vkey)).toEqual({ code: 0, out: cosigned });
});

test('one that is altered, or by another key, is not', async () => {
  const checkpoint = await made();
  const keys = [key.publicJwk];
  const unsigned = { code: 1, out: 'The checkpoint is not signed by a key of the set.\n' };
  expect(python({ checkpoint }, others)).toEqual(unsigned);
  const other = 'The note does not say what the checkpoint says.\n';
  for (const changed of [{ tree_size: 8 }, { root_hash: 'ac'.repeat(32) }, { issued: '2026-11-21T10:00:00.000Z' }])
    expect(python({ checkpoint: { ...checkpoint, ...changed } }, keys)).toEqual({ code: 1, out: other });
  expect(python({ checkpoint: { ...checkpoint, account: 'acct_2' } }, keys)).toMatchObject({ code: 1 });
  const bigger = { ...checkpoint, tree_size: 8, note: checkpoint.note.replace('\n7\n', '\n8\n') };
  expect(python({ checkpoint: bigger }, keys)).toEqual(unsigned);
  const second = cosigner('witness.example/w2', '0b'.repeat(32));
  expect(python({ checkpoint }, keys, second.vkey).out).toContain('witness.example/w2 has not cosigned.');
  const wrong = { ...checkpoint, note: checkpoint.note + witness.cosign('x\n', 1) };
  expect(python({ checkpoint: wrong }, keys, witness.vkey).out).toContain(
    'The cosignature of witness.example/w1 does not fit.',
  );
});
