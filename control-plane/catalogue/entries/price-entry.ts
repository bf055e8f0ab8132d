/**
 * Prices as operators look after them: what a provider charges for the tokens of a model from an hour on, in the currency of the gateway.
 *
 * Invariants: there is one price for each provider, model, region and hour of beginning, and these make its id. A price stays when what
 * it names goes, since calls of former times are charged by it.
 */
import { slugSchema } from '@gw/contract/internal/catalogue/field';
import { modelIdSchema } from '@gw/contract/internal/catalogue/model-fields';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { changeColumns, type EntryKind, type Tx, withGiven } from './entry-kind.ts';
import { decimalSchema, hourSchema, hourText, plainDecimal, sourceSchema } from './figures.ts';

const fields = {
  provider: slugSchema.describe('id of the provider that charges it'),
  model: modelIdSchema.describe('id of the model, as clients send it'),
  region: slugSchema
    .nullable()
    .optional()
    .describe('code of the region that it is for; null: all that have none of their own'),
  valid_from: hourSchema.describe('from when on, a whole UTC hour; it may be past'),
  input_per_mtok: decimalSchema.describe('for 1,000,000 tokens read, in the currency of the gateway'),
  output_per_mtok: decimalSchema.describe('for 1,000,000 tokens written'),
  source: sourceSchema.describe('what it rests on: a text or an address'),
};
const addBody = z.strictObject(fields);
const { input_per_mtok, output_per_mtok, source } = fields;
const changeBody = z.strictObject({
  input_per_mtok: input_per_mtok.optional(),
  output_per_mtok: output_per_mtok.optional(),
  source: source.optional(),
});
const idSchema = z
  .string()
  .max(400)
  .regex(/^[\x21-\x7e]+$/, 'is no id of a price');
const shown = z.strictObject({
  id: idSchema,
  provider: z.string(),
  model: z.string(),
  region: z.string().nullable(),
  valid_from: z.iso.datetime(),
  input_per_mtok: z.string().describe('A decimal'),
  output_per_mtok: z.string().describe('A decimal'),
  source: z.string(),
});

export interface PriceEntry extends z.infer<typeof shown> {
  readonly object: 'price';
}

export const priceKind: EntryKind<PriceEntry> = {
  name: 'price',
  path: '/operator/v1/prices',
  idOf: ({ id }) => id,
  idField: 'valid_from',
  idSchema,
  addBody,
  changeBody,
  shown,
  added: (body) => {
    const { input_per_mtok, model, output_per_mtok, provider, region = null, source, valid_from } = addBody.parse(body);
    const from = hourText(valid_from);
    return {
      id: `${from}/${provider}/${region ?? '*'}/${model}`,
      object: 'price',
      provider,
      model,
      region,
      valid_from: from,
      input_per_mtok: plainDecimal(input_per_mtok),
      output_per_mtok: plainDecimal(output_per_mtok),
      source,
    };
  },
  changed: (before, body) => {
    const { input_per_mtok, output_per_mtok, source } = changeBody.parse(body);
    return withGiven(before, {
      input_per_mtok: input_per_mtok === undefined ? undefined : plainDecimal(input_per_mtok),
      output_per_mtok: output_per_mtok === undefined ? undefined : plainDecimal(output_per_mtok),
      source,
    });
  },
  kept: () => ({}),
  refusal: async () => null,
  usedBy: async () => null,
  warnings: () => [],
  warningsBeside: async (tx) => {
    const deployments = await tx.deployment.findMany();
    return ({ model, provider, region }) =>
      deployments.some(
        ({ models, providerId, regionCode }) =>
          providerId === provider &&
          (region === null || regionCode === region) &&
          Object.hasOwn(models as object, model),
      )
        ? []
        : [
            `No deployment of ${provider}${region === null ? '' : ` in ${region}`} serves ${model}, so it concerns no call of today.`,
          ];
  },
  rows: {
    list: async (tx) => (await tx.price.findMany({ orderBy })).map(entryOf),
    changes: (tx, id) =>
      tx.price.findMany({ where: id === undefined ? {} : { id }, select: { id: true, ...changeColumns } }),
    find: async (tx, id) => {
      const row = await tx.price.findUnique({ where: { id } });
      return row && entryOf(row);
    },
    insert: (tx, entry) => tx.price.create({ data: { id: entry.id, ...dataOf(entry) } }),
    update: (tx, entry) => tx.price.update({ where: { id: entry.id }, data: dataOf(entry) }),
    remove: (tx, id) => tx.price.delete({ where: { id } }),
  },
};

const orderBy = [
  { provider: 'asc' },
  { model: 'asc' },
  { region: { sort: 'asc', nulls: 'first' } },
  { validFrom: 'asc' },
] as const satisfies Prisma.PriceOrderByWithRelationInput[];

/** All of them, for the services. */
export const priceRows = (tx: Tx) => tx.price.findMany({ orderBy: [...orderBy] });

type PriceRow = Prisma.PriceGetPayload<object>;

const entryOf = (row: PriceRow): PriceEntry => ({
  id: row.id,
  object: 'price',
  provider: row.provider,
  model: row.model,
  region: row.region,
  valid_from: hourText(row.validFrom),
  input_per_mtok: row.inputPerMtok.toFixed(),
  output_per_mtok: row.outputPerMtok.toFixed(),
  source: row.source,
});

const dataOf = ({ input_per_mtok, model, output_per_mtok, provider, region, source, valid_from }: PriceEntry) => ({
  provider,
  model,
  region,
  validFrom: new Date(valid_from),
  inputPerMtok: input_per_mtok,
  outputPerMtok: output_per_mtok,
  source,
});
