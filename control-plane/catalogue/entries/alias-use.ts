/**
 * How aliases relate to the other entries: they share the ids of models, also in the lists of accounts, and name models and
 * providers.
 */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { type AliasTarget, aliasFields } from '@gw/contract/internal/catalogue/alias-fields';
import { namesOf, type Tx } from './entry-kind.ts';

/** Refuses the id of a new entry if one of the other kind has it: clients could not say which they mean. */
export async function takenId(tx: Tx, other: 'model' | 'alias', id: string): Promise<ApiError | null> {
  const where = { id };
  const count = other === 'model' ? tx.model.count({ where }) : tx.alias.count({ where });
  const article = other === 'model' ? 'a' : 'an';
  return (await count) === 0
    ? null
    : fieldError(
        'id',
        `id: the catalogue has ${article} ${other} ${id}, and an id is that of a model or of an alias, never of both.`,
      );
}

/** Returns in words which accounts are limited to what has that id, a model or an alias; null if none is. */
export async function accountsLimitedTo(tx: Tx, id: string): Promise<string | null> {
  const accounts = await tx.account.findMany({ where: { models: { array_contains: [id] } }, orderBy: { id: 'asc' } });
  return accounts.length === 0 ? null : `accounts are limited to it: ${namesOf(accounts.map((each) => each.id))}`;
}

/** Returns in words which aliases have a target of that kind; null if none has. */
export async function aliasesNaming(tx: Tx, isNamed: (target: AliasTarget) => boolean): Promise<string | null> {
  const aliases = await tx.alias.findMany({ orderBy: { id: 'asc' } });
  const naming = aliases.filter(({ targets }) => aliasFields.targets.shown.parse(targets).some(isNamed));
  return naming.length === 0 ? null : `aliases name it: ${namesOf(naming.map(({ id }) => id))}`;
}
