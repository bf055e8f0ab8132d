/**
 * Aliases as operators look after them: further names that clients can ask for, each with what serves it in order.
 *
 * Invariants: an id is that of a model or of an alias, never of both; a target is a model, so nothing nests; and what an alias names is
 * in the catalogue.
 */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { offeredTargets, servesTarget, targetText } from '@gw/contract/internal/alias-targets';
import { aliasFields } from '@gw/contract/internal/catalogue/alias-fields';
import type { EntryFields } from '@gw/contract/internal/catalogue/field';
import { modelIdSchema } from '@gw/contract/internal/catalogue/model-fields';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { accountsLimitedTo, takenId } from './alias-use.ts';
import { columnsOf, entryBodies, fieldsIn, newFields } from './entry-fields.ts';
import { type EntryKind, type Tx, withGiven } from './entry-kind.ts';

const { addBody, changeBody, shown } = entryBodies(aliasFields, { id: modelIdSchema });
type AliasRow = Prisma.AliasGetPayload<object>;

export interface AliasEntry extends EntryFields<typeof aliasFields> {
  readonly id: string;
  readonly object: 'alias';
  readonly created_at: string;
}

export const aliasKind: EntryKind<AliasEntry> = {
  name: 'alias',
  path: '/operator/v1/aliases',
  idOf: ({ id }) => id,
  idSchema: modelIdSchema,
  addBody,
  changeBody,
  shown: shown.extend({ created_at: z.iso.datetime() }),
  added: (body, at) => {
    const given = addBody.parse(body);
    const fields = newFields(aliasFields, given);
    return { id: modelIdSchema.parse(given.id), object: 'alias', created_at: at.toISOString(), ...fields };
  },
  changed: (before, body) => withGiven(before, changeBody.parse(body)),
  kept: ({ created_at }) => ({ created_at }),
  refusal: async (tx, alias) => (await takenId(tx, 'model', alias.id)) ?? (await wrongTargets(tx, alias)),
  usedBy: async (tx, id, isIdKept) => (isIdKept ? null : accountsLimitedTo(tx, id)),
  warnings: () => [],
  warningsBeside: async (tx) => {
    const rows = await tx.deployment.findMany({ orderBy: { id: 'asc' } });
    const deployments = rows.map(({ id, models, providerId: provider }) => ({
      id,
      provider,
      models: models as object,
    }));
    return ({ targets }) =>
      offeredTargets(deployments, targets).flatMap((offered, at) => {
        const target = targets[at];
        if (target === undefined || offered.length > 0) return [];
        const isServed = deployments.some(servesTarget(target));
        return isServed
          ? `Its target ${targetText(target)} adds nothing: a call tries a deployment once, and all of these stand before it.`
          : `No deployment serves its target ${targetText(target)}.`;
      });
  },
  rows: {
    list: async (tx) => (await tx.alias.findMany({ orderBy: { id: 'asc' } })).map(entryOf),
    find: async (tx, id) => {
      const row = await tx.alias.findUnique({ where: { id } });
      return row && entryOf(row);
    },
    insert: (tx, entry) =>
      tx.alias.create({ data: { ...dataOf(entry), id: entry.id, createdAt: new Date(entry.created_at) } }),
    update: (tx, entry) => tx.alias.update({ where: { id: entry.id }, data: dataOf(entry) }),
    remove: (tx, id) => tx.alias.delete({ where: { id } }),
  },
};

/** Refuses targets that are not there, are there twice, or do not serve the same endpoints. */
async function wrongTargets(tx: Tx, { targets }: AliasEntry): Promise<ApiError | null> {
  const [models, providers] = [await tx.model.findMany(), await tx.provider.findMany()];
  const kinds = new Map(models.map(({ id, kind }) => [id, kind]));
  const [{ model: first } = { model: '' }] = targets;
  for (const [at, { model, provider }] of targets.entries()) {
    const wrong = (field: 'model' | 'provider', words: string) =>
      fieldError(`targets[${at}].${field}`, `targets[${at}].${field}: ${words}.`);
    if (!kinds.has(model)) return wrong('model', `the catalogue has no model ${model}`);
    if (kinds.get(model) !== kinds.get(first))
      return wrong('model', `${model} serves ${kinds.get(model)}, and ${first} serves ${kinds.get(first)}`);
    if (provider !== undefined && !providers.some(({ id }) => id === provider))
      return wrong('provider', `the catalogue has no provider ${provider}`);
    if (targets.findIndex((each) => each.model === model && each.provider === provider) < at)
      return wrong('model', `${targetText({ model, provider })} is in the list twice`);
  }
  return null;
}

const dataOf = (entry: AliasEntry) =>
  columnsOf(aliasFields, entry) as Pick<Prisma.AliasUncheckedCreateInput, 'targets'>;

const entryOf = (row: AliasRow): AliasEntry => ({
  id: row.id,
  object: 'alias',
  created_at: row.createdAt.toISOString(),
  ...fieldsIn(aliasFields, { ...row }),
});
