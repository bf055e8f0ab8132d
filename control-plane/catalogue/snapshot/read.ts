/** The catalogue as Postgres has it: read in one transaction, so that its parts and its version fit together. */
import assert from 'node:assert/strict';
import { aliasFields } from '@gw/contract/internal/catalogue/alias-fields';
import { areUsual } from '@gw/contract/internal/catalogue/apis';
import { deploymentFields } from '@gw/contract/internal/catalogue/deployment-fields';
import { modelFields } from '@gw/contract/internal/catalogue/model-fields';
import { pricesFrom, type SnapshotPrice } from '@gw/contract/internal/catalogue/prices';
import { namesModel } from '@gw/contract/internal/catalogue/provider-path';
import { regionFields } from '@gw/contract/internal/catalogue/region-fields';
import type { Policy } from '@gw/contract/internal/policy-rules';
import {
  gridReadingSchema,
  type OperationalReading,
  operationalReadingSchema,
  type Snapshot,
  type SnapshotGridReading,
  type SnapshotModel,
  snapshotAliasSchema,
  snapshotDeploymentSchema,
  snapshotModelSchema,
  snapshotRegionSchema,
} from '@gw/contract/internal/snapshot';
import { canBeFirst } from '@gw/envoy/first-attempt';
import type { Database, Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { byId } from '../../shared/names/names.ts';
import { snapshotFieldsIn } from '../entries/entry-fields.ts';
import { priceRows } from '../entries/price-entry.ts';
import type { StoredRule } from '../policy/check-rules.ts';
import { grouped } from '../policy/grouped.ts';
import { findVersionInForce } from '../policy/versions.ts';

/** A provider as Envoy needs it. Its header, scheme and credential are null if it takes none. */
export interface Provider {
  readonly id: string;
  readonly kind: 'simulator' | 'openai';
  readonly baseUrl: string;
  readonly path: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  /** Where it says how it is, from the root of its address; null: nowhere. */
  readonly healthPath: string | null;
  /** PEM of the authorities that may sign its certificate; null: those of the system. */
  readonly ca: string | null;
  readonly authHeader: string | null;
  readonly authScheme: string | null;
  /** The name of its credential. */
  readonly credentialRef: string | null;
}

/** The catalogue at one version, in the order in which clients see it. */
export interface Catalogue {
  readonly version: number;
  readonly models: Snapshot['models'];
  readonly regions: Snapshot['regions'];
  readonly deployments: Snapshot['deployments'];
  readonly providers: readonly Provider[];
  readonly aliases: Snapshot['aliases'];
  /** All prices, those that are over too. */
  readonly prices: readonly SnapshotPrice[];
  /** Readings of live sources: at most one for each zone here, and the signals for routing below. */
  readonly liveGrid: readonly SnapshotGridReading[];
  readonly operationalGrid: readonly OperationalReading[];
  /** The rules that requests are screened by; absent until there is a first version. */
  readonly policy?: Snapshot['policy'];
}

/** Returns the zone's yearly average; null if there is none. */
export type AnnualReading = (zone: string) => SnapshotGridReading | null;

/** Rejects if Postgres is away, or if a row does not fit the schema of the snapshot. */
export function readCatalogue(db: Database): Promise<Catalogue> {
  return db.$transaction(
    async (tx) => {
      const { version } = await tx.catalogueVersion.findFirstOrThrow();
      // Chat models first: who takes the first of the list wants to chat.
      const models = await tx.model.findMany({ orderBy: [{ kind: 'asc' }, { id: 'asc' }] });
      const regions = await tx.region.findMany({ orderBy: [{ preference: 'asc' }, { code: 'asc' }] });
      const deployments = await tx.deployment.findMany({ orderBy: { id: 'asc' } });
      const providers = await tx.provider.findMany({ orderBy: { id: 'asc' } });
      const aliases = await tx.alias.findMany({ orderBy: { id: 'asc' } });
      const grid = await tx.publishedGrid.findMany({
        orderBy: [{ zone: 'asc' }, { source: 'asc' }, { kind: 'asc' }, { signal: 'asc' }],
      });
      const prices = await priceRows(tx);
      const policy = await readPolicy(tx);
      const readingsFor = (use: string): unknown[] => grid.flatMap((row) => (row.use === use ? [row.reading] : []));
      return {
        version,
        models: models.map((row) =>
          snapshotModelSchema.parse({
            id: row.id,
            created: createdOf(row),
            ...snapshotFieldsIn(modelFields, row),
            ...changeOf(row),
          }),
        ),
        regions: regions.map((row) =>
          snapshotRegionSchema.parse({ code: row.code, ...snapshotFieldsIn(regionFields, row), ...changeOf(row) }),
        ),
        deployments: deployments.map((row) => {
          const provider = elementWith(providers, row.providerId);
          const called = { ...callsOf(provider), ...firstAttemptOf(row, provider), ...simulatedOf(provider) };
          return snapshotDeploymentSchema.parse({
            id: row.id,
            ...snapshotFieldsIn(deploymentFields, row),
            ...called,
            ...changeOf(row),
            ...regionChangeOf(row, regions),
          });
        }),
        providers: providers.map((row) => ({ ...row, headers: headersSchema.parse(row.headers) })),
        aliases: aliases.map((row) =>
          snapshotAliasSchema.parse({ id: row.id, created: createdOf(row), ...snapshotFieldsIn(aliasFields, row) }),
        ),
        prices: prices.map(snapshotPrice),
        liveGrid: readingsFor('receipt').map((reading) => gridReadingSchema.parse(reading)),
        operationalGrid: readingsFor('routing').map((reading) => operationalReadingSchema.parse(reading)),
        ...(policy === null ? {} : { policy }),
      };
    },
    { isolationLevel: 'RepeatableRead' },
  );
}

/** Seconds since 1970. */
const createdOf = ({ createdAt }: { readonly createdAt: Date }): number => Math.floor(createdAt.getTime() / 1000);

type Changed = Pick<DeploymentRow, 'changedAt' | 'changedBy' | 'changedIn'>;
/** Returns who vouches for an entry, and since when; empty where nobody knows it. */
function changeOf({ changedAt, changedBy, changedIn }: Changed): { readonly entry?: SnapshotModel['entry'] } {
  if (changedIn === null || changedAt === null || changedBy === null) return {};
  return { entry: { catalogueVersion: changedIn, changedAt: changedAt.toISOString(), changedBy: byId(changedBy) } };
}

/** The same of the region: a receipt has its grid zone from there. */
function regionChangeOf({ regionCode }: DeploymentRow, regions: readonly Prisma.RegionGetPayload<object>[]) {
  const region = regions.find(({ code }) => code === regionCode);
  const { entry } = region ? changeOf(region) : {};
  return entry ? { regionEntry: entry } : {};
}

const headersSchema = z.record(z.string(), z.string()).nullable();

type ProviderRow = Prisma.ProviderGetPayload<object>;

function elementWith(providers: readonly ProviderRow[], id: string): ProviderRow {
  const found = providers.find((each) => each.id === id);
  assert(found, `The catalogue has a deployment of ${id}, and no such provider.`);
  return found;
}

/** Returns what the services have to know of how a provider is called; empty if it is called as OpenAI is. */
function callsOf({ apis, firstByteTimeoutS, hostedTools, path, requestFields, timeoutS }: ProviderRow): object {
  const calls = {
    ...(!areUsual(apis) && { apis }),
    ...(hostedTools.length > 0 && { hostedTools }),
    ...(namesModel(path) && { modelInPath: true }),
    ...(requestFields !== null && { requestFields }),
    ...(timeoutS !== null && { timeoutS }),
    ...(firstByteTimeoutS !== null && { firstByteTimeoutS }),
  };
  return Object.keys(calls).length > 0 ? { calls } : {};
}

const simulatedOf = ({ kind }: ProviderRow): object => (kind === 'simulator' ? { simulated: true } : {});

type DeploymentRow = Prisma.DeploymentGetPayload<object>;

function firstAttemptOf({ maxConcurrentRequests }: DeploymentRow, provider: ProviderRow): object {
  const { baseUrl, credentialRef } = provider;
  const headers = headersSchema.parse(provider.headers);
  if (!canBeFirst({ ...provider, headers, maxConcurrentRequests })) return {};
  return { firstAttempt: { origin: new URL(baseUrl).origin, credential: credentialRef } };
}

const snapshotPrice = (row: Awaited<ReturnType<typeof priceRows>>[number]): SnapshotPrice => ({
  provider: row.provider,
  model: row.model,
  region: row.region,
  from: row.validFrom.toISOString(),
  inputPerMTok: row.inputPerMtok.toNumber(),
  outputPerMTok: row.outputPerMtok.toNumber(),
});

type StoredPolicy = Omit<Policy, 'rules'> & { readonly rules: readonly StoredRule[] };

/**
 * Returns the rules in force, and who is exempt from which; null until there is a first version, while services screen
 * by the rules that they came with. They are handed on as they are stored: each service checks whether it can use them,
 * so that bad rules hold up nothing else.
 */
async function readPolicy(tx: Prisma.TransactionClient): Promise<StoredPolicy | null> {
  const inForce = await findVersionInForce(tx);
  if (inForce === null) return null;
  const rows = await tx.policyExemption.findMany({ orderBy: [{ accountId: 'asc' }, { ruleId: 'asc' }] });
  const byAccount = [...grouped(rows, ({ accountId }) => accountId)];
  const exemptions = Object.fromEntries(byAccount.map(([id, own]) => [id, own.map(({ ruleId }) => ruleId)]));
  const { rules, sha256, version } = inForce;
  return { version, sha256, rules, exemptions };
}

/**
 * Makes the snapshot. Only `publishedAt` does not follow from the catalogue and the bundled grid data, and that prices are left out
 * which were over then.
 */
export function snapshotOf(catalogue: Catalogue, annualReading: AnnualReading, publishedAt: Date): Snapshot {
  const { aliases, liveGrid, operationalGrid } = catalogue;
  const zones = [...new Set(catalogue.regions.map((region) => region.gridZone))];
  const liveOf = (zone: string) => liveGrid.find((reading) => reading.zone === zone);
  return {
    version: catalogue.version,
    publishedAt: publishedAt.toISOString(),
    models: catalogue.models,
    regions: catalogue.regions,
    deployments: catalogue.deployments,
    aliases,
    prices: pricesFrom(catalogue.prices, publishedAt),
    grid: zones.flatMap((zone) => liveOf(zone) ?? annualReading(zone) ?? []),
    gridFloor: zones.flatMap((zone) => (liveOf(zone) && annualReading(zone)) || []),
    operationalGrid: [...operationalGrid],
    ...(catalogue.policy ? { policy: catalogue.policy } : {}),
  };
}
