/**
 * Measures what an idempotency key adds to a call: hashing its body, claiming the key, and sealing and storing the reply,
 * on a separate Valkey whose processor time is not counted.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodySha256 } from '@gw/contract/internal/idempotency-key';
import { KeptReply } from '@gw/receipt-sidecar/internals/guards/idempotency/kept-reply';
import { type Claim, Idempotency, redisClaims } from '@gw/service/idempotency';
import { createReplyCipher } from '@gw/service/internals/idempotency/reply-cipher';
import { openLog } from '@gw/service/log';
import { openRedisWriter } from '@gw/service/redis-writer';
import { startValkey } from '@gw/stack/services/valkey';
import { idempotencyLimitUs, type Step } from './micro.ts';

/** Calls at once where a gateway has work; then one turn of the event loop serves several. */
const atOnce = 16;
const messages = [
  { role: 'system', content: 'Be brief. '.repeat(40) },
  { role: 'user', content: 'Hello. '.repeat(60) },
];
const body = { model: 'sim-small', messages, temperature: 0.7, max_tokens: 256 };
/** As long as a completion of a few sentences with its receipt and its trace. */
const reply = [Buffer.from('x'.repeat(4000))];

export async function startIdempotencyStep(): Promise<{ readonly step: Step; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bench-idempotency-'));
  const log = openLog('bench', 'silent');
  const valkey = await startValkey({ dir, log: () => undefined, durable: false });
  const redis = openRedisWriter({ url: valkey.url, log, commandTimeoutMs: 1000 });
  await redis.untilReady(5000);
  const cipher = createReplyCipher([randomBytes(32)]);
  const idempotency = new Idempotency({ claims: redisClaims(redis), cipher, now: () => performance.now() });
  let calls = 0;
  let stored = 0;
  const storeReply = (claim: Claim) =>
    new Promise<void>((resolve, reject) => {
      const ended = (end: string): void => {
        if (end === 'kept') stored += 1;
        resolve();
      };
      const kept = new KeptReply(claim, 'rcpt_01890a5d-ac96-774b-bcce-b302099a8057', { ended });
      kept.add(reply);
      kept.store('application/json', () => undefined).catch(reject);
    });
  const one = async () => {
    calls += 1;
    // An account may store so much alone.
    const call = { accountId: `a${calls}`, path: '/v1/chat/completions', key: `key ${calls}`, body: bodySha256(body) };
    const found = await idempotency.claim(call, { mostMs: 1, bytes: 1, onGone: () => undefined });
    if (found.is === 'claimed') await storeReply(found.claim);
  };
  const several = () => Promise.all(Array.from({ length: atOnce }, one));
  await several();
  // A step that stores nothing would look very fast.
  if (stored !== atOnce) throw new Error('The benchmark of idempotency keys does not keep its replies.');
  return {
    step: { name: 'run a call with an idempotency key', run: several, limitUs: idempotencyLimitUs, calls: atOnce },
    stop: async () => {
      idempotency.stop();
      redis.stop();
      await valkey.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
