/**
 * A million receipts as one pack: built, read and verified, each process within 300 MiB. What calls wait longer meanwhile, and how fast
 * all of it goes, is printed: the machine's noise is as large as the bound, so it is not asserted.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type PackJob, packJobSchema } from '@gw/contract/evidence';
import { openLedgerSeals } from '@gw/control-plane/internals/ledger/integrity/open-seals';
import { inCheckout } from '@gw/stack/checkout';
import { loadSecrets } from '@gw/stack/secrets';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { silentLog } from '@gw/testing/control-plane/fixtures';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { quick } from '../input/ask.ts';
import { startOwnGateway } from '../outage/own-gateway.ts';
import { openTestAccounts, type TestAccounts } from '../sdk/test-account.ts';

const receipts = Number(process.env.GW_TEST_RECEIPTS ?? 1_000_000);
const chunk = 1000;
const mostMib = 300;
const [from, to] = ['2025-06-01T00:00:00.000Z', '2025-07-01T00:00:00.000Z'];

const gateway = forFile(startOwnGateway);
let accounts: TestAccounts;
const children: ChildProcess[] = [];
beforeAll(() => {
  accounts = openTestAccounts({ databaseUrl: gateway.stack.databaseUrl, dir: gateway.dir });
});
afterAll(async () => {
  for (const child of children) child.kill();
  await accounts?.close();
});

/** The most that a process has had in memory, MiB. */
const peakMib = (pid: number | null | undefined): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The same since it was last asked, so that it can be told which part of the work took it. */
const peaks: Record<string, number> = {};
function notePeak(phase: string): void {
  const { pid } = gateway.stack.part('control-plane');
  peaks[phase] = Math.round(peakMib(pid));
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

const timed = async <T>(run: () => Promise<T>): Promise<[T, number]> => {
  const begun = performance.now();
  return [await run(), (performance.now() - begun) / 1000];
};

/** Stores calls over the whole period as the gateway does: sealed with its key, each with an id, a time and amounts of its own. */
async function fill(accountId: string): Promise<void> {
  const { ledgerKey } = loadSecrets(gateway.dir);
  const keys = { current: { id: 1, secret: Buffer.from(ledgerKey, 'hex') }, others: [] };
  const seals = openLedgerSeals({ db: gateway.db, keys, log: silentLog });
  const spacingMs = (Date.parse(to) - Date.parse(from)) / receipts;
  const entry = (n: number) => {
    const at = new Date(Date.parse(from) + Math.floor(n * spacingMs)).toISOString();
    const usage = { promptTokens: 1 + (n % 977), cachedPromptTokens: 0, completionTokens: 1 + (n % 491) };
    return entryFrom(callAt(at, { usage }), { accountId });
  };
  for (let first = 0; first < receipts; first += chunk) {
    const length = Math.min(chunk, receipts - first);
    await storeEntries(
      gateway.db,
      Array.from({ length }, (_, n) => entry(first + n)),
      seals,
    );
  }
  await gateway.owner.$executeRawUnsafe('VACUUM ANALYZE receipts');
}

async function logged(accountId: string): Promise<void> {
  for (;;) {
    const [found] = await gateway.owner.$queryRaw<{ size: number }[]>`
      SELECT coalesce(max(tree_size), 0)::float8 AS size FROM receipt_log_checkpoints WHERE account_id = ${accountId}`;
    if (found?.size === receipts) return;
    await delay(2000);
  }
}

const seenSchema = z.object({ took: z.array(z.number()), failed: z.record(z.string(), z.number()) });
async function p99Of(calls: ChildProcess): Promise<{ count: number; p99: number; failed: Record<string, number> }> {
  calls.send('go on');
  const [message] = await once(calls, 'message');
  const { failed, took } = seenSchema.parse(message);
  const sorted = took.sort((a, b) => a - b);
  return { count: took.length, p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN, failed };
}

function startCalls(key: string): ChildProcess {
  const headers = { ...quick, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'hi' }], max_tokens: 8 });
  const options = { url: gateway.stack.publicUrl, connections: 2, headers, body };
  const script = fileURLToPath(new URL('./under-fire/tiny-calls.mjs', import.meta.url));
  const child = fork(script, [JSON.stringify(options)], { env: { ...process.env, GW_TEST_KEY: key } });
  children.push(child);
  return child;
}

