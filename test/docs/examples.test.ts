/** A running gateway does what the documentation shows of the API. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chatResponseSchema } from '@gw/contract/chat';
import type { Receipt } from '@gw/contract/receipt';
import { inCheckout } from '@gw/stack/checkout';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../cli/gateway-of-its-own.ts';
import { stack } from '../shared-stack.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(stack.dir, 'docs-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The generated part of a page, without its fence. */
function shown(page: string, name: string): string {
  const part = new RegExp(`<!-- generated: ${name} -->\\n+\`\`\`\\w+\\n([\\s\\S]*?)\\n\`\`\``);
  const found = part.exec(readFileSync(inCheckout(page), 'utf8'))?.[1];
  if (found === undefined) throw new Error(`${page} shows no ${name}.`);
  return found;
}

const request = z.looseObject({}).parse(JSON.parse(shown('docs/api.md', 'chat-request')));

async function ask(fields: object): Promise<string> {
  const response = await fetch(`${stack.publicUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.keys.auditPlus}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...request, ...fields }),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return text;
}

/** These fields differ from call to call: ids, times, ages, and the numbers that depend on how long the provider took. */
const varies =
  /^(id|receipt_id|created_at|request_id|energy_\w+|carbon_\w+|sci_g_per_request|water_\w+|\w*requested_at|\w*age_minutes|\w+_digest|salt)$/;

/** The value with a word in the place of what varies: its type. Order of keys included. */
function form(value: unknown, path = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => form(item, path));
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([key, item]) => {
    const isOurs = /^\.(gw|usage\.gw|routing_trace)/.test(path);
    return [key, isOurs && varies.test(key) ? typeof item : form(item, `${path}.${key}`)];
  });
}

it('the reply of the reference is what the gateway answers to its request', async () => {
  const reply: unknown = JSON.parse(await ask({}));
  expect(chatResponseSchema.safeParse(reply)).toMatchObject({ success: true });
  expect(form(reply)).toEqual(form(JSON.parse(shown('docs/api.md', 'chat-reply'))));
});

it('the stream of the reference is what the gateway sends, event by event', async () => {
  const events = (await ask({ stream: true })).trimEnd();
  const shortened = events.replace(/"gw":\{.*?\},"routing_trace":\{.*\}\}\n/, '"gw":{…},"routing_trace":{…}}\n');
  expect(shortened).toBe(shown('docs/api.md', 'chat-stream'));
});

describe('the commands for checking a receipt of one’s own', () => {
  const page = readFileSync(inCheckout('docs/receipts.md'), 'utf8');
  const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text);
  const commandOf = (name: string): string =>
    (commands.find((text) => text.includes(`$${name}`)) ?? '').replaceAll('http://127.0.0.1:8080', stack.publicUrl);
  const script = commandOf('RECEIPT_ID').replace(
    'docs/examples/recompute.py',
    inCheckout('docs/examples/recompute.py'),
  );

  // docs/source/recompute.test.ts has all other kinds, from the facts alone.
  const calls: readonly (readonly [string, object, Receipt['tier']])[] = [
    ['a parametric receipt', {}, 'parametric'],
    ['one with measured energy', { model: 'sim-measured', gw: {} }, 'telemetry'],
  ];
  it.each(calls)('give every number of %s again', async (_, fields, tier) => {
    const receipt = receiptInReply.parse(z.looseObject({ gw: z.unknown() }).parse(JSON.parse(await ask(fields))).gw);
    expect(receipt.tier).toBe(tier);
    const env = { ...process.env, GW_KEY: stack.keys.auditPlus, RECEIPT_ID: receipt.id };
    const { code, out, err } = await run('sh', ['-c', `cd ${dir} && ${script}`], env);
    expect(code, out + err).toBe(0);
    expect(Number(/^energy_wh (\S+)$/m.exec(out)?.[1])).toBe(receipt.energy_wh);
    expect(out).toContain(' 0 faults');
  });

  it('give the hash of its methodology again, which may stand in the path with or without the name of the function', async () => {
    const { gw } = z.looseObject({ gw: receiptInReply }).parse(JSON.parse(await ask({})));
    const digits = gw.methodology_hash?.replace('sha256:', '') ?? '';
    const hashing = (commands.find((text) => text.includes('sha256sum')) ?? '').replaceAll(
      'http://127.0.0.1:8080',
      stack.publicUrl,
    );
    for (const hash of [`sha256:${digits}`, `sha256%3A${digits}`, digits]) {
      const env = { ...process.env, GW_KEY: stack.keys.auditPlus, METHODOLOGY_HASH: hash };
      const { out } = await run('sh', ['-c', hashing], env);
      expect(out, hash).toBe(`${digits}  -\n`);
    }
  });
});
