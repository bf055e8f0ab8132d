/**
 * Looks at what a part stands on: the stores, the disk, the clocks. At its start it says in one line of the log what it found, and what
 * cannot work ends the start with a sentence that names the cure. What may change is looked at again twice a minute; what is wrong then is
 * told by health, metric and log (`Troubles`), and the part goes on.
 *
 * It fails open where a store is away: that is told elsewhere, and the store is judged when it is there.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { Troubles } from '../health/troubles.ts';
import type { Logger } from '../log.ts';
import { createSkewMetric } from './clock.ts';
import type { Foundation, Look } from './foundation.ts';

export interface GroundOptions {
  readonly troubles: Pick<Troubles, 'tell' | 'over'>;
  readonly log: Pick<Logger, 'info'>;
  readonly everyMs?: number;
}

export interface Ground {
  register(registry: Registry): void;
  stop(): void;
}

const ownEveryMs = 30_000;
const patienceMs = 5000;

/** Rejects with one sentence for each thing that cannot work. */
export async function openGround(
  foundations: readonly Foundation[],
  { everyMs = ownEveryMs, log, troubles }: GroundOptions,
): Promise<Ground> {
  const skew = createSkewMetric();
  const told = new Map<string, readonly string[]>();
  const take = ({ name }: Foundation, { aheadS, findings }: Look): void => {
    if (aheadS !== undefined) skew.set({ store: name }, aheadS);
    for (const each of findings) troubles.tell(each.name, each.sentence);
    const names = findings.map((each) => each.name);
    for (const before of told.get(name) ?? []) if (!names.includes(before)) troubles.over(before);
    told.set(name, names);
  };
  const lookAt = (foundation: Foundation): Promise<Look | null> =>
    Promise.race([foundation.look().catch(() => null), delay(patienceMs, null, { ref: false })]);

  const first = await Promise.all(foundations.map(lookAt));
  const facts = foundations.map(({ name }, at) => [name, first[at]?.facts ?? 'unavailable']);
  log.info({ ground: Object.fromEntries(facts) }, 'looked at what this part stands on');
  const refusals = first.flatMap((look) => look?.findings.filter(({ refuses }) => refuses) ?? []);
  if (refusals.length > 0) throw new Error(refusals.map(({ sentence }) => sentence).join(' '));
  foundations.forEach((foundation, at) => {
    const look = first[at];
    if (look) take(foundation, look);
  });

  const lookAgain = async (foundation: Foundation): Promise<void> => {
    const look = await lookAt(foundation);
    if (look === null) return;
    if (!told.has(foundation.name))
      log.info({ ground: { [foundation.name]: look.facts } }, 'looked at what was unavailable at the start');
    take(foundation, look);
  };
  const timer = setInterval(() => void Promise.all(foundations.map(lookAgain)), everyMs);
  timer.unref();
  return {
    register: (registry) => registry.registerMetric(skew),
    stop: () => clearInterval(timer),
  };
}
