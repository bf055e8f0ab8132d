/** Sums as those who report them ask for them: the commands of docs/reporting.md, after calls through the gateway. */
import { readFileSync } from 'node:fs';
import { type UsageRow, usageSchema } from '@gw/contract/usage';
import { inCheckout } from '@gw/stack/checkout';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { run } from '../cli/gateway-of-its-own.ts';
import { stack } from '../shared-stack.ts';

test('the commands of the documentation give sums, as JSON and as a table', async () => {
  const apiKey = stack.keys.auditPlus;
  const client = new OpenAI({ apiKey, baseURL: `${stack.publicUrl}/v1`, maxRetries: 0 });
  await client.chat.completions.create({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }] });
  const page = readFileSync(inCheckout('docs/reporting.md'), 'utf8');
  const [, text = ''] = /^```sh\n([\s\S]*?)^```/m.exec(page) ?? [];
  const [asJson = '', asCsv = ''] = text
    .replaceAll('http://127.0.0.1:8080', stack.publicUrl)
    // The calls are of now.
    .replace('from=2026-01-01&to=2027-01-01&', '')
    .split('\n');
  const asked = async (command: string): Promise<string> => {
    const { code, err, out } = await run('sh', ['-c', command], { ...process.env, GW_KEY: apiKey });
    expect([code, err]).toEqual([0, '']);
    return out;
  };
  const ofRegion = ({ region }: UsageRow): boolean => typeof region === 'string';
  await expect
    .poll(async () => usageSchema.parse(JSON.parse(await asked(asJson))).data.some(ofRegion), { timeout: 20_000 })
    .toBe(true);
  // Other tests ask with the same account, of providers of their own.
  const [head = '', ...rows] = (await asked(asCsv)).split('\r\n');
  expect(head).toMatch(
    /^date,model,simulated,requests,.*,energy_low_wh,.*,carbon_embodied_g,.*,carbon_market_g,energy_contracted_wh,cost,currency,.*,missing_cost$/,
  );
  expect(rows).toContainEqual(expect.stringMatching(/^\d{4}-\d{2},sim-small,true,[1-9]\d*,/));
});
