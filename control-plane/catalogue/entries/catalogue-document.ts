/** The form of the whole catalogue as one document, and of what an import of it answers. */
import { z } from 'zod';
import { aliasKind } from './alias-entry.ts';
import { deploymentKind } from './deployment-entry.ts';
import { energyContractKind } from './energy-contract-entry.ts';
import type { EntryKind } from './entry-kind.ts';
import { modelKind } from './model-entry.ts';
import { priceKind } from './price-entry.ts';
import { providerKind } from './provider-entry.ts';
import { regionKind } from './region-entry.ts';

/** One type for all, since none of what is done here depends on the kind. */
export type AnyKind = EntryKind<object>;
const anyKind = <Entry extends object>(kind: EntryKind<Entry>) => kind as unknown as AnyKind;

/** A section comes before those that refer to it. */
export const sections = {
  models: anyKind(modelKind),
  regions: anyKind(regionKind),
  providers: anyKind(providerKind),
  deployments: anyKind(deploymentKind),
  aliases: anyKind(aliasKind),
  prices: anyKind(priceKind),
  energy_contracts: anyKind(energyContractKind),
};
export type Section = keyof typeof sections;
export const sectionNames = Object.keys(sections) as readonly Section[];
export const referring: readonly Section[] = ['aliases', 'deployments'];
/** These sections are left out of a document while nothing is in them. */
export const leftOutIfEmpty: readonly Section[] = ['aliases', 'prices', 'energy_contracts'];
/** An id is that of an entry in one of the two, and can pass to the other. */
export const sharesIdsWith: Partial<Record<Section, Section>> = { models: 'aliases', aliases: 'models' };

const listOf = (section: Section, most = 2000) => z.array(sections[section].addBody).max(most).optional();
export const catalogueDocumentSchema = z.strictObject({
  models: listOf('models'),
  regions: listOf('regions'),
  providers: listOf('providers'),
  deployments: listOf('deployments'),
  aliases: listOf('aliases'),
  // Prices of former years stay in it.
  prices: listOf('prices', 10_000),
  energy_contracts: listOf('energy_contracts'),
});
export type CatalogueDocument = Readonly<z.infer<typeof catalogueDocumentSchema>>;

/** Entries as they are read: some that are stored may be refused if they were written today. */
const written = z.array(z.looseObject({}));
export const writtenSchema = z.strictObject({
  models: written,
  regions: written,
  providers: written,
  deployments: written,
  aliases: written.optional(),
  prices: written.optional(),
  energy_contracts: written.optional(),
});

const changeSchema = z.strictObject({
  kind: z.enum(['model', 'region', 'provider', 'deployment', 'alias', 'price', 'energy_contract']),
  id: z.string(),
  before: z.record(z.string(), z.unknown()).nullable().describe('What differs; null: it is new'),
  after: z.record(z.string(), z.unknown()).nullable().describe('What differs; null: it is removed'),
  warnings: z.array(z.string()).describe('What will not work as one may expect'),
});
export const catalogueImportSchema = z.strictObject({
  object: z.literal('catalogue_import'),
  dry_run: z.boolean().describe('Whether nothing was changed'),
  changes: z.array(changeSchema),
});
export type CatalogueImport = z.infer<typeof catalogueImportSchema>;
export type EntryChange = CatalogueImport['changes'][number];
