/** Evidence as an auditor gets it: calls through the gateway, their pack, the published key, and the shell command. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keySetSchema } from '@gw/contract/evidence';
import type { RoutingTrace } from '@gw/contract/routing-trace';
import { inCheckout } from '@gw/stack/checkout';
import { parquetReadObjects } from 'hyparquet';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { gw as command, run } from '../cli/gateway-of-its-own.ts';
import { additionsOf, eventually, messages, openAi } from '../sdk/gateway.ts';
import { stack } from '../shared-stack.ts';
import { packOf } from './pack-of.ts';

let dir: string;
let pack: string;
let ids: string[];
const inDir = (name: string, text: string): string => {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
};
const gw = (...args: string[]) => command(args);

/** A job may have to wait for those of the tests before. */
async function tableOf(body: object): Promise<{ readonly bytes: Buffer; readonly job: string }> {
  const patience = { timeout: 30_000, interval: 200 };
  const entered = await vi.waitFor(async () => {
    const reply = await packOf(body);
    expect(reply.status).toBe(202);
    return reply;
  }, patience);
  const at = `${stack.publicUrl}${entered.headers.get('location')}`;
  const headers = { authorization: `Bearer ${stack.keys.auditPlus}` };
  const job = await vi.waitFor(async () => {
    const state = await (await fetch(at, { headers: { ...headers, accept: 'application/json' } })).text();
    expect(JSON.parse(state).state).toBe('ready');
    return state;
  }, patience);
  return { bytes: Buffer.from(await (await fetch(at, { headers })).arrayBuffer()), job };
}

beforeAll(async () => {
  dir = mkdtempSync(join(stack.dir, 'evidence-'));
  const client = new OpenAI({ apiKey: stack.keys.auditPlus, baseURL: `${stack.publicUrl}/v1`, maxRetries: 0 });
  const replies = await Promise.all(
    ['sim-small', 'sim-measured'].map((model) =>
      client.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 8,
        metadata: { project: `of ${model}` },
      }),
    ),
  );
  ids = replies.map((reply) => (reply as unknown as { gw: { id: string } }).gw.id);
  // They are written behind.
  for (let tries = 0; tries < 100; tries += 1) {
    const reply = await packOf({ receipt_ids: ids, include_lineage: true });
    pack = await reply.text();
    expect(reply.status, pack).toBe(200);
    if (JSON.parse(pack).receipts.length === 2) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The receipts were not stored within 10 s.');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a pack of two calls verifies by the key that the gateway publishes to everybody', async () => {
  const reply = await fetch(`${stack.publicUrl}/.well-known/jwks.json`);
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/json']);
  const keys = keySetSchema.parse(await reply.json());
  const file = inDir('pack.jsonld', pack);
  const trusted = await gw('verify', file, '--jwks', inDir('jwks.json', JSON.stringify(keys)));
  expect(trusted).toMatchObject({ code: 0, err: '' });
  expect(trusted.out).toMatch(/^account {5}acct_demo_audit_plus\nselection {3}\{.*\n/);
  expect(trusted.out.split('\n').slice(2).join('\n')).toBe(
    'receipts    2\nnumbers     2 recomputed, 0 not recomputed\npins        0 asked for, 0 held\nrouting     no traces in this pack\nlog         0 proven, 2 not in it yet\nwhole       it does not claim to be: it is of some receipts of its time alone\nsignature   by a key that you trust\nmismatches  0\n',
  );
  expect(await gw('verify', file, `--key=${keys.keys[0]?.kid}`)).toMatchObject({ code: 0 });
  const untrusted = await gw('verify', file);
  expect(untrusted).toMatchObject({ code: 2 });
  expect(untrusted.out).toContain('unauthenticated');
  expect(await gw('verify', file, '--key', 'x')).toMatchObject({ code: 1 });
});

test('each receipt of it says what its call is charged to', () => {
  const receipts: { project: string }[] = JSON.parse(pack).receipts;
  expect(receipts.map(({ project }) => project).sort()).toEqual(['of sim-measured', 'of sim-small']);
});

test('an altered number is named, with what it has to be', async () => {
  const altered = JSON.parse(pack);
  const was = altered.receipts[0].carbon_g;
  altered.receipts[0].carbon_g = '0.000001';
  const { code, out } = await gw('verify', inDir('altered.jsonld', JSON.stringify(altered)), '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out).mismatches).toContainEqual({
    receipt: altered.receipts[0].id,
    field: 'receipt.carbon_g',
    expected: String(Number(was)),
    found: '0.000001',
  });
});

test('the commands of the documentation do what it says', async () => {
  const page = readFileSync(inCheckout('docs/evidence.md'), 'utf8');
  const [, text = ''] = /^```sh\n([\s\S]*?)^```/m.exec(page) ?? [];
  const commands = text.replaceAll('http://127.0.0.1:8080', stack.publicUrl).replace('./gw', inCheckout('gw'));
  // Calls of other tests since then may be more than a pack can hold.
  const of = commands.replace('"from":"2026-11-21"', `"receipt_ids":${JSON.stringify(ids)}`);
  const env = { ...process.env, GW_KEY: stack.keys.auditPlus };
  const { code, err, out } = await run('sh', ['-c', `cd ${dir} && ${of}`], env);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('by a key that you trust');
});

test('the same idempotency key gives the same pack, byte for byte', async () => {
  const asked = (key: string) =>
    packOf({ receipt_ids: ids }, { 'idempotency-key': `${ids[0]} ${key}`.replace(' ', '-') });
  const [one, again, other] = [await asked('1'), await asked('1'), await asked('2')];
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(again.headers.get('content-type')).toBe('application/ld+json; charset=utf-8');
  const text = await one.text();
  expect(await again.text()).toBe(text);
  expect(await other.text()).not.toBe(text);
});

