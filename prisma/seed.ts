/**
 * Demo accounts, demo keys and the catalogue of the providers that this installation was started with.
 *
 * Invariant: idempotent. What is there stays as it is, but for the addresses and models of the providers, which follow
 * the command line; what a provider that is no longer asked for brought is removed.
 */
import { randomBytes } from 'node:crypto';
import { defaultScopes, type Scope, scopes } from '@gw/contract/access';
import { generateApiKey, hashApiKey, parseApiKey } from '@gw/contract/internal/api-key';
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import type { Pepper } from '@gw/contract/internal/pepper';
import { takeCatalogueTurn } from './catalogue-turn.ts';
import type { Database, Prisma } from './client.ts';
import {
  customModel,
  customRegion,
  customSite,
  madeUpPrice,
  simulatorApis,
  simulatorDeployments,
  simulatorModels,
  simulatorPrices,
  simulatorRegions,
} from './demo-catalogue.ts';
import { findKey } from './find-key.ts';
import { notePepper } from './pepper-check.ts';

export const seededKeyNames = ['audit', 'auditPlus', 'enterprise', 'admin'] as const;
export type SeededKeyName = (typeof seededKeyNames)[number];
/** The plaintexts; this is the only moment at which they can be had. */
export type SeededKeys = Record<SeededKeyName, string>;

export interface CustomProvider {
  readonly url: string;
  /** Name of the secret that holds the provider's key, or absent if it takes none. */
  readonly credentialRef?: string;
  readonly models: readonly string[];
  /** ISO 3166-1 alpha-3 of the grid that feeds it, if known. */
  readonly gridZone?: string;
}

export interface SeedOptions {
  /** The one in use, for the hashes of the demo keys. */
  readonly pepper: Pepper;
  readonly simulatorUrl?: string;
  readonly provider?: CustomProvider;
  /** Plaintexts that an earlier run returned. One that still works is kept; for any other a new key is made. */
  readonly existing?: Readonly<Partial<Record<string, string>>>;
}

/** Nobody has stated what these entries say, and receipts that are computed from them tell so. */
const changedBy = {
  simulator: 'start of the gateway: the demo, made up',
  custom: 'start of the gateway with a provider: assumed where nobody has stated it',
} as const;

type Transaction = Prisma.TransactionClient;

const extraScopes = scopes.filter((scope) => scope !== 'admin:keys');

const demoAccounts: readonly Prisma.AccountCreateManyInput[] = [
  { id: 'acct_demo_audit', name: 'Demo, Audit', tier: 'audit' },
  { id: 'acct_demo_audit_plus', name: 'Demo, Audit Plus', tier: 'audit_plus' },
  {
    id: 'acct_demo_enterprise',
    name: 'Demo, Enterprise',
    tier: 'enterprise',
    limitPerS: 1_000_000,
    limitBurst: 1_000_000,
    limitPerDay: 1_000_000_000,
    limitStreams: 1_000_000,
  },
];

const demoKeys: Readonly<Record<SeededKeyName, { accountId: string; scopes: readonly Scope[] }>> = {
  audit: { accountId: 'acct_demo_audit', scopes: defaultScopes },
  auditPlus: { accountId: 'acct_demo_audit_plus', scopes: extraScopes },
  enterprise: { accountId: 'acct_demo_enterprise', scopes: extraScopes },
  admin: { accountId: 'acct_demo_enterprise', scopes },
};

