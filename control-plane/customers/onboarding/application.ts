/** An application as it is stored, and as operators see it. */
import type { AccountTier } from '@gw/contract/access';
import type { ActorKind } from '@gw/contract/internal/audit-chain';
import type { OnboardingStep } from '@gw/contract/internal/onboarding-step';
import { type Database, Prisma, type Queryable } from '@gw/prisma/client';
import { Gauge } from 'prom-client';
import type { Declaration } from '../screening/use-policy.ts';
import type { ApplicationQuery } from './input.ts';
import type { OnboardingState, Stage } from './machine.ts';

export interface Contact {
  readonly name: string;
  readonly email: string;
}

/** The names of an application by the roles in which they are screened. */
export interface ScreenedNames {
  readonly organisation: string;
  readonly billing_contact: string;
  readonly technical_contact: string;
}

/** The outcome of a screening. `waits` means that it could not be done yet, for the `reason` beside it. */
export interface StoredScreening {
  readonly outcome: 'clear' | 'match' | 'prohibited' | 'waits';
  /** The names that were compared in step 3. */
  readonly screened?: ScreenedNames;
  /** True if nobody has decided yet what to do about a new name that has a match, or could not be compared. */
  readonly needs_decision?: boolean;
  /** Names that could not be screened yet, since when (RFC 3339), and why. */
  readonly unscreened?: { readonly names: ScreenedNames; readonly since: string; readonly reason: string };
  readonly [detail: string]: unknown;
}

/** An application with its account. What a later step brings is null until then. */
export interface ApplicationRow {
  readonly account_id: string;
  readonly name: string;
  readonly tier: AccountTier;
  readonly billing_contact: Contact;
  readonly technical_contact: Contact;
  readonly state: OnboardingState;
  readonly declaration: Declaration | null;
  readonly use_screening: StoredScreening | null;
  readonly sanctions_screening: StoredScreening | null;
  readonly high_risk: boolean | null;
  readonly contract_hash: string | null;
  readonly contract_reference: string | null;
  readonly contract_signed_at: Date | null;
  readonly expires_at: Date;
  readonly updated_at: Date;
  readonly created_at: Date;
}

const columns = Prisma.sql`o.account_id, a.name, a.tier::text AS tier, a.billing_contact, a.technical_contact,
  o.state::text AS state, o.declaration, o.use_screening, o.sanctions_screening, o.high_risk, o.contract_hash,
  o.contract_reference, o.contract_signed_at, o.expires_at, o.updated_at, a.created_at`;
const tables = Prisma.sql`onboarding o JOIN accounts a ON a.id = o.account_id`;

/** Computes in SQL what `stageOf` computes. */
const stage = Prisma.sql`CASE
  WHEN o.state = 'use_screening' AND o.use_screening->>'outcome' = 'match' THEN 'use_match'
  WHEN o.state = 'sanctions_screening' AND o.sanctions_screening->>'outcome' = 'match' THEN 'sanctions_match'
  ELSE o.state::text END`;

/** Returns the stage: the state, or the match that its screening has found. */
export function stageOf({ state, use_screening, sanctions_screening }: ApplicationRow): Stage {
  if (state === 'use_screening' && use_screening?.outcome === 'match') return 'use_match';
  if (state === 'sanctions_screening' && sanctions_screening?.outcome === 'match') return 'sanctions_match';
  return state;
}

export const screenedNamesOf = (row: ApplicationRow): ScreenedNames => ({
  organisation: row.name,
  billing_contact: row.billing_contact.name,
  technical_contact: row.technical_contact.name,
});

/** Returns an application without locking it; null if there is none. */
export async function findApplication(db: Queryable, accountId: string): Promise<ApplicationRow | null> {
  const rows = await db.$queryRaw<ApplicationRow[]>`
    SELECT ${columns} FROM ${tables} WHERE o.account_id = ${accountId}`;
  return rows[0] ?? null;
}

/**
 * Returns an application, or null, and locks it and its account until the transaction ends, so that name, tier and
 * limits stay as they are read here. The account is locked first, as by every change of accounts, and both before any
 * chain of the audit log.
 */
export async function holdApplication(tx: Queryable, accountId: string): Promise<ApplicationRow | null> {
  await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
  const rows = await tx.$queryRaw<ApplicationRow[]>`
    SELECT ${columns} FROM ${tables} WHERE o.account_id = ${accountId} FOR NO KEY UPDATE OF o`;
  return rows[0] ?? null;
}

