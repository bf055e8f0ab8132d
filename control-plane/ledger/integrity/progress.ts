/** How far the checks of the ledger are, how fast they go, and when they come round again. */
import type { Database } from '@gw/prisma/client';
import { z } from 'zod';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import type { RoundKind } from './rounds.ts';

/** The rounds through the rows of the ledger itself. */
type ShownKind = Exclude<RoundKind, 'log'>;

const time = z.iso.datetime().nullable();

export const progressSchema = z.strictObject({
  object: z.literal('receipt_integrity'),
  chain: z
    .strictObject({
      batches: z.int(),
      receipts: z.int().describe('Versions, and steps of those that were settled'),
      newest_at: time,
      signed: z.int().describe('The number of the last batch that is signed'),
      signed_at: time,
    })
    .describe('The chain of batches; a batch is signed within a minute'),
  sealed: z
    .strictObject({
      receipts: z.int().describe('Versions'),
      sections: z.int(),
      until: z.string().nullable().describe('The last day that has one, such as `2026-10-31`; null: there is none yet'),
    })
    .describe('Sections of days that are over, whose contents were checked: a round compares one digest for each'),
  rounds: z
    .array(
      z.strictObject({
        kind: z
          .enum(['archive', 'batch', 'receipt'])
          .describe(
            '`batch`: that all rows are there, and no others, by their digests; `receipt`: their contents; `archive`: the files of archived months',
          ),
        begun_at: time.describe('Null: it rests'),
        checked: z.int().describe('Rows that the round under way has checked'),
        checked_until: time.describe(
          'Rows that came (`batch`), or calls that were made (`receipt`), before this are checked',
        ),
        rows_per_s: z.number().nullable().describe('Null: not known yet'),
        expected_end: time.describe('Of the round under way; null: not known yet'),
        finished_at: time.describe('When the last full round ended; null: none has yet'),
        next_begin: time.describe('Of the next full round, at the earliest; null: not known yet'),
      }),
    )
    .describe('The checks through the whole ledger'),
});
export type Progress = z.infer<typeof progressSchema>;

interface Round {
  readonly kind: ShownKind;
  readonly begun_at: Date | null;
  readonly finished_at: Date | null;
  readonly after_id: string;
  readonly checked: number;
  readonly until: Date | null;
  readonly now: Date;
}

/** How long after the end of a round of each kind the next one begins, s. */
export type Periods = Readonly<Record<ShownKind, number>>;

/** Rejects if Postgres is away. */
export async function readProgress(db: Database, periods: Periods): Promise<Progress> {
  const [sealed] = await db.$queryRaw<Progress['sealed'][]>`
    SELECT coalesce(sum(rows), 0)::float8 AS receipts, count(*)::int AS sections, max(day) AS until FROM receipt_sections`;
  return { object: 'receipt_integrity', ...(await readRounds(db, periods)), sealed: sealed ?? noneSealed };
}

const noneSealed: Progress['sealed'] = { receipts: 0, sections: 0, until: null };

/** The same without the sections, which take a moment to count. */
export async function readRounds(db: Database, periods: Periods): Promise<Pick<Progress, 'chain' | 'rounds'>> {
  const [chain] = await db.$queryRaw<
    { batches: number; receipts: number; newest_at: Date | null; signed: number; signed_at: string | null }[]
  >`
    SELECT coalesce(b.number, 0)::float8 AS batches, coalesce(b.total, 0)::float8 AS receipts,
      CASE WHEN b.at BETWEEN '2000-01-01' AND CURRENT_TIMESTAMP + INTERVAL '1 day' THEN b.at END AS newest_at,
      coalesce(h.last, 0)::float8 AS signed, h.signed ->> 'issued' AS signed_at
    FROM (SELECT 1) AS one
    LEFT JOIN (SELECT number, total, at FROM receipt_batches WHERE number IS NOT NULL ORDER BY number DESC LIMIT 1) b ON TRUE
    LEFT JOIN (SELECT last, signed FROM receipt_heads ORDER BY last DESC LIMIT 1) h ON TRUE`;
  const rounds = await db.$queryRaw<Round[]>`
    SELECT kind, CASE WHEN begun_at BETWEEN '2000-01-01' AND CURRENT_TIMESTAMP THEN begun_at END AS begun_at,
      CASE WHEN finished_at BETWEEN '2000-01-01' AND CURRENT_TIMESTAMP THEN finished_at END AS finished_at,
      after_id, checked::float8 AS checked, CURRENT_TIMESTAMP AS now,
      CASE WHEN kind = 'batch' AND after_id ~ '^-?[0-9]{1,18}$' THEN (
        SELECT b.at FROM receipt_batches b WHERE b.arrived <= c.after_id::bigint ORDER BY b.arrived DESC LIMIT 1) END AS until
    FROM integrity_checks c WHERE kind IN ('archive', 'batch', 'receipt') ORDER BY kind`;
  const { batches = 0, newest_at = null, receipts = 0, signed = 0, signed_at = null } = chain ?? {};
  return {
    chain: { batches, receipts, newest_at: iso(newest_at), signed, signed_at },
    rounds: rounds.map((round) => progressOf(round, receipts, periods[round.kind])),
  };
}

function progressOf(round: Round, total: number, periodS: number): Progress['rounds'][number] {
  const { after_id, begun_at, checked, finished_at, kind, now, until } = round;
  const tookS = begun_at === null ? 0 : (now.getTime() - begun_at.getTime()) / 1000;
  const rate = tookS > 0 && checked > 0 ? checked / tookS : null;
  const end = begun_at === null || rate === null ? null : now.getTime() + (Math.max(0, total - checked) / rate) * 1000;
  const lastEnd = end ?? (begun_at === null ? (finished_at?.getTime() ?? null) : null);
  return {
    kind,
    begun_at: iso(begun_at),
    checked,
    checked_until: iso(kind === 'batch' ? until : timeOfReceipt(after_id)),
    rows_per_s: rate === null ? null : Math.round(rate),
    expected_end: iso(end),
    finished_at: iso(finished_at),
    next_begin: iso(lastEnd === null ? null : lastEnd + periodS * 1000),
  };
}

/** Null for what has no time that can be written. */
function iso(at: Date | number | null): string | null {
  const ms = Number(at);
  return at === null || !(Math.abs(ms) < 8e15) ? null : new Date(ms).toISOString();
}
