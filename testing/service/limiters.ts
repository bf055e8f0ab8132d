/** Limiters as instances of services have them, on a Valkey that a test may halt, take away and fill up. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Limit } from '@gw/service/limits/bucket';
import type { Decision } from '@gw/service/limits/decision';
import type { DrawnLimits } from '@gw/service/limits/drawn-limits';
import { type Limiter, openLimiter } from '@gw/service/limits/limiter';
import { leftScript, settleScript, takeScript } from '@gw/service/limits/take.lua';
import type { Logger } from '@gw/service/log';
import { openRedisWriter } from '@gw/service/redis-writer';
import type { Service } from '@gw/stack/services/service';
import { startValkey } from '@gw/stack/services/valkey';
import { Redis } from 'ioredis';
import { onTestClock } from './clock.ts';

export interface LimitersOnValkey {
  /** Past the limiters. */
  readonly redis: Redis;
  readonly valkey: () => Service;
  /** The log lines of this test's limiters. */
  readonly lines: string[];
  /** `onClock`: time is what the test sets. `url`: another way to the same Valkey. */
  open(options?: {
    readonly instances?: number;
    /** The clock of the instance, ms since 1970. */
    readonly now?: () => number;
    readonly onClock?: boolean;
    /** How long a call waits for Valkey before the instance decides alone. */
    readonly patienceMs?: number;
    readonly probeMs?: number;
    readonly url?: string;
  }): Promise<Limiter>;
  /** Valkey stops, and starts again with what it had. */
  take(): Promise<void>;
  bringBack(): Promise<void>;
  /** After each test: ends its limiters, and empties Valkey. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export async function startLimiters(): Promise<LimitersOnValkey> {
  const dir = mkdtempSync(join(tmpdir(), 'gwlimiter-'));
  const start = () => startValkey({ dir, log: () => {} });
  let valkey = await start();
  const redis = new Redis(valkey.url);
  redis.on('error', () => {});
  const stops: (() => void)[] = [];
  const lines: string[] = [];
  const note = (_: unknown, line: string) => lines.push(line);
  const log = { warn: note, info: note } as unknown as Logger;
  return {
    redis,
    valkey: () => valkey,
    lines,
    async open({
      instances = 1,
      now = Date.now,
      onClock = false,
      patienceMs = 250,
      probeMs = 20,
      url = valkey.url,
    } = {}) {
      const connection = openRedisWriter({ url, log, commandTimeoutMs: Number.POSITIVE_INFINITY });
      await connection.untilReady(5000);
      const limiter = openLimiter({
        redis: connection,
        now,
        monotonic: () => performance.now(),
        instances,
        log,
        patienceMs,
        probeMs,
        ...(onClock && {
          scripts: { take: onTestClock(takeScript), settle: onTestClock(settleScript), left: onTestClock(leftScript) },
        }),
      });
      stops.push(limiter.stop, connection.stop);
      return limiter;
    },
    take: () => valkey.stop(),
    bringBack: async () => {
      valkey = await start();
    },
    clear: async () => {
      for (const stop of stops.splice(0)) stop();
      lines.length = 0;
      await redis.flushall();
    },
    stop: async () => {
      redis.disconnect();
      await valkey.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export const limitOf = (perS: number, burst: number, perDay: number | null = null): Limit => ({
  rate: { perS, burst },
  perDay,
});

/** The first limit is the account's, the second its key's. */
export const drawnOf = (...limits: Limit[]): DrawnLimits => ({
  levels: limits.map((limit, index) => ({ of: index === 0 ? 'account' : 'key', id: index === 0 ? 'a' : 'k', limit })),
  body: null,
  shadow: [],
});

export const ask = (limiter: Limiter, drawn: DrawnLimits): Promise<Decision> => limiter.decide('a', 'calls', drawn);

export const admittedOf = (decisions: readonly Decision[]): number =>
  decisions.filter(({ admitted }) => admitted).length;