export function seed(db: Database, options: SeedOptions): Promise<SeededKeys> {
  return db.$transaction(
    async (tx) => {
      // Two starts at once would each make keys that the other does not know.
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('seed'))`;
      const at = new Date();
      await tx.account.createMany({ data: [...demoAccounts], skipDuplicates: true });
      if (options.simulatorUrl === undefined) await removeProvider(tx, 'simulator');
      else {
        await takeCatalogueTurn(tx, { by: changedBy.simulator, at });
        await seedSimulator(tx, options.simulatorUrl);
      }
      if (options.provider === undefined) await removeProvider(tx, 'custom');
      else {
        await takeCatalogueTurn(tx, { by: changedBy.custom, at });
        await seedCustom(tx, options.provider);
      }
      await removeEmptyRegions(tx);
      return seedKeys(tx, options);
    },
    { timeout: 30_000 },
  );
}

async function seedKeys(tx: Transaction, options: SeedOptions): Promise<SeededKeys> {
  await notePepper(tx, options.pepper);
  const entries: [string, string][] = [];
  for (const name of seededKeyNames) entries.push([name, await seedKey(tx, name, options)]);
  return Object.fromEntries(entries) as SeededKeys;
}

async function seedKey(tx: Transaction, name: SeededKeyName, options: SeedOptions): Promise<string> {
  const known = parseApiKey(options.existing?.[name] ?? '');
  const row = known && (await tx.apiKey.findUnique({ where: { publicId: known.publicId } }));
  const ended = row && (await findKey(tx, row.publicId))?.state !== 'active';
  const { plaintext, publicId } =
    known && !ended ? { plaintext: known.secretAndAll, publicId: known.publicId } : generateApiKey(randomBytes);
  const hash = new Uint8Array(hashApiKey(plaintext, options.pepper.secret));
  const pepperVersion = options.pepper.version;
  const { accountId, scopes: granted } = demoKeys[name];
  await tx.apiKey.upsert({
    where: { publicId },
    create: { publicId, accountId, name: `demo ${name}`, hash, pepperVersion, scopes: [...granted] },
    // A new pepper makes the stored hash worthless; the plaintext is at hand, so it is hashed again.
    update: { hash, pepperVersion },
  });
  return plaintext;
}

/** Who starts the gateway with an address has said by it that the way there is their own. */
const addressOf = (baseUrl: string) => ({ baseUrl, local: !isConfidentialUrl(baseUrl) });

async function seedSimulator(tx: Transaction, baseUrl: string): Promise<void> {
  const address = { ...addressOf(baseUrl), apis: [...simulatorApis] };
  await tx.provider.upsert({
    where: { id: 'simulator' },
    create: { id: 'simulator', name: 'Simulated provider', kind: 'simulator', ...address },
    update: address,
  });
  await tx.model.createMany({ data: [...simulatorModels], skipDuplicates: true });
  await tx.region.createMany({ data: [...simulatorRegions], skipDuplicates: true });
  await tx.deployment.createMany({ data: [...simulatorDeployments], skipDuplicates: true });
  await tx.price.createMany({ data: [...simulatorPrices], skipDuplicates: true });
}

async function seedCustom(tx: Transaction, provider: CustomProvider): Promise<void> {
  const access = {
    ...addressOf(provider.url),
    credentialRef: provider.credentialRef ?? null,
    authHeader: provider.credentialRef === undefined ? null : 'authorization',
    authScheme: provider.credentialRef === undefined ? null : 'Bearer',
  };
  const models = Object.fromEntries(provider.models.map((id) => [id, id]));
  await tx.provider.upsert({
    where: { id: 'custom' },
    create: { id: 'custom', name: 'Custom provider', kind: 'openai', ...access },
    update: access,
  });
  await tx.model.deleteMany({ where: { ownedBy: 'custom', id: { notIn: [...provider.models] } } });
  await tx.model.createMany({ data: provider.models.map((id) => customModel(id, provider.url)), skipDuplicates: true });
  const gridZone = provider.gridZone ?? customRegion.gridZone;
  await tx.region.upsert({
    where: { code: customRegion.code },
    create: { ...customRegion, gridZone },
    update: { gridZone },
  });
  await tx.deployment.upsert({
    where: { id: 'custom' },
    create: { id: 'custom', providerId: 'custom', regionCode: customRegion.code, models, ...customSite },
    update: { models },
  });
}

async function removeProvider(tx: Transaction, id: 'simulator' | 'custom'): Promise<void> {
  await tx.price.deleteMany({ where: { provider: id, source: madeUpPrice } });
  await tx.deployment.deleteMany({ where: { providerId: id } });
  await tx.provider.deleteMany({ where: { id } });
  await tx.model.deleteMany({ where: { ownedBy: id } });
}

async function removeEmptyRegions(tx: Transaction): Promise<void> {
  const seeded = [...simulatorRegions, customRegion].map((region) => region.code);
  await tx.region.deleteMany({ where: { code: { in: seeded }, deployments: { none: {} } } });
}
