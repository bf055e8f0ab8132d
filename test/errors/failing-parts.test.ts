/** Whatever part is away, each route answers as the document says; and the codes that only a failing part makes. */
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from '@gw/contract/routes';
import type { PartName } from '@gw/stack/stack-plans';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { call, type Reply, send } from '../input/ask.ts';
import { expectComplete } from '../outage/expect-reply.ts';
import { eventually, type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { type Judge, readDocument } from './document.ts';
import { routeRequests } from './requests.ts';

let gateway: OwnGateway;
let judge: Judge;
beforeAll(async () => {
  gateway = await startOwnGateway({
    env: {
      'receipt-sidecar': { GW_UPSTREAM_TIMEOUT_S: '2' },
      'control-plane': { GW_INTEGRITY_CHECK_S: '1', GW_INTEGRITY_FULL_CHECK_S: '1' },
    },
  });
  judge = await readDocument(gateway.stack.publicUrl);
});
afterAll(() => gateway?.stop());

const ours = () => ({ url: gateway.stack.publicUrl, key: gateway.stack.keys.admin });
const chat = (sim: Record<string, string>): Promise<Reply> => call({}, sim, ours());
/** The receipt under this id in the ledger. */
const stored = async (id: unknown) => (await gateway.ledger.receipts([String(id)])).get(String(id));
const unmeasured = { status: 'upstream_error', degraded_reason: 'upstream_error_unmeasured', energy_wh: null };
const judged = (reply: Reply) => judge.judgeError('POST', '/v1/chat/completions', reply).code;

/** Whom a route needs for its answer. */
const needs = (part: PartName, { handler, hasNoReceipt, scope }: Route): boolean => {
  // Envoy answers by itself what needs no key.
  if (scope === null) return false;
  switch (part) {
    case 'ext-authz':
      return true;
    case 'control-plane':
      return handler === 'control';
    case 'simulator':
      // The sidecar counts tokens by itself where it knows the tokenizer.
      return handler === 'sidecar' && !hasNoReceipt;
    default:
      return handler === 'sidecar';
  }
};

describe.each([
  ['ext-authz', 'overloaded'],
  ['receipt-sidecar', 'overloaded'],
  ['control-plane', 'overloaded'],
  ['simulator', 'upstream_error'],
] as const)('without %s', (part, code) => {
  beforeAll(() => gateway.killForGood(part));
  afterAll(async () => {
    await gateway.start(part);
    await eventually('the models', async () => (await gateway.client.get('/v1/models')).status === 200);
  });

  test.each(routeRequests.map((request) => [`${request.method} ${request.path}`, request] as const))(
    '%s',
    async (_name, { route, ...request }) => {
      const reply = await send({ ...request, ...ours() });
      if (needs(part, route)) expect(judge.judgeError(request.method, request.path, reply).code).toBe(code);
      else if (reply.status >= 400)
        // Envoy asks the parts each half second, so `/readyz` follows a little later (envoy/instances.test.ts).
        expect(judge.judgeError(request.method, request.path, reply).code).toMatch(
          route.path === '/readyz' ? /^overloaded$/ : /_not_found$/,
        );
      else judge.judge(request.method, request.path, reply);
    },
  );

  test('an unknown path and another method', async () => {
    const unknown = await send({ method: 'GET', path: '/v1/nothing', ...ours() });
    expect(judge.judgeError('GET', '/v1/nothing', unknown).code).toBe('unknown_endpoint');
    const method = await send({ method: 'DELETE', path: '/v1/models', ...ours() });
    expect(judge.judgeError('DELETE', '/v1/models', method).code).toBe('method_not_allowed');
  });
});

test('idempotency_unavailable: nobody can say what was done with a key', async () => {
  await gateway.killForGood('valkey');
  expect(judged(await chat({ 'idempotency-key': 'once' }))).toBe('idempotency_unavailable');
  await gateway.start('valkey');
});

test('upstream_timeout: a provider that is silent for longer than the gateway waits', async () => {
  const reply = await chat({ 'x-sim-fault': 'stall' });
  expect(judged(reply)).toBe('upstream_timeout');
  expect(await stored(reply.headers['x-gw-receipt-id'])).toMatchObject(unmeasured);
});

test('receipt_generation_failed: a completion into which nobody could put a receipt', async () => {
  const marker = 'no-receipt';
  const reply = chat({ 'x-sim-fault': 'malformed', 'x-sim-hold': 'start', 'x-sim-marker': marker });
  await eventually('the provider to have the call', async () => (await gateway.client.reachedProvider(marker)) === 1);
  gateway.kill('receipt-sidecar');
  await gateway.client.release(marker);
  expect(judged(await reply)).toBe('receipt_generation_failed');
  await gateway.whole();
});

/** Envoy runs with another configuration until the function that is returned is called. */
async function changeEnvoy(change: (config: string) => string): Promise<() => Promise<void>> {
  const file = join(gateway.dir, 'envoy.json');
  const config = readFileSync(file, 'utf8');
  const envoy = gateway.stack.part('envoy');
  await envoy.stop();
  const changed = change(config);
  expect(changed).not.toBe(config);
  writeFileSync(file, changed);
  await envoy.start();
  return async () => {
    await envoy.stop();
    writeFileSync(file, config);
    await gateway.start('envoy');
  };
}

/** Envoy as if nobody had to wait for long. */
const impatient = (config: string) =>
  config.replace(/"idle_timeout":"300s"(?!,"max_headers_count")/g, '"idle_timeout":"2s"');

describe('where Envoy does not wait for long', () => {
  let restore: () => Promise<void>;
  beforeAll(async () => {
    restore = await changeEnvoy(impatient);
    await gateway.whole();
  });
  afterAll(() => restore?.());

  test('upstream_timeout: a stream that is silent before its headers is no fault of the request', async () => {
    const reply = await call({ stream: true }, { 'x-sim-fault': 'stall' }, ours());
    expect(judged(reply)).toBe('upstream_timeout');
    expect(await stored(reply.headers['x-gw-receipt-id'])).toMatchObject(unmeasured);
  });

  test('a stream that is silent in its middle is broken off, and its receipt counts what came', async () => {
    const { broken, headers, text } = await gateway.client.chat({ stream: true, sim: { 'x-sim-fault': 'stall-mid' } });
    expect({ broken, ended: text.includes('[DONE]') }).toEqual({ broken: true, ended: false });
    expect(await stored(headers.get('x-gw-receipt-id'))).toMatchObject({
      status: 'upstream_error',
      tier: 'parametric',
      usage_source: 'estimated',
      boundary_excludes: expect.arrayContaining(['undelivered_output']),
    });
  });
});

/** Memory as a file says it is; envoy/edge.test.ts has the real one. */
const memoryOf = (file: string) => (config: string) =>
  config
    .replaceAll('envoy.resource_monitors.fixed_heap', 'envoy.resource_monitors.injected_resource')
    .replaceAll('fixed_heap.v3.FixedHeapConfig', 'injected_resource.v3.InjectedResourceConfig')
    .replace(/"max_heap_size_bytes":\d+/, `"filename":${JSON.stringify(file)}`);

test('overloaded: Envoy has no memory left for another call; one that it has goes on to its end', async () => {
  const file = join(gateway.dir, 'memory');
  const used = (part: number) => {
    writeFileSync(`${file}.new`, String(part));
    renameSync(`${file}.new`, file);
  };
  used(0.5);
  const restore = await changeEnvoy(memoryOf(file));
  try {
    await gateway.whole();
    let begun = false;
    let ended = false;
    const onText = () => {
      begun = true;
    };
    const marker = randomUUID();
    const sim = { 'x-sim-hold': 'middle', 'x-sim-marker': marker };
    const running = gateway.client.chat({ stream: true, sim, onText }).finally(() => {
      ended = true;
    });
    await eventually('the stream to begin', async () => begun);
    used(0.97);
    await eventually('a refusal', async () => (await chat({})).status === 503);
    const reply = await chat({});
    expect(judged(reply)).toBe('overloaded');
    expect(reply.headers['retry-after']).toBe('1');
    expect(ended).toBe(false);
    await gateway.client.release(marker);
    expectComplete(await running);
    used(0.5);
    await gateway.whole();
  } finally {
    await restore();
  }
});

describe('receipt_integrity_failed: a receipt that was altered in storage', () => {
  const unguarded = (statement: string) =>
    gateway.owner.$transaction([
      gateway.owner.$executeRawUnsafe('SET LOCAL session_replication_role = replica'),
      gateway.owner.$executeRawUnsafe(statement),
    ]);
  const health = async () => (await fetch(`${gateway.stack.controlUrl}/healthz`)).json();
  const metric = async (name: string): Promise<string | undefined> =>
    (await (await fetch(`${gateway.stack.controlUrl}/metrics`)).text())
      .split('\n')
      .find((line) => line.startsWith(`${name}{`))
      ?.split(' ')[1];
  const patience = { timeout: 30_000, interval: 100 };
  const logged = (words: string) => {
    const file = join(gateway.dir, 'logs', 'control-plane.log');
    return vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain(words), patience);
  };

  // A control plane that was killed above may have left a check claimed, which the next one takes over after two minutes.
  beforeAll(() => unguarded('UPDATE integrity_checks SET claimed_until = NULL'));

  test('is found by the job and named before anybody asks, and is not served until it is what it was', async () => {
    const { receipt } = await gateway.client.chat();
    if (receipt === null) throw new Error('There is no receipt.');
    const { carbon_g, id } = receipt;
    await gateway.ledger.receipts([id]);
    await expect(gateway.db.receipt.updateMany({ where: { id }, data: { carbonG: 0.5 } })).rejects.toThrow();
    await unguarded(`UPDATE receipts SET carbon_g = 0.5 WHERE id = '${id}'`);
    const found = { status: 'degraded', receipt_integrity_faults: 1, audit_chain_faults: 0 };
    await vi.waitFor(async () => expect(await health()).toMatchObject(found), patience);
    expect(await metric('gw_receipt_integrity_faults')).toBe('1');
    await logged(`"name":"${id}","number":1,"fault":"altered"`);
    const path = `/v1/gw/receipts/${id}`;
    const reply = await send({ method: 'GET', path, ...ours() });
    expect(judge.judgeError('GET', '/v1/gw/receipts/{receipt_id}', reply).code).toBe('receipt_integrity_failed');
    const list = await send({ method: 'GET', path: '/v1/gw/receipts', ...ours() });
    judge.judge('GET', '/v1/gw/receipts', list);
    expect(JSON.parse(list.text).altered).toEqual([{ id, version: 1 }]);
    await unguarded(`UPDATE receipts SET carbon_g = ${carbon_g} WHERE id = '${id}'`);
    // A check that read the row before may still write down what it saw, until the next full one.
    await vi.waitFor(async () => expect(await health()).toMatchObject({ status: 'ok' }), patience);
    expect(await metric('gw_receipt_integrity_faults')).toBe('0');
    expect((await send({ method: 'GET', path, ...ours() })).status).toBe(200);
  }, 60_000);

  test('so is an entry of the audit log, altered or deleted', async () => {
    const [entry] = await gateway.owner.auditEntry.findMany({ orderBy: { seq: 'asc' }, take: 1 });
    if (entry === undefined) throw new Error('There is no entry.');
    const where = `chain = '${entry.chain}' AND seq = ${entry.seq}`;
    await unguarded(`UPDATE audit SET action = 'forged' WHERE ${where}`);
    const found = { status: 'degraded', audit_chain_faults: 1 };
    await vi.waitFor(async () => expect(await health()).toMatchObject(found), patience);
    expect(await metric('gw_audit_chain_faults')).toBe('1');
    await logged(`"name":"${entry.chain}","number":${entry.seq},"fault":"altered"`);
    await unguarded(`UPDATE audit SET action = '${entry.action}' WHERE ${where}`);
    await eventually('the gauge', async () => (await metric('gw_audit_chain_faults')) === '0');
    await unguarded(`DELETE FROM audit WHERE ${where}`);
    await eventually('the gauge', async () => Number(await metric('gw_audit_chain_faults')) > 0);
  }, 60_000);
});
