/**
 * Holds the catalogue of this process, which is replaced as a whole when the control plane publishes a new version.
 *
 * Invariant: a call keeps the catalogue that it began with; a catalogue is never changed after it was made.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { priceOf } from '@gw/contract/internal/catalogue/prices';
import { gridReadingFor } from '@gw/contract/internal/grid-reading';
import type { NumberedKey } from '@gw/contract/internal/key-ring';
import { snapshotChannel, snapshotKey, snapshotSealKey, snapshotVersionKey } from '@gw/contract/internal/redis';
import { type Snapshot, type SnapshotRegion, snapshotSchema } from '@gw/contract/internal/snapshot';
import { isSealedSnapshot } from '@gw/contract/internal/snapshot-seal';
import type { Logger } from '@gw/service/log';
import { listenTo } from '@gw/service/redis';
import type { Redis } from 'ioredis';
import { liveSignals } from './grid-signals.ts';
import { type Candidate, type Named, namedIn } from './named.ts';
import { type PolicyInForce, policyInForce } from './policy.ts';
import type { ModelFacts } from './reading-context.ts';

export type { Candidate, Named, Target } from './named.ts';

export interface Catalogue {
  readonly version: number;
  /** The models and aliases that a call can name, by id. */
  readonly named: ReadonlyMap<string, Named>;
  /** The facts of these that reading a request depends on. */
  readonly readable: ReadonlyMap<string, ModelFacts>;
  readonly regions: ReadonlyMap<string, SnapshotRegion>;
  candidate(deploymentId: string): Candidate | undefined;
  /** The rules that requests are screened by. */
  readonly policy: PolicyInForce;
}

/** `before`: the catalogue that the new one replaces; its rules are reused if they are the same. */
export function makeCatalogue(snapshot: Snapshot, before: Catalogue | null = null): Catalogue {
  const regions = new Map(snapshot.regions.map((region) => [region.code, region]));
  const zones = new Set(snapshot.regions.map(({ gridZone }) => gridZone));
  const byZone = new Map([...zones].map((zone) => [zone, liveSignals(snapshot, zone)]));
  const signalsOf = (zone: string) => byZone.get(zone) ?? [];
  const byId = new Map<string, Candidate>();
  for (const deployment of snapshot.deployments) {
    const region = regions.get(deployment.region);
    if (!region) continue;
    const signals = signalsOf(region.gridZone);
    const gridAt = (at: Date) => gridReadingFor(snapshot, region.gridZone, at);
    const { provider } = deployment;
    const priceAt = (model: string, at: Date) => priceOf(snapshot, { provider, model, region: region.code }, at);
    byId.set(deployment.id, { deployment, region, gridAt, priceAt, signals });
  }
  const named = namedIn(snapshot, byId);
  return {
    version: snapshot.version,
    named,
    readable: new Map([...named].map(([id, { facts }]) => [id, facts])),
    regions,
    candidate: (id) => byId.get(id),
    policy: policyInForce(snapshot.policy, before?.policy),
  };
}

export interface CatalogueHolder {
  /** Returns null until a first snapshot was read. */
  current(): Catalogue | null;
  stop(): void;
}

export interface CatalogueSource {
  readonly redis: Redis;
  readonly subscriber: Redis;
  readonly pollMs: number;
  /** Keeps the last catalogue, so that a sidecar can start while Redis is away. */
  readonly file: string;
  /** With which control planes seal it. */
  readonly key: NumberedKey;
  readonly log: Logger;
}

/**
 * Reads the snapshot at the start, on every message, and every `pollMs` in case a message was lost. One that is invalid or not sealed is refused as
 * a whole (closed): the last one stays, and a sidecar that has none does not serve. For invalid rules see policy.ts.
 */
export function holdCatalogue({ redis, subscriber, pollMs, file, key, log }: CatalogueSource): CatalogueHolder {
  let catalogue: Catalogue | null = null;
  const takeUp = (text: string, seals: string | null | undefined, from: string): void => {
    if (!seals || !isSealedSnapshot(text, seals, key)) throw new Error('no control plane has written it');
    const snapshot = snapshotSchema.parse(JSON.parse(text));
    catalogue = makeCatalogue(snapshot, catalogue);
    const { models, deployments, version } = snapshot;
    const counts = { models: models.length, deployments: deployments.length, policy: catalogue.policy.version };
    log.info({ version, ...counts, from }, 'the catalogue was taken up');
    if (catalogue.policy.unusable !== null)
      log.error(
        { version, inForce: catalogue.policy.version, reason: catalogue.policy.unusable },
        'the published rules of screening cannot be used; others stay in force',
      );
  };
  const read = async (): Promise<void> => {
    const version = await redis.get(snapshotVersionKey);
    if (version === null || Number(version) === catalogue?.version) return;
    const [text, seals] = await redis.mget(snapshotKey, snapshotSealKey);
    if (text == null) return;
    takeUp(text, seals, 'redis');
    // Renaming is atomic, so that the next start never finds a half-written file.
    await writeFile(`${file}.new`, `${seals}\n${text}`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  const readQuietly = async (): Promise<void> => {
    await read().catch((error: unknown) => {
      log.error({ err: error }, 'the catalogue could not be read; the last one stays');
    });
    if (catalogue) return;
    const kept = await readFile(file, 'utf8').catch(() => null);
    try {
      const end = kept?.indexOf('\n') ?? -1;
      if (kept !== null && !catalogue) takeUp(kept.slice(end + 1), kept.slice(0, end), 'file');
    } catch (error) {
      log.error({ err: error }, 'the catalogue on disk cannot be read');
    }
  };
  listenTo(subscriber, snapshotChannel, () => void readQuietly());
  void readQuietly();
  const timer = setInterval(() => void readQuietly(), pollMs);
  return { current: () => catalogue, stop: () => clearInterval(timer) };
}
