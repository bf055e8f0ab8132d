/**
 * Credentials of providers while the gateway runs: set, rotated under load and taken back, without a call that
 * fails and without anybody but the provider seeing one.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openDatabase } from '@gw/prisma/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerChat } from '../chat-reply.ts';
import { run } from '../cli/gateway-of-its-own.ts';
import { apiOf, operatorVariables, removeEntries } from '../operator-api.ts';
import { readFrom } from '../outage/instances.ts';
import { eventually, get, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';

const model = 'rotating/m';
const id = 'rotating';

/** A provider that knows who calls it: it takes the credentials that it is told of, and notes all that it is shown. */
function startProvider() {
  const valid = new Set<string>();
  const shown: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const credential = String(request.headers['x-key']);
    shown.push(credential);
    request.resume().on('end', () => {
      if (valid.has(credential)) return answerChat(response, { model: 'm' }, 'Sunny.');
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"wrong key"}}');
    });
  };
  return { server: createServer(answer), valid, shown };
}
const provider = startProvider();
const elsewhere = startProvider();
const listen = (server: Server) =>
  new Promise<string>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)),
  );

const env = { ...process.env, ...operatorVariables(stack) };
async function gw(line: string, input = ''): Promise<string> {
  // The shell writes it to the standard input of the command, as people do.
  const { code, err, out } = await run('sh', ['-c', `printf %s "$INPUT" | ./gw admin ${line}`], {
    ...env,
    INPUT: input,
  });
  expect(code, `${line}: ${err}`).toBe(0);
  return out + err;
}
const call = () => openAi(stack.keys.enterprise).chat.completions.create({ model, messages });
const outcome = (): Promise<string> =>
  call().then(
    () => '200',
    (error) => String(error.code),
  );
const becomes = (wanted: string) =>
  eventually(`calls to be answered with ${wanted}`, async () => ((await outcome()) === wanted ? true : null));
/** Every thread of Envoy has to use it: each takes a change over by itself, a moment before or after the others. */
const becomesEverywhere = (wanted: string) =>
  eventually(`all calls at once to be answered with ${wanted}`, async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, outcome));
    return outcomes.every((each) => each === wanted) ? true : null;
  });
const next = (): string => `sk-${randomBytes(16).toString('hex')}`;

const clear = () =>
  removeEntries(apiOf(stack), `deployments/${id}`, `models/${model}`, `providers/${id}`, 'credentials/ROTATING');
beforeAll(async () => {
  await clear();
  const url = await listen(provider.server);
  await gw(`providers add ${id} --name Rotating --url ${url} --credential ROTATING --auth-header x-key`);
  await gw(`models add ${model} --owned-by test --kind chat --class small`);
  await gw(`deployments add ${id} --provider ${id} --region eu-north --pue 1.1 --model ${model}=m`);
});
afterAll(async () => {
  await clear();
  for (const { server } of [provider, elsewhere]) {
    server.closeAllConnections();
    server.close();
  }
});

/** Calls one after the other on several connections, until they are told to stop; resolves with those that failed. */
function load(): () => Promise<string[]> {
  let isWanted = true;
  const failed: string[] = [];
  const client = async () => {
    while (isWanted) await call().catch((error) => failed.push(String(error)));
  };
  const clients = Promise.all([client(), client(), client(), client()]);
  return async () => {
    isWanted = false;
    await clients;
    return failed;
  };
}

const all: string[] = [];

test('until it is given, calls say so, the provider is not asked, and the monitoring system is told', async () => {
  await becomes('upstream_credential_missing');
  expect(provider.shown).toEqual([]);
  const metrics = await (await fetch(`${stack.controlUrl}/metrics`)).text();
  expect(metrics).toMatch(/^gw_provider_credentials_missing\{.*\} 1$/m);
  expect(readFileSync(join(stack.logs, 'control-plane.log'), 'utf8')).toMatch(/"missing":"ROTATING"/);
  const first = next();
  all.push(first);
  provider.valid.add(first);
  await gw('credentials set ROTATING', first);
  await becomes('200');
  expect(receiptOf(await call())).toMatchObject({ provider: id, status: 'complete' });
});

test('it is rotated under load, with old and new valid side by side, and no call fails', async () => {
  const stop = load();
  for (let turn = 0; turn < 3; turn += 1) {
    const [before, after] = [all.at(-1) ?? '', next()];
    all.push(after);
    provider.valid.add(after);
    await gw('credentials set ROTATING', after);
    await eventually('the new one to be used', async () => (provider.shown.at(-1) === after ? true : null));
    // As the command says: calls that were under way have ended, so the old one can go.
    await eventually('the old one to be used no more', async () =>
      provider.shown.slice(-20).every((each) => each !== before) ? true : null,
    );
    provider.valid.delete(before);
  }
  expect(await stop()).toEqual([]);
  expect(new Set(provider.shown)).toEqual(new Set(all));
}, 120_000);

test('a rotation that went wrong is put back', async () => {
  await gw('credentials set ROTATING', 'sk-not-valid');
  await becomes('upstream_auth_failed');
  await gw('credentials restore ROTATING');
  await becomes('200');
});

test('one that is taken away is used no more', async () => {
  const db = openDatabase(stack.databaseUrl, { connections: 1 });
  const row = await db.providerCredential.findUniqueOrThrow({ where: { name: 'ROTATING' } });
  await db.providerCredential.delete({ where: { name: 'ROTATING' } });
  await becomes('upstream_credential_missing');
  const before = provider.shown.length;
  await becomes('upstream_credential_missing');
  expect(provider.shown.length).toBe(before);
  await db.providerCredential.create({ data: row });
  await db.$disconnect();
  await becomes('200');
});

test('it goes to no other address, even if the provider moves there; set for that, it goes there alone', async () => {
  const url = await listen(elsewhere.server);
  await gw(`providers set ${id} --url ${url} --credential ROTATING`);
  await becomesEverywhere('upstream_credential_missing');
  expect(elsewhere.shown).toEqual([]);
  const moved = next();
  all.push(moved);
  elsewhere.valid.add(moved);
  const before = provider.shown.length;
  await gw(`credentials set ROTATING --url ${url}`, moved);
  await becomes('200');
  expect(provider.shown.length).toBe(before);
  expect(new Set(elsewhere.shown)).toEqual(new Set([moved]));
});

test('nobody can read it: not in what Envoy tells of itself, in no log, not in Postgres, in no reply', async () => {
  const dump = await readFrom(join(stack.sockets, 'envoy-admin.sock'), '/config_dump?include_eds');
  const logs = readdirSync(stack.logs).map((name) => readFileSync(join(stack.logs, name), 'latin1'));
  const listed = await gw('credentials list --json');
  const audit = await gw('audit list --limit 50 --json');
  const { text } = await get('/v1/models');
  for (const place of [dump, listed, audit, text, ...logs])
    for (const secret of all) expect(place.includes(secret)).toBe(false);
});
