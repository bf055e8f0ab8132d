/**
 * Hides what an audit entry says of a person or an account, so that the entry stays and verifies when they are erased.
 *
 * Hidden are the names of actors, and the values of the fields below in entries that concern an account or a person. What has an id of ours, such as keys
 * and accounts, stays readable by it. Most names come hidden, as they are stored.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import { mapStrings } from '@gw/contract/internal/hidden-names';
import type { Queryable } from '@gw/prisma/client';
import { type Hider, isHidden, openHider, type Subject } from '../../shared/names/names.ts';

/** As much of an entry as can name somebody. */
interface NamingFact {
  readonly actor: Actor;
  readonly target: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Values that name somebody, or are words of people about them. */
const namingFields = new Set([
  ...['name', 'email', 'reason', 'note', 'url', 'reference', 'project', 'billing_contact', 'technical_contact'],
  ...['issuer', 'subject', 'address', 'addresses'],
]);

/** Further ones, in entries about the identity provider of an account. */
const issuerFields = new Set(['domain', 'client_id']);

/** Returns the facts as they are hashed. */
export async function hideNames<Fact extends NamingFact>(
  tx: Queryable,
  accountId: string | null,
  facts: readonly Fact[],
): Promise<Fact[]> {
  const needed = new Set<Subject>();
  // The first round finds whose keys are needed; most entries need none.
  const note: Hider = (subject, text) => {
    if (!isHidden(text)) needed.add(subject);
    return text;
  };
  for (const fact of facts) hidden(fact, accountId, note);
  if (needed.size === 0) return [...facts];
  const hider = await openHider(tx, [...needed]);
  return facts.map((fact) => hidden(fact, accountId, hider));
}

function hidden<Fact extends NamingFact>(fact: Fact, accountId: string | null, hide: Hider): Fact {
  const { actor, after, before, target } = fact;
  const whose = actorSubject(actor, accountId);
  const about = subjectOf(target, accountId);
  const isOfIssuer = target.startsWith('account_issuer:');
  const isNaming = (field: string) => namingFields.has(field) || (isOfIssuer && issuerFields.has(field));
  const values = (value: unknown): unknown =>
    about === null || value === undefined
      ? value
      : mapStrings(value, (text, pointer) => (pointer.split('/').some(isNaming) ? hide(about, text) : text));
  return {
    ...fact,
    actor: actor.name === null || whose === null ? actor : { ...actor, name: hide(whose, actor.name) },
    before: values(before),
    after: values(after),
  };
}

function actorSubject({ id, kind }: Actor, accountId: string | null): Subject | null {
  if (kind === 'operator' || kind === 'organisation_admin') return `${kind}:${id}`;
  return kind === 'api_key' && accountId !== null ? `account:${accountId}` : null;
}

/** A person before their account, since they can be erased alone. */
function subjectOf(target: string, accountId: string | null): Subject | null {
  const [, kind, id] = /^(operator|organisation_admin|account|application):([\w.-]{1,100})$/.exec(target) ?? [];
  if (kind === 'operator' || kind === 'organisation_admin') return `${kind}:${id}`;
  if (kind !== undefined) return `account:${id}`;
  return accountId === null ? null : `account:${accountId}`;
}
