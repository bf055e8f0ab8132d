/** Models as operators look after them. */
import { fieldError } from '@gw/contract/errors';
import type { EntryFields } from '@gw/contract/internal/catalogue/field';
import { modelFields, modelIdSchema } from '@gw/contract/internal/catalogue/model-fields';
import { knownTokenizer } from '@gw/contract/internal/tokenizers';
import { isGuessed } from '@gw/methodology/assumptions';
import { availableTiers } from '@gw/methodology/tier';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { accountsLimitedTo, aliasesNaming, takenId } from './alias-use.ts';
import { columnsOf, entryBodies, fieldsIn, newFields } from './entry-fields.ts';
import { changeColumns, type EntryKind, namesOf, withGiven, withoutFormerEvidence } from './entry-kind.ts';

const { addBody, changeBody, shown } = entryBodies(modelFields, { id: modelIdSchema });

export interface ModelEntry extends EntryFields<typeof modelFields> {
  readonly id: string;
  readonly object: 'model';
  readonly created_at: string;
}

type ModelRow = Prisma.ModelGetPayload<object>;

export const modelKind: EntryKind<ModelEntry> = {
  name: 'model',
  path: '/operator/v1/models',
  idOf: ({ id }) => id,
  idSchema: modelIdSchema,
  addBody,
  changeBody,
  shown: shown.extend({ created_at: z.iso.datetime() }),
  added: (body, at) => {
    const given = addBody.parse(body);
    const fields = newFields(modelFields, given, { takes_temperature: given.kind === 'chat' });
    return { id: modelIdSchema.parse(given.id), object: 'model', created_at: at.toISOString(), ...fields };
  },
  changed: (before, body) => withoutFormerEvidence(before, withGiven(before, changeBody.parse(body)), evidenceOf),
  kept: ({ created_at }) => ({ created_at }),
  refusal: async (tx, model) =>
    wrongSize(model) ?? (await takenId(tx, 'alias', model.id)) ?? (await wrongKind(tx, model)),
  usedBy: async (tx, id, isIdKept) => {
    const deployments = await tx.deployment.findMany({ orderBy: { id: 'asc' } });
    const offering = deployments.filter(({ models }) => Object.hasOwn(models as object, id)).map((each) => each.id);
    if (offering.length > 0) return `deployments offer it: ${namesOf(offering)}`;
    const aliases = await aliasesNaming(tx, ({ model }) => model === id);
    return aliases ?? (isIdKept ? null : accountsLimitedTo(tx, id));
  },
  warnings: (model) => [
    ...(availableTiers(factsOf(model)).length > 0
      ? []
      : ['Neither its parameters nor its size class are known: unless its energy is measured, receipts are degraded.']),
    ...(sizeDoubt(model) ?? []),
  ],
  rows: {
    list: async (tx) => (await tx.model.findMany({ orderBy: { id: 'asc' } })).map(entryOf),
    changes: (tx, id) =>
      tx.model.findMany({ where: id === undefined ? {} : { id }, select: { id: true, ...changeColumns } }),
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

/** Why somebody should look at the size, with the command that sets it; null: nobody has to. */
function sizeDoubt({ active_parameters_b: active, id, model_class, parameters_source: parametersSource }: ModelEntry) {
  const doubt = isGuessed({ parametersSource })
    ? 'Its size is a guess.'
    : model_class === 'unknown' && active === null
      ? 'Its size is unknown, so the bounds of its receipts hold models of any size.'
      : null;
  const command = `./gw admin models set ${id} --total <billions> --active <billions> --parameters-source <who says so>`;
  return doubt && [`${doubt} If you know it: ${command}.`];
}

const evidenceOf = { parameters_source: ['active_parameters_b', 'total_parameters_b', 'model_class'] } as const;

/** Why the sizes of a model cannot be; null: they can. */
export function wrongSize({
  active_parameters_b: active,
  kind,
  model_class: size,
  total_parameters_b: total,
}: ModelEntry) {
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

/** Refuses another kind while the model is in use, since an endpoint that a customer uses would vanish. */
async function wrongKind(tx: Prisma.TransactionClient, { id, kind }: ModelEntry) {
  const before = await tx.model.findUnique({ where: { id } });
  if (before === null || before.kind === kind) return null;
  const users = await modelKind.usedBy(tx, id, false);
  return users === null ? null : fieldError('kind', `kind: cannot change while ${users}.`);
}

/** Returns the fields as the calculation of receipts takes them. */
const factsOf = (model: ModelEntry) => ({
  kind: model.kind,
  modelClass: model.model_class,
  activeParametersB: model.active_parameters_b,
  totalParametersB: model.total_parameters_b,
  quantizationBits: model.quantization_bits,
  tokensPerS: model.tokens_per_s,
  ttftS: model.ttft_s,
});

const dataOf = (entry: ModelEntry) => columnsOf(modelFields, entry) as Omit<ModelRow, 'id' | 'createdAt'>;

const entryOf = (row: ModelRow): ModelEntry => ({
  id: row.id,
  object: 'model',
  created_at: row.createdAt.toISOString(),
  ...fieldsIn(modelFields, { ...row, tokenizer: knownTokenizer(row.tokenizer) }),
});