/** Resolves with what it prints, and the most memory that it had. */
async function verify(file: string, jwks: string): Promise<{ out: string; mib: number }> {
  const child = spawn(process.execPath, [inCheckout('dist/cli.js'), 'verify', file, '--jwks', jwks]);
  let [out, mib] = ['', 0];
  child.stdout.on('data', (data) => {
    out += data;
  });
  const watch = setInterval(() => {
    try {
      mib = Math.max(mib, peakMib(child.pid));
    } catch {
      // It has ended.
    }
  }, 250);
  await once(child, 'close');
  clearInterval(watch);
  return { out, mib };
}

test('a million receipts are one pack, and no process takes more than 300 MiB for it', {
  timeout: 3_600_000,
}, async () => {
  const limits = { perS: 20_000, burst: 20_000, perDay: 10_000_000, streams: 100 };
  const key = await accounts.create(limits, { scopes: ['gw:read', 'gw:export'] });
  const { accountId } = await accounts.db.apiKey.findUniqueOrThrow({ where: { publicId: key.slice(3, 15) } });
  notePeak('start');
  const [, filledS] = await timed(() => fill(accountId));
  notePeak('fill');
  const [, loggedS] = await timed(() => logged(accountId));
  notePeak('log');
  // The times alone tell how far it is, to whoever waits.
  console.log(`stored in ${filledS.toFixed(0)} s, in the log after ${loggedS.toFixed(0)} s more`);
  const calls = startCalls(await accounts.create(limits));
  await delay(3000);
  await p99Of(calls);
  await delay(20_000);
  const quiet = await p99Of(calls);
  notePeak('quiet');

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.stack.publicUrl}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...init.headers },
    });
  const asked = await ask('/v1/gw/evidence-pack', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ from, to }),
  });
  expect(asked.status).toBe(202);
  const at = asked.headers.get('location') ?? '';
  const [job, builtS] = await timed(async (): Promise<PackJob> => {
    for (;;) {
      const now = packJobSchema.parse(await (await ask(at, { headers: { accept: 'application/json' } })).json());
      if (now.state !== 'queued' && now.state !== 'building') return now;
      await delay(1000);
    }
  });
  expect(job).toMatchObject({ state: 'ready', receipts_done: receipts });
  const busy = await p99Of(calls);
  notePeak('build');

  const file = join(gateway.dir, 'million.jsonld');
  const [, readS] = await timed(async () => {
    const reply = await ask(at);
    if (reply.body === null) throw new Error('There is no pack.');
    await pipeline(Readable.fromWeb(reply.body as Parameters<typeof Readable.fromWeb>[0]), createWriteStream(file));
  });
  const reading = await p99Of(calls);
  notePeak('read');
  console.log('most memory of the control plane, MiB:', peaks);
  const controlPlaneMib = Math.max(...Object.values(peaks));
  const envoyMib = peakMib(gateway.stack.part('envoy').pid);
  const jwks = join(gateway.dir, 'jwks.json');
  writeFileSync(jwks, await (await fetch(`${gateway.stack.publicUrl}/.well-known/jwks.json`)).text());
  const [verified, verifiedS] = await timed(() => verify(file, jwks));
  const [kept] = await gateway.owner.$queryRaw<{ mb: number }[]>`
    SELECT kept_bytes::float8 / 1e6 AS mb FROM evidence_packs WHERE account_id = ${accountId}`;

  const perS = (seconds: number) => `${seconds.toFixed(0)} s (${Math.round(receipts / seconds)} receipts a second)`;
  console.log(`built in ${perS(builtS)}, read in ${perS(readS)}, verified in ${perS(verifiedS)}`);
  console.log(`${(statSync(file).size / 1e6).toFixed(0)} MB, kept as ${kept?.mb.toFixed(0)} MB`);
  console.log(
    `control plane ${controlPlaneMib.toFixed(0)} MiB, Envoy ${envoyMib.toFixed(0)} MiB, verify ${verified.mib.toFixed(0)} MiB`,
  );
  console.log('calls', { quiet, busy, reading }, `p99 ${(busy.p99 / quiet.p99).toFixed(2)} times while it was built`);
  expect(statSync(file).size).toBe(job.bytes);
  expect(verified.out).toContain(`receipts    ${receipts}\n`);
  expect(verified.out).toContain(`log         ${receipts} proven, 0 not in it yet\n`);
  expect(verified.out).toContain('signature   by a key that you trust\nmismatches  0\n');
  for (const each of [quiet, busy, reading]) expect(each.failed).toEqual({});
  for (const mib of [controlPlaneMib, envoyMib, verified.mib]) expect(mib).toBeLessThan(mostMib);
});
