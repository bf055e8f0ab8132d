/**
 * Holds the catalogue in memory and keeps Redis supplied with its snapshot.
 *
 * Invariant: a version names one content. The number comes from Postgres and only rises; if Redis knows a higher one,
 * or another content under the same number, Postgres is raised first, so that no service keeps an outdated snapshot. Each is sealed, and a sidecar
 * takes up no other.
 */
import { isDeepStrictEqual } from 'node:util';
import { jsonIn } from '@gw/contract/internal/json-in';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { snapshotChannel, snapshotKey, snapshotSealKey, snapshotVersionKey } from '@gw/contract/internal/redis';
import { type Snapshot, snapshotSchema } from '@gw/contract/internal/snapshot';
import { isSealedSnapshot, snapshotSeals } from '@gw/contract/internal/snapshot-seal';
import type { DeploymentPlace } from '@gw/envoy/clusters';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { openHandover } from './handover.ts';
import { type AnnualReading, type Catalogue, readCatalogue, snapshotOf } from './read.ts';

/**
 * Puts a snapshot into Redis unless a newer one is there, and tells the services.
 *
 * KEYS: snapshot, version, seals. ARGV: version, snapshot as JSON, channel, seals. Returns 1 if it published.
 */
export const publishScript = `
local have = redis.call('GET', KEYS[2])
if have and tonumber(have) >= tonumber(ARGV[1]) and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[3], ARGV[4])
redis.call('SET', KEYS[2], ARGV[1])
redis.call('PUBLISH', ARGV[3], ARGV[1])
return 1
`;

const compareEveryMs = 60_000;

/** The catalogue at one version, as Postgres has it and as the services get it. */
export interface HeldCatalogue {
  readonly catalogue: Catalogue;
  readonly snapshot: Snapshot;
}

export interface CatalogueView {
  /** Returns null until Postgres was read for the first time. */
  readonly current: () => HeldCatalogue | null;
  /** Returns earlier ones that services can still have, so that Envoy needs them too; newer ones first. */
  readonly retiring: () => readonly Catalogue[];
  /** Returns where deployments were that have moved since, as far as Envoy can still lead there. */
  readonly formerPlaces: () => readonly DeploymentPlace[];
  /** Their clusters that not every Envoy may have yet. */
  readonly newPlaces: () => ReadonlySet<string>;
  /** Notes that an Envoy asks that has this version of the resources, and would get the current one. */
  readonly asked: (resources: string, version: string | undefined, current: string) => void;
}

export interface CatalogueKeeper extends CatalogueView {
  /**
   * Reads Postgres if its version moved, then publishes if Redis lacks that version and Envoy had the time to take up
   * what it names. Throws if either store is away.
   */
  refresh(): Promise<void>;
}

export interface KeeperOptions {
  readonly db: Database;
  readonly redis: Redis;
  readonly annualReading: AnnualReading;
  readonly now: () => Date;
  readonly log: Logger;
  /** Sidecars have one of them. */
  readonly keys: KeyRing;
  /** Reads what has to be at least as new as a catalogue that is taken. */
  readonly readBeside: () => Promise<void>;
}