/** Returns one page, newest first; null if there is no application `query.after`. */
export async function listApplications(
  db: Database,
  query: ApplicationQuery,
): Promise<{ readonly rows: readonly ApplicationRow[]; readonly hasMore: boolean } | null> {
  const from = query.after === undefined ? null : await findApplication(db, query.after);
  if (query.after !== undefined && from === null) return null;
  const wanted = query.stage === undefined ? Prisma.empty : Prisma.sql`AND ${stage} = ${query.stage}`;
  const place =
    from === null
      ? Prisma.empty
      : Prisma.sql`AND (a.created_at, o.account_id) < (${from.created_at}, ${from.account_id})`;
  const rows = await db.$queryRaw<ApplicationRow[]>`
    SELECT ${columns} FROM ${tables} WHERE true ${wanted} ${place}
    ORDER BY a.created_at DESC, o.account_id DESC LIMIT ${query.limit + 1}`;
  return { rows: rows.slice(0, query.limit), hasMore: rows.length > query.limit };
}

const isUnscreened = Prisma.sql`o.state IN ('use_screening', 'sanctions_screening')
  AND ${stage} IN ('use_screening', 'sanctions_screening')`;
const isRenamed = Prisma.sql`o.state = 'complete' AND a.state IN ('active', 'suspended')
  AND o.sanctions_screening->'screened' IS DISTINCT FROM jsonb_build_object('organisation', a.name,
    'billing_contact', a.billing_contact->>'name', 'technical_contact', a.technical_contact->>'name')`;

/** Returns the accounts whose screening is still to be done, those first that were tried the longest time ago. */
export async function findUnscreened(db: Queryable, most: number): Promise<readonly string[]> {
  const rows = await db.$queryRaw<{ account_id: string }[]>`
    SELECT o.account_id FROM onboarding o WHERE ${isUnscreened} ORDER BY o.updated_at LIMIT ${most}`;
  return rows.map((row) => row.account_id);
}

/** Returns the accounts whose names were changed since they were screened, in the same order. */
export async function findRenamed(db: Queryable, most: number): Promise<readonly string[]> {
  const rows = await db.$queryRaw<{ account_id: string }[]>`
    SELECT o.account_id FROM ${tables} WHERE ${isRenamed} ORDER BY o.updated_at LIMIT ${most}`;
  return rows.map((row) => row.account_id);
}

/** Counts what `findUnscreened` (applications) and `findRenamed` (accounts) look for. */
export async function countUnscreened(db: Queryable): Promise<{ applications: number; accounts: number }> {
  const [counted] = await db.$queryRaw<{ applications: number; accounts: number }[]>`
    SELECT count(*) FILTER (WHERE ${isUnscreened})::int AS applications,
      count(*) FILTER (WHERE ${isRenamed})::int AS accounts
    FROM ${tables}`;
  return counted ?? { applications: 0, accounts: 0 };
}

/** Returns the accounts whose application has expired. None expires while it waits for the gateway to screen it. */
export async function findIdle(db: Queryable, now: Date, most: number): Promise<readonly string[]> {
  const rows = await db.$queryRaw<{ account_id: string }[]>`
    SELECT o.account_id FROM onboarding o
    WHERE o.expires_at <= ${now}
      AND ${stage} NOT IN ('use_screening', 'sanctions_screening', 'complete', 'rejected', 'expired')
    ORDER BY o.expires_at LIMIT ${most}`;
  return rows.map((row) => row.account_id);
}

export function applicationObject(row: ApplicationRow) {
  const { contract_hash, contract_reference, contract_signed_at } = row;
  return {
    account_id: row.account_id,
    object: 'gw.application',
    name: row.name,
    tier: row.tier,
    stage: stageOf(row),
    billing_contact: row.billing_contact,
    technical_contact: row.technical_contact,
    declaration: row.declaration,
    use_screening: row.use_screening,
    sanctions_screening: row.sanctions_screening,
    high_risk: row.high_risk,
    contract:
      contract_hash === null
        ? null
        : {
            sha256: contract_hash,
            reference: contract_reference,
            signed_at: contract_signed_at?.toISOString() ?? null,
          },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
export type ApplicationObject = ReturnType<typeof applicationObject>;

/** Returns the steps in the form in which they are hashed. */
export async function readSteps(db: Database, accountId: string): Promise<readonly OnboardingStep[]> {
  const rows = await db.onboardingStep.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  return rows.map(({ step, action, from, to, actorKind, actorId, at, input, outcome }) => ({
    account_id: accountId,
    step,
    action,
    from,
    to,
    actor: { kind: actorKind as ActorKind, id: actorId },
    at: at.toISOString(),
    input,
    outcome,
  }));
}

/** The gauge of screenings that are still to be done; absent while Postgres does not answer. */
export const unscreenedCount = (db: Database): Gauge =>
  new Gauge({
    name: 'gw_unscreened',
    help: 'Applications that wait for the gateway to screen them, and accounts that work under a name that was not screened yet',
    labelNames: ['what'],
    registers: [],
    async collect() {
      // Without Postgres there is no number: an old one would look like a current one.
      this.reset();
      const counted = await countUnscreened(db).catch(() => null);
      if (counted === null) return;
      this.set({ what: 'applications' }, counted.applications);
      this.set({ what: 'accounts' }, counted.accounts);
    },
  });
