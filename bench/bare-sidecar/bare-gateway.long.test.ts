/** The bare gateway is a whole one, with a sidecar that does no work, and its calls look like those of the real one. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { type Stack, startStack } from '@gw/stack/stack';
import { expect, test } from 'vitest';
import { type Call, jsonCall, streamCall } from '../load/target.ts';
import { gatewayOf, modelOf, startBareGateway } from '../peers/targets.ts';

async function answered({ body, headers, url }: Call): Promise<{ names: string[]; text: string; id: string | null }> {
  const reply = await fetch(url, { method: 'POST', headers, body });
  expect(reply.status).toBe(200);
  return {
    names: [...reply.headers.keys()].sort(),
    text: await reply.text(),
    id: reply.headers.get('x-gw-receipt-id'),
  };
}

const eventsIn = (text: string): number => text.match(/^data: /gm)?.length ?? 0;

test('the bare gateway answers JSON and streams as long and with the same headers as the real one', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bare-'));
  const watch = { log: () => undefined, signal: new AbortController().signal };
  const gateways: Stack[] = [];
  try {
    gateways.push(await startStack({ dir: join(dir, 'real'), ...watch }));
    gateways.push(await startBareGateway(dir, watch));
    const calls = gateways.map((gateway) => {
      const target = gatewayOf(gateway, gateway.keys.enterprise);
      return { json: jsonCall(target, modelOf(gateway)), stream: streamCall(target, modelOf(gateway), 20, 0) };
    });
    // The second of each kind is of what was made for the first.
    for (const kind of ['json', 'json', 'stream', 'stream'] as const) {
      const [real, bare] = await Promise.all(calls.map((each) => answered(each[kind])));
      if (!real || !bare) throw new Error('There are two gateways.');
      expect(bare.id).toBe('rcpt_00000000-0000-7000-8000-000000000000');
      expect(bare.names).toEqual(real.names);
      const size = bare.text.length / real.text.length;
      expect(size).toBeGreaterThan(0.85);
      expect(size).toBeLessThan(1.15);
      if (kind === 'json') expect(JSON.parse(bare.text)).toMatchObject({ gw: { made_of: expect.any(String) } });
      else expect(bare.text).toMatch(/"made_of":"nothing[a-z]+"\}\}\n\n(data: .*\n\n)*data: \[DONE\]\n\n$/);
      // The receipt is an event of its own here, and the usage stays where it comes in one piece with [DONE].
      if (kind === 'stream') expect([1, 2]).toContain(eventsIn(bare.text) - eventsIn(real.text));
    }
  } finally {
    for (const gateway of gateways) await gateway.stop();
    rmSync(dir, { recursive: true, force: true });
  }
});

test('nobody starts a bare sidecar in place of the real one by mistake', () => {
  const { status, stderr } = spawnSync(process.execPath, [inCheckout('dist', 'bare-sidecar.js')], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^This is no sidecar but a part of the benchmarks/);
});
