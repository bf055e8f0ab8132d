/** Tests what `./gw verify` prints; evidence/verify.test.ts tests what it finds. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { earlierIn } from '@gw/evidence/kept-pack';
import type { PackContents } from '@gw/evidence/pack';
import { packText } from '@gw/evidence/pack-writer';
import { signedStatement, tableFormat } from '@gw/evidence/table-statement';
import { stampRequest, tokenIn } from '@gw/evidence/timestamp';
import { verifyPack } from '@gw/evidence/verify';
import { inCheckout } from '@gw/stack/checkout';
import { Authority, hasOpenssl, openssl, signerExtensions, stampExtensions } from '@gw/testing/evidence/authority';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { runCommand } from '../command-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-verify-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = signingKeyOf('01'.repeat(32));
const contents: PackContents = {
  id: '00000000-0000-4000-8000-000000000001',
  issuedAt: new Date(0),
  baseUrl: 'https://gw.example',
  accountId: 'acct_1',
  selection: { receipt_ids: ['rcpt_1'] },
  period: null,
  receipts: [],
  log: null,
  excluded: [{ receipt_id: 'rcpt_1', version: null, code: 'not_found', reason: 'There is none.' }],
};

const said = async (changes: Partial<PackContents>, ...args: string[]) =>
  saidOf(await packText({ ...contents, ...changes }, key), ...args);

function saidOf(pack: string, ...args: string[]): Promise<{ code: number; out: string }> {
  const file = join(folder, 'pack.jsonld');
  writeFileSync(file, pack);
  return verified('verify', file, `--key=${key.publicJwk.kid}`, ...args);
}

async function verified(...args: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text;
    return true;
  });
  try {
    const code = await runCommand(args);
    return { code, out };
  } finally {
    write.mockRestore();
  }
}

test.skipIf(!hasOpenssl)(
  `it says for which organisation a pack was signed, and trusts a key by an authority alone${openssl}`,
  async () => {
    const authority = new Authority();
    onTestFinished(() => authority.remove());
    const extensions = signerExtensions;
    const { der } = authority.issue('leaf', '/O=Example Cloud/CN=gw', { seed: '01'.repeat(32), extensions });
    authority.issue('tsa', '/CN=Stamps', { extensions: stampExtensions });
    const nonce = Uint8Array.from({ length: 8 }, (_, at) => at + 1);
    const timestamp = async (jws: string) => {
      const reply = authority.stamp(await stampRequest(jws, nonce), 'tsa');
      const found = await tokenIn(new Uint8Array(reply), jws, nonce);
      return 'token' in found ? found.token : null;
    };
    const issuedAt = new Date('2026-11-20T10:00:00Z');
    const pack = await packText({ ...contents, issuedAt }, { ...key, certificates: [der], timestamp });
    const file = join(folder, 'sealed.jsonld');
    writeFileSync(file, pack);
    const root = join(authority.folder, 'root.pem');
    const run = (...args: string[]) => verified('verify', file, ...args);
    const stated = await run();
    expect(stated.code).toBe(2);
    expect(stated.out).toContain('  signed for O=Example Cloud, CN=gw (stated, not checked)\n');
    expect(stated.out).toMatch(/ {2}time-stamped at \S+Z by CN=Stamps \(stated, not checked\)\n/);
    const signer = ['--ca', root, '--signer', 'O=Example Cloud'];
    const checked = await run(...signer, '--tsa-ca', root);
    expect(checked.code).toBe(0);
    expect(checked.out).toContain('  signed for O=Example Cloud, CN=gw (by a chain that you trust)\n');
    const untimed = await run(...signer);
    expect(untimed.code).toBe(0);
    expect(untimed.out).toContain(
      '(by a chain that you trust, which is only known to have been valid at the time that the signer states)\n',
    );
    const unnamed = await run('--ca', root);
    expect(unnamed.code).toBe(2);
    expect(unnamed.out).toContain(
      "signature   unauthenticated: the certificate names O=Example Cloud, CN=gw; if it should, say so by --signer 'O=…'\n",
    );
    const named = await run('--ca', root, '--signer', 'O=Other');
    expect(named.code).toBe(1);
    expect(named.out).toContain(
      'pack signature.x5c: expected a certificate of O=Other, found one of O=Example Cloud, CN=gw\n',
    );
    await expect(run('--signer', 'O=Example Cloud')).rejects.toThrow('needs --ca');
    await expect(run('--ca', root, '--signer', 'Example Cloud')).rejects.toThrow("--signer 'O=Example Cloud'");
    for (const option of [['--ca', root], ['--tsa-ca', root], signer])
      await expect(verified('verify', '--receipt', file, ...option)).rejects.toThrow('A receipt has no certificates');
    expect(checked.out).toContain('by CN=Stamps (by a chain that you trust)\n');
    const other = new Authority();
    onTestFinished(() => other.remove());
    const wrong = await run('--ca', join(other.folder, 'root.pem'));
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain('pack signature.x5c: expected a chain that holds, found one that leads to none');
    expect((await run('--tsa-ca', join(other.folder, 'root.pem'))).code).toBe(1);
    await expect(run('--ca', file)).rejects.toThrow('contains no certificate in PEM');
    const html = join(folder, 'sealed.html');
    await run(...signer, '--tsa-ca', root, '--html', html);
    expect(readFileSync(html, 'utf8')).toContain(
      'It is signed for O=Example Cloud, CN=gw (by a chain that you trust).',
    );
    await run('--ca', root, '--html', html);
    expect(readFileSync(html, 'utf8')).toContain('Its certificate names O=Example Cloud, CN=gw.');
    // A kept pack has to be as good as the pack.
    const kept = join(folder, 'kept.jsonld');
    const earlier = ['--earlier', kept];
    writeFileSync(kept, pack);
    expect((await run(...signer, ...earlier)).code).toBe(0);
    const unknown = signingKeyOf('09'.repeat(32));
    writeFileSync(kept, await packText(contents, unknown));
    const forged = await run(...signer, ...earlier);
    expect(forged.code).toBe(1);
    expect(forged.out).toContain('pack earlier.signature.x5c: expected certificates of the key, found none');
  },
);

test('it says whose pack it is, of what, and what is left out', async () => {
  const { code, out } = await said({});
  expect(code).toBe(0);
  expect(out).toContain('account     acct_1\n');
  expect(out).toContain('selection   {"receipt_ids":["rcpt_1"]}\n');
  expect(out).toContain('  rcpt_1  is left out: There is none.\n');
  expect(await said({}, '--account', 'acct_2')).toMatchObject({ code: 1, out: expect.stringContaining('acct_2') });
});

test('the exit code tells what it has found', async () => {
  const receipt = JSON.parse(readFileSync(new URL('../../docs/examples/receipt.json', import.meta.url), 'utf8'));
  const asked = { selection: { receipt_ids: [receipt.id] }, receipts: [{ receipt, lineage: null }], excluded: [] };
  // Its hour is not over, and long over.
  expect(await said({ ...asked, issuedAt: new Date(receipt.created_at) })).toMatchObject({ code: 0 });
  // Nothing in it shows that its numbers are right.
  const stated = await said({ ...asked, issuedAt: new Date(receipt.created_at) }, '--recomputed');
  expect(stated).toMatchObject({ code: 3, out: expect.stringContaining('  the numbers of 1 are only stated') });
  expect(await said({}, '--recomputed')).toMatchObject({ code: 0, out: expect.not.stringContaining('only stated') });
  const late = await said({ ...asked, issuedAt: new Date('2027-01-01') });
  expect(late).toMatchObject({ code: 3, out: expect.stringContaining('is not in the log, although it should be') });
  const gone = { receipt_id: receipt.id, version: 2, code: 'not_genuine' as const, reason: 'Not so.' };
  const bad = await said({ ...asked, excluded: [gone] });
  expect(bad).toMatchObject({ code: 1, out: expect.stringContaining(`${receipt.id} 2 is left out: Not so.`) });
  const many = Array.from({ length: 1200 }, (_, n) => ({ ...gone, receipt_id: `rcpt_${n}`, version: 1 }));
  const { out } = await said({ ...asked, excluded: many });
  expect(out.match(/and 1150 more; --json has 1000 of them/g)).toHaveLength(2);
  expect(out).toContain('mismatches  1200\n');
});

test('a table has no lineages, so --recomputed does not take its numbers', async () => {
  const table = join(folder, 'table.csv');
  writeFileSync(table, 'id\nrcpt_1\n');
  const sha256 = createHash('sha256').update(readFileSync(table)).digest('hex');
  const times = { issued: '2026-01-01T00:00:00.000Z', from: null, to: null };
  const stated = { format: tableFormat, id: 'urn:uuid:1', account: 'acct_1', receipts: 1, excluded: 0, sha256 };
  const statement = join(folder, 'statement.json');
  writeFileSync(statement, JSON.stringify(await signedStatement({ ...stated, ...times, media_type: 'text/csv' }, key)));
  const args = ['verify', table, '--statement', statement, `--key=${key.publicJwk.kid}`];
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  expect(await runCommand(args)).toBe(0);
  expect(await runCommand([...args, '--recomputed'])).toBe(3);
  write.mockRestore();
});

test('of a kept pack that is too long to be held it needs the checkpoint', async () => {
  const kept = join(folder, 'kept.jsonld');
  writeFileSync(kept, `{"receipts":[{"much":"${'x'.repeat(33 * 1024 * 1024)}"}],"log":null}`);
  await expect(said({}, '--earlier', kept)).rejects.toThrow('kept.jsonld is longer than 32 MiB');
});

test('a pack comes by a pipe too', async () => {
  const pack = join(folder, 'piped.jsonld');
  writeFileSync(pack, await packText(contents, key));
  const args = `--key ${key.publicJwk.kid} --json`;
  const command = `cat ${pack} | node ${inCheckout('dist', 'cli.js')} verify /dev/stdin ${args}`;
  const { status, stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
  expect([status, JSON.parse(stdout).mismatches]).toEqual([0, []]);
});

test('what cannot be read is a sentence, and no word on the pack', async () => {
  const args = [`--key=${key.publicJwk.kid}`];
  await expect(runCommand(['verify', folder, ...args])).rejects.toThrow(`${folder} cannot be read: EISDIR`);
  await expect(runCommand(['verify', join(folder, 'none'), ...args])).rejects.toThrow('none cannot be read: ENOENT');
  const away = () => Readable.from([Buffer.from('{"a"'), Promise.reject(new Error('the disk is away'))]);
  await expect(verifyPack(away(), { trust: {} })).rejects.toThrow('cannot be read: the disk is away');
  await expect(earlierIn(away())).rejects.toThrow('cannot be read: the disk is away');
});

test('it says why there are no proofs, and that a filter proves nothing of what it left out', async () => {
  const log = { checkpoint: null, consistency: null, fault: 'The log has no node 0:7.' };
  const { code, out } = await said({ log, selection: { model: 'm', receipt_ids: ['rcpt_1'] } });
  expect(code).toBe(1);
  expect(out).toContain('  there are no proofs: The log has no node 0:7.\n');
  expect(out).toContain('  a part of them: ');
});

test('what a pack says cannot write to the terminal', async () => {
  const evil = '\u001b[2J\u001b[Hmismatches  0\r\n\u009b8m\u202e';
  const { out } = await said({
    accountId: evil,
    excluded: [{ receipt_id: evil, version: 1, code: 'not_genuine', reason: evil }],
  });
  expect(out).toContain('\\u{1b}[2J\\u{1b}[Hmismatches  0\\u{d}\\u{a}\\u{9b}8m\\u{202e}');
  expect([...out].filter((each) => each !== '\n' && /[\p{Cc}\p{Cf}]/u.test(each))).toEqual([]);
});