export function createCatalogueKeeper({
  db,
  redis,
  annualReading,
  now,
  log,
  keys,
  readBeside,
}: KeeperOptions): CatalogueKeeper {
  let held: HeldCatalogue | null = null;
  let comparedAt = Number.NEGATIVE_INFINITY;
  /** It is published as soon as it may be, however many changes follow, so that steady additions of deployments hold up no other change. */
  let waiting: Snapshot | null = null;
  const handover = openHandover(now);

  const load = async (): Promise<HeldCatalogue> => {
    const version = (await db.catalogueVersion.findFirstOrThrow()).version;
    if (held !== null && held.catalogue.version === version) return held;
    const catalogue = await readCatalogue(db);
    await readBeside();
    held = { catalogue, snapshot: snapshotOf(catalogue, annualReading, now()) };
    handover.took(catalogue);
    return held;
  };

  /**
   * Runs at the start, since new code can bring other grid data or another shape under a version in use, and each minute, since somebody with
   * Redis can have put another one there.
   */
  const raiseIfContentDiffers = async (snapshot: Snapshot): Promise<boolean> => {
    const [text, seals] = await redis.mget(snapshotKey, snapshotSealKey);
    const isFirst = comparedAt === Number.NEGATIVE_INFINITY;
    comparedAt = now().getTime();
    if (text == null || (sameContent(text, snapshot) && hasSeals(text, seals ?? '', keys))) return false;
    if (!isFirst) log.error({ version: snapshot.version }, 'the published catalogue was altered in Redis');
    await db.catalogueVersion.updateMany({
      where: { version: snapshot.version },
      data: { version: { increment: 1 } },
    });
    return true;
  };

  const refreshOnce = async (): Promise<void> => {
    let { snapshot } = await load();
    const known = Number((await redis.get(snapshotVersionKey)) ?? 0);
    if (known > snapshot.version) {
      // The database was replaced by an older one; its numbers must go on above those that services hold.
      await db.catalogueVersion.updateMany({ where: { version: { lt: known } }, data: { version: known + 1 } });
      snapshot = (await load()).snapshot;
    } else if (known === snapshot.version && now().getTime() - comparedAt >= compareEveryMs) {
      if (await raiseIfContentDiffers(snapshot)) snapshot = (await load()).snapshot;
    } else if (known === snapshot.version) {
      // Perhaps by another instance.
      handover.published(known);
      return;
    }
    const before = await readPublished(redis);
    if (handover.mayPublish(snapshot, before)) waiting = null;
    else if (waiting !== null && waiting.version > known && handover.mayPublish(waiting, before)) {
      snapshot = waiting;
      waiting = null;
    } else {
      if (waiting === null || waiting.version <= known) waiting = snapshot;
      return;
    }
    const isNew = await publish(redis, snapshot, keys);
    handover.published(snapshot.version);
    if (isNew) log.info({ version: snapshot.version }, 'published the catalogue');
  };

  return {
    current: () => held,
    retiring: handover.retiring,
    formerPlaces: handover.formerPlaces,
    newPlaces: handover.newPlaces,
    asked: handover.asked,
    refresh: oneAtATime(refreshOnce),
  };
}

/** Whether a sidecar with any of these keys takes it up. Another instance may list them in another order while keys are exchanged. */
const hasSeals = (text: string, seals: string, { current, others }: KeyRing): boolean =>
  [current, ...others].every((key) => isSealedSnapshot(text, seals, key));

/** Returns false if Redis had this version, or a newer one. */
const publish = async (redis: Redis, snapshot: Snapshot, keys: KeyRing): Promise<boolean> => {
  const text = JSON.stringify(snapshot);
  const published = await redis.eval(
    publishScript,
    ...[3, snapshotKey, snapshotVersionKey, snapshotSealKey],
    ...[snapshot.version, text, snapshotChannel, snapshotSeals(text, keys)],
  );
  return published === 1;
};

/** Returns null if there is no snapshot, or if it cannot be read: then no service can have it. */
async function readPublished(redis: Redis): Promise<Snapshot | null> {
  const text = await redis.get(snapshotKey);
  return text === null ? null : (snapshotSchema.safeParse(jsonIn(text)).data ?? null);
}

/** Whether both are the same but for `publishedAt`; false if `text` cannot be read. */
function sameContent(text: string, snapshot: Snapshot): boolean {
  try {
    const other = snapshotSchema.parse(JSON.parse(text));
    return isDeepStrictEqual({ ...other, publishedAt: '' }, { ...snapshotSchema.parse(snapshot), publishedAt: '' });
  } catch {
    return false;
  }
}

/** Whoever asks while it runs gets the run behind that one: what it reads is at least as new as the question. */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const begin = (): Promise<void> => {
    current = run().finally(() => {
      current = null;
    });
    return current;
  };
  return () => {
    if (next !== null) return next;
    if (current === null) return begin();
    next = current
      .catch(() => undefined)
      .then(() => {
        next = null;
        return begin();
      });
    return next;
  };
}
