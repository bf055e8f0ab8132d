/** Models as operators look after them. Billions of parameters, bits per weight, tokens per second, seconds. */
import { fieldError } from '@gw/contract/errors';
import { modelClasses } from '@gw/contract/internal/snapshot';
import { knownTokenizer, tokenizers } from '@gw/contract/internal/tokenizers';
import { availableTiers } from '@gw/methodology/tier';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { nameSchema } from '../people/access/fields.ts';
import { type EntryKind, namesOf, withGiven } from './entry-kind.ts';

/** Clients send it and read it in paths, so it has no empty and no dotted segment. */
export const modelIdSchema = z
  .string()
  .max(200)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.:@+~-]*(\/[A-Za-z0-9][A-Za-z0-9_.:@+~-]*)*$/,
    'must be letters, digits and any of _.:@+~- in parts between slashes',
  );

const billions = z.number().min(0.001).max(100_000);
/** A known count is a range of one value. */
const parameters = z
  .union(
    [
      billions.transform((count) => ({ min: count, max: count })),
      z.strictObject({ min: billions, max: billions }).refine(({ min, max }) => min <= max),
    ],
    'must be billions of parameters from 0.001 to 100000: a number, or {"min","max"}',
  )
  .nullable();
const fields = z.strictObject({
  owned_by: nameSchema,
  kind: z.enum(['chat', 'embedding']),
  context_window: z.int().min(1).max(2_147_483_647).nullable(),
  modalities: z
    .array(z.enum(['text', 'image', 'audio', 'video']))
    .min(1)
    .max(4),
  takes_temperature: z.boolean(),
  tokenizer: z.enum(tokenizers).nullable(),
  active_parameters_b: parameters,
  total_parameters_b: parameters,
  model_class: z.enum(modelClasses).nullable(),
  quantization_bits: z.number().min(1).max(64).nullable(),
  tokens_per_s: z.number().min(0.01).max(1_000_000).nullable(),
  ttft_s: z.number().min(0).max(3600).nullable(),
});
const needed = { owned_by: true, kind: true } as const;
const addBody = fields.partial().required(needed).extend({ id: modelIdSchema });
const changeBody = fields.partial();

export interface ModelEntry extends z.infer<typeof fields> {
  readonly id: string;
  readonly object: 'model';
  readonly created_at: string;
}

type Row = Prisma.ModelGetPayload<object>;

export const modelKind: EntryKind<ModelEntry> = {
  name: 'model',
  path: '/operator/v1/models',
  idOf: ({ id }) => id,
  idSchema: modelIdSchema,
  addBody,
  changeBody,
  added: (body, at) => {
    const given = addBody.parse(body);
    const { id, kind, owned_by } = given;
    const start = { id, object: 'model', created_at: at.toISOString(), owned_by, kind } as const;
    return withGiven<ModelEntry>({ ...start, ...unknown, takes_temperature: kind === 'chat' }, given);
  },
  changed: (before, body) => withGiven(before, changeBody.parse(body)),
  refusal: async (tx, model) => wrongSize(model) ?? (await wrongKind(tx, model)),
  usedBy: async (tx, id) => {
    const deployments = await tx.deployment.findMany({ orderBy: { id: 'asc' } });
    const offering = deployments.filter(({ models }) => Object.hasOwn(models as object, id)).map((each) => each.id);
    if (offering.length > 0) return `deployments offer it: ${namesOf(offering)}`;
    const accounts = await tx.account.findMany({ where: { models: { array_contains: [id] } }, orderBy: { id: 'asc' } });
    return accounts.length === 0 ? null : `accounts are limited to it: ${namesOf(accounts.map((each) => each.id))}`;
  },
  warnings: (model) =>
    availableTiers(factsOf(model)).length > 0
      ? []
      : ['Neither its parameters nor its size class are known: unless its energy is measured, receipts are degraded.'],
  rows: {
    list: async (tx) => (await tx.model.findMany({ orderBy: { id: 'asc' } })).map(entryOf),
    find: async (tx, id) => {
      const row = await tx.model.findUnique({ where: { id } });
      return row && entryOf(row);
    },
    insert: (tx, entry) =>
      tx.model.create({ data: { ...dataOf(entry), id: entry.id, createdAt: new Date(entry.created_at) } }),
    update: (tx, entry) => tx.model.update({ where: { id: entry.id }, data: dataOf(entry) }),
    remove: (tx, id) => tx.model.delete({ where: { id } }),
  },
};

