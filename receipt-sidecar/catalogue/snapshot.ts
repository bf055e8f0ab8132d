/**
 * Holds the catalogue of this process, which is replaced as a whole when the control plane publishes a new version.
 *
 * Invariant: a call keeps the catalogue that it began with; a catalogue is never changed after it was made.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { priceOf } from '@gw/contract/internal/catalogue/prices';
import { errorText } from '@gw/contract/internal/error-text';
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
 * a whole (closed), and so is one that is older than the one held or kept, since its seals stay good: the last one stays, and a sidecar that has
 * none does not serve. For invalid rules see policy.ts.
 */
export function holdCatalogue({ redis, subscriber, pollMs, file, key, log }: CatalogueSource): CatalogueHolder {
  let catalogue: Catalogue | null = null;
  /** The catalogue that an offered one must not be older than. */
  let newest: Snapshot | null = null;
  const failures = tellFailures(log);
  const genuine = (text: string, seals: string | null | undefined): Snapshot => {
    if (!seals || !isSealedSnapshot(text, seals, key)) throw new Error('no control plane has written it');
    return snapshotSchema.parse(JSON.parse(text));
  };
  const takeUp = (snapshot: Snapshot, from: string): void => {
    catalogue = makeCatalogue(snapshot, catalogue);
    newest = snapshot;
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
    const stated = await redis.get(snapshotVersionKey);
    if (stated === null || Number(stated) === catalogue?.version) return;
    const [text, seals, version] = await redis.mget(snapshotKey, snapshotSealKey, snapshotVersionKey);
    if (text == null) return;
    const snapshot = genuine(text, seals);
    if (String(snapshot.version) !== version)
      throw new Error(`it is the version ${snapshot.version}, and the version ${version} was announced`);
    if (newest !== null && isOlder(snapshot, newest))
      throw new Error(
        `it is older than the one that this sidecar has: version ${snapshot.version} of ${snapshot.publishedAt}, not ${newest.version} of ${newest.publishedAt}`,
      );
    takeUp(snapshot, 'redis');
    // Renaming is atomic, so that the next start never finds a half-written file.
    await writeFile(`${file}.new`, `${seals}\n${text}`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  };
  const readKept = async (): Promise<Snapshot | null> => {
    const kept = await readFile(file, 'utf8').catch(() => null);
    if (kept === null) return null;
    const end = kept.indexOf('\n');
    try {
      return genuine(kept.slice(end + 1), kept.slice(0, end));
    } catch (error) {
      log.error({ err: error }, 'the catalogue on disk cannot be read');
      return null;
    }
  };
  const readQuietly = async (): Promise<void> => {
    const kept = newest === null ? await readKept() : null;
    newest ??= kept;
    await read().then(failures.over, failures.failed);
    if (catalogue === null && newest !== null) takeUp(newest, 'file');
  };
  listenTo(subscriber, snapshotChannel, () => void readQuietly());
  void readQuietly();
  const timer = setInterval(() => void readQuietly(), pollMs);
  return { current: () => catalogue, stop: () => clearInterval(timer) };
}

/** How many different failures of one outage are logged. */
const mostFailures = 5;

/** An outage lasts, and each of its failures is told once. */
function tellFailures(log: Logger) {
  const told = new Set<string>();
  return {
    failed(error: unknown): void {
      const message = errorText(error);
      if (told.has(message) || told.size >= mostFailures) return;
      told.add(message);
      log.error({ err: error }, 'the catalogue could not be read; the last one stays');
    },
    over(): void {
      if (told.size > 0) log.info('the catalogue is read again');
      told.clear();
    },
  };
}

/**
 * Whether both its version and its time are behind. A Postgres that was put back counts anew from a lower version where Redis, too, was lost, and
 * what is published from there has a later time.
 */
const isOlder = (one: Snapshot, other: Snapshot): boolean =>
  one.version < other.version && Date.parse(one.publishedAt) <= Date.parse(other.publishedAt);
