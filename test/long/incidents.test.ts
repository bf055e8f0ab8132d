/**
 * Measures what somebody needs who is woken at night: the time from an incident to the first signal of the product that names its cause, in health,
 * metrics and log alike. Each has to be there within a minute, once in the log, and to go when the incident is over.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '@gw/prisma/client';
import { forFile } from '@gw/testing/for-file';
import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';

const gateway = forFile(() => startOwnGateway({ instances: 2 }));
const withinMs = 60_000;
const figures: string[] = [];
afterAll(() => process.stdout.write(`${figures.join('\n')}\n`));

type Part = 'control-plane' | 'receipt-sidecar' | 'ext-authz';
interface Signals {
  readonly part: Part;
  /** Its name in `degraded` of /healthz. */
  readonly name: string;
  readonly sentence: RegExp;
  readonly metric: RegExp;
  readonly log: RegExp;
}

const urlOf = (part: Part) => (part === 'control-plane' ? gateway.stack.controlUrl : gateway.stack.healthUrls[part]);
const textOf = async (part: Part, path: string): Promise<string> =>
  (await fetch(`${urlOf(part)}${path}`, { signal: AbortSignal.timeout(10_000) })).text();
const sentenceOf = async ({ name, part }: Signals): Promise<string> =>
  JSON.parse(await textOf(part, '/healthz')).degraded[name] ?? '';
const logOf = (part: Part) => readFileSync(join(gateway.stack.logs, `${part}.log`), 'utf8');

/** Makes the incident, under calls, waits for the three signals, ends it, and waits for the health to be well again. */
async function measured(what: string, signals: Signals, begin: () => Promise<() => unknown>): Promise<void> {
  await gateway.whole();
  const isWell = async (part: Part) => Object.keys(JSON.parse(await textOf(part, '/healthz')).degraded).length === 0;
  await eventually(
    `${what}: everything to be well before`,
    async () => {
      const parts = await Promise.all((['control-plane', 'receipt-sidecar', 'ext-authz'] as const).map(isWell));
      return parts.every(Boolean);
    },
    120_000,
  );
  const before = logOf(signals.part).length;
  const newLog = () => logOf(signals.part).slice(before);
  let isOver = false;
  const calling = (async () => {
    while (!isOver) {
      // Three at once, since Envoy gives calls one by one to the same sidecar.
      await Promise.all([1, 2, 3].map(() => gateway.client.chat().catch(() => undefined)));
      await delay(200);
    }
  })();
  const begun = performance.now();
  const end = await begin();
  const seen = async (signal: string, is: () => boolean | Promise<boolean>): Promise<number> => {
    await eventually(`${what}: ${signal}`, is, withinMs);
    return Math.round((performance.now() - begun) / 100) / 10;
  };
  try {
    const [health, metric, log] = await Promise.all([
      seen('health', async () => signals.sentence.test(await sentenceOf(signals))),
      seen('metric', async () => signals.metric.test(await textOf(signals.part, '/metrics'))),
      seen('log', () => signals.log.test(newLog())),
    ]);
    figures.push(`${what} (${signals.part}): health ${health} s, metric ${metric} s, log ${log} s`);
    // A line for its begin, however long it goes on.
    await delay(5000);
    expect(newLog().match(new RegExp(signals.log, 'gm')), what).toHaveLength(1);
  } finally {
    await end();
    isOver = true;
    await calling;
  }
  await eventually(`${what}: the end of it`, async () => (await sentenceOf(signals)) === '', 120_000);
}

const told = (name: string) => new RegExp(`"degraded":"${name}",(?!"seconds")`);
const degraded = (cause: string) => new RegExp(`^gw_degraded\\{cause="${cause}"[^}]*\\} 1$`, 'm');
const down = (dependency: string) => new RegExp(`^gw_up\\{dependency="${dependency}"[^}]*\\} 0$`, 'm');

const ofValkey = (part: Part, sentence: RegExp): Signals => ({
  part,
  name: 'redis',
  sentence,
  metric: down('redis'),
  log: told('redis'),
});

test.each(['receipt-sidecar', 'ext-authz', 'control-plane'] as const)(
  'Valkey is cut off, as %s tells it',
  async (part) => {
    await measured('Valkey cut off', ofValkey(part, /does not answer/), async () => gateway.pause('valkey'));
  },
  300_000,
);

test.each(['receipt-sidecar', 'control-plane'] as const)(
  'Valkey is full, as %s tells it',
  async (part) => {
    const redis = new Redis(gateway.stack.redisUrl);
    try {
      await measured('Valkey full', ofValkey(part, /full/), async () => {
        await redis.config('SET', 'maxmemory', '1');
        return () => redis.config('SET', 'maxmemory', '0');
      });
    } finally {
      redis.disconnect();
    }
  },
  300_000,
);

test('Postgres is slow, since somebody holds a lock of the ledger', async () => {
  const other = openDatabase(gateway.stack.databaseUrl, { connections: 1 });
  const signals: Signals = {
    part: 'control-plane',
    name: 'postgres_slow',
    sentence: /role ledger .*lock that process \d+/,
    metric: degraded('postgres_slow'),
    log: told('postgres_slow'),
  };
  try {
    await measured('Postgres slow', signals, async () => {
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const locking = other.$transaction(
        async (transaction) => {
          await transaction.$executeRaw`LOCK TABLE receipts IN ACCESS EXCLUSIVE MODE`;
          await released;
        },
        { timeout: 120_000, maxWait: 10_000 },
      );
      return () => {
        release();
        return locking;
      };
    });
  } finally {
    await other.$disconnect();
  }
}, 300_000);

test.each(['ext-authz', 'control-plane'] as const)(
  'Postgres stands still, as %s tells it',
  async (part) => {
    const signals: Signals = {
      part,
      name: 'postgres',
      sentence: /Postgres commits no writes/,
      metric: down('postgres'),
      log: told('postgres'),
    };
    await measured('Postgres stands still', signals, async () => gateway.pause('postgres'));
  },
  300_000,
);

test('a sidecar hangs', async () => {
  const signals: Signals = {
    part: 'control-plane',
    name: 'sidecar_silent',
    sentence: /The sidecar .* stopped reporting/,
    metric: degraded('sidecar_silent'),
    log: told('sidecar_silent'),
  };
  await measured('sidecar wedged', signals, async () => gateway.pause('receipt-sidecar-2'));
  // Envoy tells it, too.
  expect(readFileSync(join(gateway.stack.logs, 'access.log'), 'utf8')).toMatch(
    /"cluster_name":"receipt_sidecar".*eject_unhealthy_event|eject_unhealthy_event.*"cluster_name":"receipt_sidecar"/,
  );
}, 300_000);

test('an Envoy that reaches no ext-authz is not ready, and lives', async () => {
  await gateway.whole();
  const ask = async (path: string) => (await fetch(`${gateway.stack.publicUrl}${path}`)).status;
  expect(await ask('/readyz')).toBe(200);
  const begun = performance.now();
  const goOn = [gateway.pause('ext-authz'), gateway.pause('ext-authz-2')];
  try {
    await eventually('/readyz to say so', async () => (await ask('/readyz')) === 503, withinMs);
    figures.push(`no ext-authz (Envoy): /readyz ${Math.round((performance.now() - begun) / 100) / 10} s`);
    expect(await ask('/healthz')).toBe(200);
  } finally {
    for (const each of goOn) each();
  }
  await eventually('/readyz to be well again', async () => (await ask('/readyz')) === 200);
}, 120_000);
