/**
 * The catalogue as this process sees it: swapped whole when the control plane publishes a new version.
 *
 * Invariant: a call keeps the catalogue that it began with; nothing here is changed after it was made.
 */
import { failoverOrder } from '@gw/contract/internal/failover-order';
import { snapshotChannel, snapshotKey, snapshotVersionKey } from '@gw/contract/internal/redis';
import { type Snapshot, type SnapshotModel, type SnapshotRegion, snapshotSchema } from '@gw/contract/internal/snapshot';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import type { Candidate } from './request/route.ts';

export interface Catalogue {
  readonly version: number;
  readonly models: ReadonlyMap<string, SnapshotModel>;
  readonly regions: ReadonlyMap<string, SnapshotRegion>;
  /** Deployments of a model in the order of provider preference. */
  candidates(model: string): readonly Candidate[];
  candidate(deploymentId: string): Candidate | undefined;
}

export function makeCatalogue(snapshot: Snapshot): Catalogue {
  const regions = new Map(snapshot.regions.map((region) => [region.code, region]));
  const grid = new Map(snapshot.grid.map((reading) => [reading.zone, reading]));
  const byId = new Map<string, Candidate>();
  for (const deployment of snapshot.deployments) {
    const region = regions.get(deployment.region);
    if (region) byId.set(deployment.id, { deployment, region, grid: grid.get(region.gridZone) ?? null });
  }
  const inOrder = (model: string): Candidate[] =>
    failoverOrder(snapshot, model, '').flatMap((id) => byId.get(id) ?? []);
  const byModel = new Map(snapshot.models.map(({ id }) => [id, inOrder(id)]));
  return {
    version: snapshot.version,
    models: new Map(snapshot.models.map((model) => [model.id, model])),
    regions,
    candidates: (model) => byModel.get(model) ?? [],
    candidate: (id) => byId.get(id),
  };
}

export interface CatalogueHolder {
  /** Null until the first snapshot was read. */
  current(): Catalogue | null;
  stop(): void;
}

/** Reads at start, on every message, and every `pollMs` in case a message was lost. A bad snapshot is refused whole. */
export function holdCatalogue(redis: Redis, subscriber: Redis, pollMs: number, log: Logger): CatalogueHolder {
  let catalogue: Catalogue | null = null;
  const read = async (): Promise<void> => {
    const version = await redis.get(snapshotVersionKey);
    if (version === null || Number(version) === catalogue?.version) return;
    const text = await redis.get(snapshotKey);
    if (text === null) return;
    const snapshot = snapshotSchema.parse(JSON.parse(text));
    catalogue = makeCatalogue(snapshot);
    log.info(
      { version: snapshot.version, models: snapshot.models.length, deployments: snapshot.deployments.length },
      'catalogue taken up',
    );
  };
  const readQuietly = () =>
    void read().catch((fault: unknown) =>
      log.warn(
        { fault: fault instanceof Error ? fault.message.slice(0, 500) : String(fault) },
        'the catalogue could not be read; the last one stays',
      ),
    );
  subscriber.on('ready', () => void subscriber.subscribe(snapshotChannel).catch(() => undefined));
  subscriber.on('message', readQuietly);
  if (subscriber.status === 'ready') void subscriber.subscribe(snapshotChannel).catch(() => undefined);
  readQuietly();
  const timer = setInterval(readQuietly, pollMs);
  return { current: () => catalogue, stop: () => clearInterval(timer) };
}
