/**
 * Times in Postgres that something else than the session that wrote them knows too: an audit entry, which is stored with the offset of its
 * time and hashed with it, or the id of a receipt. A session in another time zone stores a time without its offset as another moment, and
 * reads it back as the right one, so only such a witness tells.
 *
 * Invariant: it changes nothing, and each question reads a bounded number of chains or receipts.
 */
import { Prisma } from '@gw/prisma/client';
import type { ControlPlaneRole } from '@gw/prisma/roles';
import type { Databases } from '../shared/context.ts';

/** How an entry of the audit log names the row, and the time that it knows. */
interface Statement {
  readonly id: Prisma.Sql;
  readonly at: Prisma.Sql;
}

export interface WitnessedTime {
  readonly table: string;
  readonly column: string;
  /** The column by which the witness names a row. */
  readonly key: string;
  /** Who may read both. */
  readonly role: ControlPlaneRole;
  /** The entries that know the time, named by their actions; null: the id of the row has it. */
  readonly statements: Readonly<Record<string, Statement>> | null;
}

const target = Prisma.sql`substr(target, strpos(target, ':') + 1)`;
const written: Statement = { id: target, at: Prisma.sql`at` };
const stated = (field: string): Statement => ({ id: target, at: Prisma.sql`(after ->> ${field})::timestamptz` });
const ofSuccessor = (at: Prisma.Sql): Statement => ({ id: Prisma.sql`after -> 'successor' ->> 'id'`, at });

function witnessed(
  role: ControlPlaneRole,
  place: `${string}.${string}`,
  statements: WitnessedTime['statements'],
  key = 'id',
): WitnessedTime {
  const [table = '', column = ''] = place.split('.');
  return { table, column, key, role, statements };
}

/** In the order in which they are checked. */
export const witnessedTimes: readonly WitnessedTime[] = [
  witnessed(
    'customers',
    'api_keys.expires_at',
    {
      'key.created': stated('expires_at'),
      'key.rotated': ofSuccessor(Prisma.sql`(after -> 'successor' ->> 'expires_at')::timestamptz`),
    },
    'public_id',
  ),
  witnessed(
    'customers',
    'api_keys.created_at',
    { 'key.created': written, 'key.rotated': ofSuccessor(written.at) },
    'public_id',
  ),
  witnessed('customers', 'api_keys.revoked_at', { 'key.revoked': written }, 'public_id'),
  witnessed('people', 'operator_tokens.expires_at', { 'operator_token.created': stated('expires_at') }),
  witnessed('people', 'operator_tokens.created_at', { 'operator_token.created': written }),
  witnessed('people', 'operators.created_at', { 'operator.created': written }),
  witnessed('people', 'operators.disabled_at', { 'operator.disabled': written }),
  witnessed('people', 'organisation_admins.created_at', { 'organisation_admin.created': written }),
  witnessed('people', 'organisation_admins.disabled_at', { 'organisation_admin.disabled': written }),
  witnessed('people', 'account_issuers.set_at', { 'account_issuer.set': written }, 'account_id'),
  witnessed('people', 'account_issuers.verified_at', { 'account_issuer.verified': written }, 'account_id'),
  witnessed(
    'catalogue',
    'provider_credentials.set_at',
    { 'provider_credential.set': written, 'provider_credential.restored': written },
    'name',
  ),
  witnessed('catalogue', 'prices.valid_from', { 'price.added': stated('valid_from') }),
  ...['valid_from', 'valid_to'].map((column) =>
    witnessed('catalogue', `energy_contracts.${column}`, {
      'energy_contract.added': stated(column),
      'energy_contract.changed': stated(column),
    }),
  ),
  witnessed('customers', 'budgets.created_at', { 'budget.set': written }),
  witnessed('customers', 'budget_webhooks.set_at', { 'budget_webhook.set': written }, 'account_id'),
  witnessed('ledger', 'legal_holds.placed_at', { 'legal_hold.placed': written }),
  witnessed('ledger', 'legal_holds.lifted_at', { 'legal_hold.lifted': written }),
  witnessed('reader', 'receipts.created_at', null),
];

export const nameOf = ({ column, table }: WitnessedTime): string => `${table}.${column}`;

export interface WrongTime {
  readonly id: string;
  readonly stored: Date;
  readonly witnessed: Date;
}

export interface Checked {
  /** Rows with a witness. */
  readonly rows: number;
  readonly wrong: readonly WrongTime[];
  /** Where the next question begins; null: there is nothing behind. */
  readonly next: string | null;
}

