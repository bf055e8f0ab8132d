/** The bare gateway is a whole one, with nothing in place of the sidecar's work. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonCall, streamCall } from '../target.ts';
import { gatewayOf, modelOf, startBareGateway } from '../targets.ts';

test('the bare gateway answers JSON and streams by the way of the real one', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bare-'));
  const gateway = await startBareGateway(dir, { log: () => undefined, signal: new AbortController().signal });
  try {
    const target = gatewayOf(gateway, gateway.keys.enterprise, 'bare');
    const model = modelOf(gateway);
    const textOf = async ({ body, headers, url }: ReturnType<typeof jsonCall>): Promise<string> => {
      const reply = await fetch(url, { method: 'POST', headers, body });
      expect(reply.status).toBe(200);
      // Made by the sidecar, and not by Envoy without it.
      expect(reply.headers.get('x-gw-receipt-id')).toBe('rcpt_00000000-0000-7000-8000-000000000000');
      for (const name of ['x-gw-overhead-ms', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-day'])
        expect(reply.headers.get(name)).not.toBeNull();
      return reply.text();
    };
    for (let again = 0; again < 2; again++) {
      expect(JSON.parse(await textOf(jsonCall(target, model)))).toMatchObject({ gw: { made_of: expect.any(String) } });
      const stream = await textOf(streamCall(target, model, 20, 0));
      expect(stream).toMatch(/"made_of":"nothing[a-z]+"\}\}\n\n(data: .*\n\n)*data: \[DONE\]\n\n$/);
      // The role, twenty tokens, the end, the receipt, and [DONE]; perhaps the usage.
      expect([24, 25]).toContain(stream.match(/^data: /gm)?.length);
    }
  } finally {
    await gateway.stop();
    rmSync(dir, { recursive: true, force: true });
  }
});