test('a page for people and the statement of a table come from the shell too', async () => {
  const keys = inDir('jwks.json', await (await fetch(`${stack.publicUrl}/.well-known/jwks.json`)).text());
  const file = inDir('paged.jsonld', pack);
  const page = join(dir, 'page.html');
  expect(await gw('verify', file, '--jwks', keys, '--html', page)).toMatchObject({ code: 0, err: '' });
  const html = readFileSync(page, 'utf8');
  expect(html).toContain('acct_demo_audit_plus');
  expect(html).not.toMatch(/<script|<link|\s(src|href)=/);
  const nowhere = await gw('verify', file, '--jwks', keys, '--html', join(dir, 'no-folder', 'page.html'));
  expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('cannot be written')]);

  const { bytes, job } = await tableOf({ receipt_ids: ids, format: 'csv' });
  const csv = bytes.toString();
  const statement = ['--statement', inDir('job.json', job), '--jwks', keys];
  const held = await gw('verify', inDir('receipts.csv', csv), ...statement);
  expect(held).toMatchObject({ code: 0, err: '' });
  expect(held.out).toContain('receipts    2, not recomputed');
  const altered = await gw('verify', inDir('altered.csv', csv.replace('sim-small', 'sim-large')), ...statement);
  expect([altered.code, altered.out]).toEqual([1, expect.stringContaining('mismatches  1\n')]);
});

describe('with the routing of a pinned and of a free call', () => {
  const region = 'eu-west';
  const traces = new Map<string, RoutingTrace>();
  let [pinned, free]: string[] = [];
  beforeAll(async () => {
    for (const gw of [{ region }, {}]) {
      const body = { model: 'sim-small', messages, max_tokens: 4, gw };
      const { gw: receipt, routing_trace: trace } = additionsOf(await openAi().chat.completions.create(body));
      if (receipt && trace) traces.set(receipt.id, trace);
    }
    [pinned, free] = [...traces.keys()];
    await eventually('both receipts to be stored', async () => {
      const { receipts } = (await (await packOf({ receipt_ids: [...traces.keys()] })).json()) as { receipts: object[] };
      return receipts.length === traces.size ? true : null;
    });
  });
  const asked = () => ({ receipt_ids: [...traces.keys()], include_routing: true });

  test('a pack says that the pin was asked for and held, and a region that differs is named', async () => {
    const keys = inDir('jwks.json', await (await fetch(`${stack.publicUrl}/.well-known/jwks.json`)).text());
    const text = await (await packOf({ ...asked(), include_lineage: true })).text();
    const { receipts } = JSON.parse(text);
    const byId = new Map(receipts.map((each: { receipt_id: string }) => [each.receipt_id, each]));
    for (const [id, trace] of traces) expect(byId.get(id)).toMatchObject({ routing: trace });
    expect(byId.get(pinned)).toMatchObject({ pinned_region: region, region, routing: { policy: 'pinned' } });
    expect(byId.get(free)).toMatchObject({ pinned_region: null, routing: { policy: 'provider_preference' } });
    const held = await gw('verify', inDir('routed.jsonld', text), '--jwks', keys);
    expect(held, held.out).toMatchObject({ code: 0, err: '' });
    // No grid is told live here, so no region is chosen by its carbon, and the preferred one saves nothing.
    expect(held.out).toContain(
      'pins        1 asked for, 1 held\nrouting     2 traces, 0 choices by carbon\nsavings     1 stated, 0 g in all; 0 recomputed from facts\n',
    );

    const altered = JSON.parse(text);
    const moved = altered.receipts.find((each: { receipt_id: string }) => each.receipt_id === pinned);
    moved.region = 'us-east';
    const { code, out } = await gw('verify', inDir('moved.jsonld', JSON.stringify(altered)), '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ routing: { pins: { asked: 1, held: 0 } } });
    expect(JSON.parse(out).mismatches).toContainEqual({
      receipt: moved.id,
      field: 'region',
      expected: `${region}, which was asked for`,
      found: '"us-east"',
    });
  });

  test('tables have the trace of each call', async () => {
    const csv = await tableOf({ ...asked(), format: 'csv' });
    const [head = '', ...lines] = csv.bytes.toString().trimEnd().split('\r\n');
    expect(head.split(',').slice(-6)).toEqual([
      ...['routing_policy', 'routing_fallback', 'routing_fallback_reason', 'routing_counterfactual_region'],
      ...['estimated_saving_g', 'routing_trace'],
    ]);
    expect(lines).toHaveLength(traces.size);
    const { bytes } = await tableOf({ ...asked(), format: 'parquet' });
    const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer });
    for (const [id, trace] of traces) {
      const text = JSON.stringify(trace);
      expect(lines.find((line) => line.includes(id))).toContain(`,"${text.replaceAll('"', '""')}"`);
      const row = rows.find((each) => each.id === id);
      expect(row).toMatchObject({
        routing_policy: trace.policy,
        routing_fallback: trace.fallback,
        routing_trace: text,
      });
    }
    expect(rows.find(({ id }) => id === pinned)).toMatchObject({ pinned_region: region, estimated_saving_g: null });
  });
});

test('a key without the scope is refused', async () => {
  const reply = await fetch(`${stack.publicUrl}/v1/gw/evidence-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.keys.audit}`, 'content-type': 'application/json' },
    body: JSON.stringify({ receipt_ids: ids }),
  });
  const { error } = (await reply.json()) as { error: { code: string } };
  expect([reply.status, error.code]).toEqual([403, 'insufficient_scope']);
});