const chainsAtOnce = 200;
const receiptsAtOnce = 20_000;

/**
 * Whether a stored time is away from `said` by whole quarters of an hour, as zones are: at most 26 h, since two of them are no further apart.
 * A minute of difference is none, for times that Postgres has added by itself.
 */
const isOtherZone = (stored: Prisma.Sql, said: Prisma.Sql): Prisma.Sql => Prisma.sql`(
  abs(extract(epoch FROM ${stored} - ${said})) BETWEEN 840 AND 93660
  AND abs(extract(epoch FROM ${stored} - ${said}) - 900 * round(extract(epoch FROM ${stored} - ${said}) / 900)) < 60)`;

/** Checks the rows after `after`, as the last answer named it; an empty text is the begin. */
export async function checkTimes(databases: Databases, time: WitnessedTime, after: string): Promise<Checked> {
  const query = time.statements === null ? receiptTimes(after) : auditedTimes(time, time.statements, after);
  const [found] =
    await databases[time.role].$queryRaw<
      { rows: number; wrong: { id: string; stored: string; witnessed: string }[] | null; next: string | null }[]
    >(query);
  if (found === undefined) throw new Error('A count has left no row.');
  const { next, rows, wrong } = found;
  return {
    rows,
    wrong: (wrong ?? []).map((row) => ({
      id: row.id,
      stored: new Date(row.stored),
      witnessed: new Date(row.witnessed),
    })),
    next,
  };
}

/** The last entry about a row counts. */
function auditedTimes(
  { column, key, table }: WitnessedTime,
  statements: Readonly<Record<string, Statement>>,
  after: string,
): Prisma.Sql {
  const entries = Object.entries(statements);
  const by = (part: keyof Statement) =>
    Prisma.join(
      entries.map(([action, statement]) => Prisma.sql`WHEN ${action}::text THEN ${statement[part]}`),
      ' ',
    );
  const stored = Prisma.raw(`r."${column}"`);
  const id = Prisma.raw(`r."${key}"::text`);
  return Prisma.sql`
    WITH page AS (SELECT chain FROM audit_heads WHERE chain > ${after} ORDER BY chain LIMIT ${chainsAtOnce}),
    said AS (
      SELECT DISTINCT ON (id) id, at FROM (
        SELECT seq, CASE action ${by('id')} END AS id, CASE action ${by('at')} END AS at
        FROM audit JOIN page USING (chain) WHERE action = ANY (${entries.map(([action]) => action)}::text[])) entries
      WHERE at IS NOT NULL ORDER BY id, seq DESC),
    found AS (
      SELECT ${id} AS id, ${stored} AS stored, said.at AS witnessed, ${isOtherZone(stored, Prisma.sql`said.at`)} AS is_wrong
      FROM said JOIN ${Prisma.raw(`"${table}"`)} r ON ${id} = said.id WHERE ${stored} IS NOT NULL)
    SELECT ${sums},
      (SELECT CASE WHEN count(*) = ${chainsAtOnce} THEN max(chain) END FROM page) AS next
    FROM found`;
}

/** The order of the ids is that of their times, and the index has both. Months that left for the store of objects are not looked at. */
function receiptTimes(after: string): Prisma.Sql {
  const [id = '', version = '0'] = after.split(' ');
  const said = Prisma.sql`to_timestamp(('x' || substr(replace(substr(id, 6), '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`;
  return Prisma.sql`
    WITH page AS (
      SELECT id, version, created_at FROM receipts WHERE (id, version) > (${id}, ${Number(version)}::int)
      ORDER BY id, version LIMIT ${receiptsAtOnce}),
    timed AS (
      SELECT id, created_at AS stored, ${said}::timestamptz(3) AS witnessed FROM page
      WHERE id ~ '^rcpt_[0-9a-f]{8}-[0-9a-f]{4}-'),
    found AS (SELECT *, ${isOtherZone(Prisma.sql`stored`, Prisma.sql`witnessed`)} AS is_wrong FROM timed)
    SELECT ${sums},
      (SELECT CASE WHEN count(*) OVER () = ${receiptsAtOnce} THEN id || ' ' || version END FROM page
        ORDER BY id DESC, version DESC LIMIT 1) AS next
    FROM found`;
}

const sums = Prisma.sql`count(*)::int AS rows,
  json_agg(json_build_object('id', id, 'stored', stored, 'witnessed', witnessed) ORDER BY id) FILTER (WHERE is_wrong) AS wrong`;
