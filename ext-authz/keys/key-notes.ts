/**
 * Records the day of the last use of each key, and the number of failed verifications by reason.
 *
 * Invariant: recording costs a call no round trip and cannot fail it. Counts are collected in memory and written to Redis every second.
 * While it is unavailable they stay here, within limits: beyond these, failures are not counted by key.
 */
import { dayMs, minuteMs } from '@gw/contract/internal/durations';
import { failedKeysKey, failedMinutesKey, usedKeysKey } from '@gw/contract/internal/redis';
import type { FoundKey } from '@gw/prisma/find-key';
import type { Redis } from 'ioredis';

/** The most keys with a recorded use, and counters of failures. */
const capacity = 50_000;
/** Longer than a plausible outage of the control plane, seconds. */
const keptS = (7 * dayMs) / 1000;

export type Failure = 'invalid_api_key' | 'revoked_api_key' | 'expired_api_key' | 'insufficient_scope';

export interface KeyNotes {
  used(key: FoundKey): void;
  /** Keys that do not exist, or are malformed, are counted together. */
  failed(whose: FoundKey | 'unknown' | 'malformed', code: Failure): void;
  /** Writes the collected counts to Redis. Fails open: on an error they are kept for the next time. */
  flush(): Promise<void>;
}

export interface KeyNotesOptions {
  readonly redis: Redis;
  /** Wall clock, ms since 1970. */
  readonly now: () => number;
}

export function openKeyNotes({ redis, now }: KeyNotesOptions): KeyNotes {
  let day = 0;
  /** Keys whose use on `day` is recorded. */
  const noted = new Set<string>();
  /** `<day> <id>`, to be written. */
  let uses = new Set<string>();
  /** `<minute> <id or -> <code>` → count, to be written. */
  let failures = new Map<string, number>();

  const add = (wanted: string, count: number): void => {
    const isKnown = failures.has(wanted) || failures.size < capacity;
    const counter = isKnown ? wanted : `${wanted.split(' ', 1)[0]} - uncounted`;
    failures.set(counter, (failures.get(counter) ?? 0) + count);
  };

  return {
    used({ publicId }) {
      const today = Math.floor(now() / dayMs);
      if (today !== day || noted.size >= capacity) {
        day = today;
        noted.clear();
      }
      if (noted.has(publicId)) return;
      noted.add(publicId);
      if (uses.size < capacity) uses.add(`${new Date(today * dayMs).toISOString().slice(0, 10)} ${publicId}`);
    },

    failed(whose, code) {
      const minute = Math.floor(now() / minuteMs);
      const name = typeof whose === 'string' ? `- ${whose}` : `${whose.publicId} ${code}`;
      add(`${minute} ${name}`, 1);
    },

    async flush() {
      if (uses.size === 0 && failures.size === 0) return;
      const [sentUses, sentFailures] = [uses, failures];
      uses = new Set();
      failures = new Map();
      try {
        const pipeline = redis.multi();
        addUses(pipeline, sentUses);
        addFailures(pipeline, sentFailures);
        await pipeline.exec();
      } catch {
        for (const use of sentUses) if (uses.size < capacity) uses.add(use);
        for (const [counter, count] of sentFailures) add(counter, count);
      }
    },
  };
}

type Pipeline = ReturnType<Redis['multi']>;

function addUses(pipeline: Pipeline, uses: ReadonlySet<string>): void {
  const days = new Map<string, string[]>();
  for (const use of uses) {
    const [day = '', id = ''] = use.split(' ');
    const ids = days.get(day) ?? [];
    ids.push(id);
    days.set(day, ids);
  }
  for (const [day, ids] of days) pipeline.sadd(usedKeysKey(day), ...ids).expire(usedKeysKey(day), keptS);
}

function addFailures(pipeline: Pipeline, failures: ReadonlyMap<string, number>): void {
  const minutes = new Set<string>();
  for (const [counter, count] of failures) {
    const space = counter.indexOf(' ');
    const minute = counter.slice(0, space);
    minutes.add(minute);
    pipeline.hincrby(failedKeysKey(Number(minute)), counter.slice(space + 1), count);
  }
  for (const minute of minutes) pipeline.expire(failedKeysKey(Number(minute)), keptS).sadd(failedMinutesKey, minute);
}
