/** A pack of more receipts than a reply holds, as an auditor gets it. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mostReceipts } from '@gw/contract/evidence';
import { inCheckout } from '@gw/stack/checkout';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { gw, run } from '../cli/gateway-of-its-own.ts';
import { stack } from '../shared-stack.ts';
import { packOf } from './pack-of.ts';

let dir: string;
/** More than a reply holds with their lineages. */
const many: string[] = [];
beforeAll(() => {
  dir = mkdtempSync(join(stack.dir, 'evidence-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a long pack is built by a job, and the commands of the documentation follow it, read it and verify it', async () => {
  const client = new OpenAI({ apiKey: stack.keys.auditPlus, baseURL: `${stack.publicUrl}/v1`, maxRetries: 5 });
  // Within the limit of the tier.
  while (many.length <= mostReceipts.withLineage) {
    const messages = [{ role: 'user', content: 'Hello' }] as const;
    const replies = await Promise.all(
      Array.from({ length: 10 }, () =>
        client.chat.completions.create({ model: 'sim-small', messages: [...messages], max_tokens: 2 }),
      ),
    );
    many.push(...replies.map((reply) => (reply as unknown as { gw: { id: string } }).gw.id));
  }
  const asked = { receipt_ids: many, include_lineage: true };
  await vi.waitUntil(async () => (await packOf(asked)).status === 202, { timeout: 20_000, interval: 200 });
  const page = readFileSync(inCheckout('docs/evidence.md'), 'utf8');
  const [, text = ''] = /^```sh\n(at=[\s\S]*?)^```/m.exec(page) ?? [];
  const commands = text
    .replaceAll('http://127.0.0.1:8080', stack.publicUrl)
    .replace('{"from":"2026-01-01","to":"2026-11-01"}', JSON.stringify(asked));
  const env = { ...process.env, GW_KEY: stack.keys.auditPlus };
  const { code, err, out } = await run('sh', ['-c', `cd ${dir} && ${commands}`], env);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('"state":"ready"');
  const keys = join(dir, 'jwks.json');
  writeFileSync(keys, await (await fetch(`${stack.publicUrl}/.well-known/jwks.json`)).text());
  const verified = await gw(['verify', join(dir, 'long.jsonld'), '--jwks', keys]);
  expect(verified.out).toContain(`numbers     ${many.length} recomputed, 0 not recomputed`);
  expect(verified).toMatchObject({ code: 0, err: '' });
});

test('a long pack that is asked for twice with one idempotency key is one job, and another body is refused', async () => {
  const asked = { receipt_ids: many, include_lineage: true };
  let key = '';
  const first = await vi.waitFor(
    async () => {
      key = randomUUID();
      const reply = await packOf(asked, { 'idempotency-key': key });
      // The packs of the test before may still be under way.
      expect(reply.status).toBe(202);
      return reply;
    },
    { timeout: 30_000, interval: 500 },
  );
  const again = await packOf(asked, { 'idempotency-key': key });
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  expect(await again.json()).toEqual(await first.json());
  const other = await packOf({ receipt_ids: many }, { 'idempotency-key': key });
  const { error } = (await other.json()) as { error: { code: string } };
  expect([other.status, error.code]).toEqual([400, 'idempotency_key_reused']);
});
