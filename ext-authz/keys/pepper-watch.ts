/**
 * Whether this instance was given the peppers that the stored hashes were made with.
 *
 * Closed: with a wrong pepper every key looks false. So a key is `internal_error` then, and not `invalid_api_key`, which would tell its holder to
 * replace it; and Envoy asks other instances if the current pepper is the wrong one. A wrong previous one closes its own keys alone. Before Postgres has answered, the pepper counts as the right one: only what Postgres has can be
 * verified.
 */
import type { Pepper, Peppers } from '@gw/contract/internal/pepper';
import { pepperFit } from '@gw/prisma/pepper-check';
import type { Statements } from '@gw/prisma/statements';
import type { Logger } from '@gw/service/log';

export interface PepperWatch {
  /** False: keys of this version cannot be judged here. */
  fits(version: number): boolean;
  /** Whether this instance can judge most keys: if not, others should be asked. */
  isServing(): boolean;
  /** Whether all of them fit. */
  allFit(): boolean;
  stop(): void;
}

interface PepperWatchOptions {
  readonly db: Statements;
  readonly peppers: Peppers;
  readonly log: Logger;
  readonly everyMs?: number;
}

/** Resolves after the first look, also if Postgres is away; looks again each half minute. */
export async function watchPeppers({
  db,
  everyMs = 30_000,
  log,
  peppers: { current, other },
}: PepperWatchOptions): Promise<PepperWatch> {
  const wrong = new Set<number>();
  const look = async (pepper: Pepper): Promise<void> => {
    const fit = await pepperFit(db, pepper).catch(() => null);
    if (fit === null) return;
    const { version } = pepper;
    if (fit !== 'does_not_fit') {
      if (wrong.delete(version)) log.info({ version }, 'the pepper fits the stored keys');
    } else if (!wrong.has(version)) {
      wrong.add(version);
      log.error(
        { version, cure: 'Set the pepper that the keys were hashed with, and restart: docs/secrets.md.' },
        'GW_KEY_PEPPER is not the pepper that the stored keys are hashed with: they are refused with internal_error',
      );
    }
  };
  const lookAtAll = async () => void (await Promise.all((other === null ? [current] : [current, other]).map(look)));
  await lookAtAll();
  const timer = setInterval(() => void lookAtAll(), everyMs);
  return {
    fits: (version) => !wrong.has(version),
    isServing: () => !wrong.has(current.version),
    allFit: () => wrong.size === 0,
    stop: () => clearInterval(timer),
  };
}