/** What nobody has said. */
const unknown = {
  context_window: null,
  modalities: ['text'] as ('text' | 'image' | 'audio' | 'video')[],
  tokenizer: null,
  active_parameters_b: null,
  total_parameters_b: null,
  model_class: null,
  quantization_bits: null,
  tokens_per_s: null,
  ttft_s: null,
};

function wrongSize({ active_parameters_b: active, kind, model_class: size, total_parameters_b: total }: ModelEntry) {
  if (total !== null && active === null)
    return fieldError(
      'active_parameters_b',
      'active_parameters_b: is needed beside total_parameters_b; in a dense model the two are equal.',
    );
  if (kind === 'chat' && active !== null && total === null)
    return fieldError(
      'total_parameters_b',
      'total_parameters_b: is needed beside active_parameters_b, since all parameters fill the memory.',
    );
  if (active !== null && total !== null && (active.min > total.min || active.max > total.max))
    return fieldError('active_parameters_b', 'active_parameters_b: is more than total_parameters_b.');
  if (size !== null && (size === 'embedding') !== (kind === 'embedding'))
    return fieldError('model_class', `model_class: ${size} is not a class of models that serve ${kind}.`);
  return null;
}

/** An endpoint that a customer uses would vanish. */
async function wrongKind(tx: Prisma.TransactionClient, { id, kind }: ModelEntry) {
  const before = await tx.model.findUnique({ where: { id } });
  if (before === null || before.kind === kind) return null;
  const users = await modelKind.usedBy(tx, id);
  return users === null ? null : fieldError('kind', `kind: cannot change while ${users}.`);
}

/** As the receipts' calculation takes them. */
const factsOf = (model: ModelEntry) => ({
  kind: model.kind,
  modelClass: model.model_class,
  activeParametersB: model.active_parameters_b,
  totalParametersB: model.total_parameters_b,
  quantizationBits: model.quantization_bits,
  tokensPerS: model.tokens_per_s,
  ttftS: model.ttft_s,
});

const dataOf = (entry: ModelEntry) => ({
  ownedBy: entry.owned_by,
  kind: entry.kind,
  contextWindow: entry.context_window,
  modalities: [...entry.modalities],
  takesTemperature: entry.takes_temperature,
  tokenizer: entry.tokenizer,
  activeParametersMinB: entry.active_parameters_b?.min ?? null,
  activeParametersMaxB: entry.active_parameters_b?.max ?? null,
  totalParametersMinB: entry.total_parameters_b?.min ?? null,
  totalParametersMaxB: entry.total_parameters_b?.max ?? null,
  modelClass: entry.model_class,
  quantizationBits: entry.quantization_bits,
  tokensPerS: entry.tokens_per_s,
  ttftS: entry.ttft_s,
});

const range = (min: number | null, max: number | null) => (min === null || max === null ? null : { min, max });

const entryOf = (row: Row): ModelEntry => ({
  id: row.id,
  object: 'model',
  created_at: row.createdAt.toISOString(),
  owned_by: row.ownedBy,
  kind: row.kind,
  context_window: row.contextWindow,
  modalities: row.modalities as ModelEntry['modalities'],
  takes_temperature: row.takesTemperature,
  tokenizer: knownTokenizer(row.tokenizer),
  active_parameters_b: range(row.activeParametersMinB, row.activeParametersMaxB),
  total_parameters_b: range(row.totalParametersMinB, row.totalParametersMaxB),
  model_class: row.modelClass as ModelEntry['model_class'],
  quantization_bits: row.quantizationBits,
  tokens_per_s: row.tokensPerS,
  ttft_s: row.ttftS,
});
