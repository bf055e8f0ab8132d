/** `/operator/v1/archives`: which months of receipts have left Postgres or are about to, and a way to ask for one and to give it up. */
import { fieldError } from '@gw/contract/errors';
import { defined } from '@gw/contract/internal/defined';
import { err, ok } from '@gw/contract/internal/result';
import { listSchema } from '@gw/contract/list';
import { Prisma } from '@gw/prisma/client';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, type ChangeContext, changeOf } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import { firstOf, monthOf, nextMonth, noteIn } from '../receipts/archive-notes.ts';
import type { Seals } from '../receipts/sealed-rows.ts';

const monthSchema = z
  .string()
  .regex(/^20\d{2}-(?:0[1-9]|1[0-2])$/)
  .describe('As `2025-01`, UTC');
const archiveSchema = z
  .strictObject({
    object: z.literal('archive'),
    month: monthSchema,
    state: z
      .enum(['asked', 'frozen', 'given_up', 'detached', 'dropped'])
      .describe(
        '`frozen`: it takes no change and is being written; `given_up`: it stays in Postgres until it is requested again; `detached`: it is answered from the archive; `dropped`: Postgres has nothing of it any more',
      ),
    asked_at: z.iso.datetime(),
    asked_by: z.string().describe('Id of an operator, or `retention`'),
    problem: z
      .string()
      .nullable()
      .describe('Why it does not go on at the moment; of a month that was given up: by whom, and what of it is stored'),
    receipts: z
      .int()
      .nullable()
      .describe('Versions; null: it is not written yet, or its note is not sealed by the gateway'),
    files_sha256: z.string().nullable().describe('The digest of the list of its files'),
    detached_at: z.iso.datetime().nullable(),
    dropped_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Archive' });
const path = '/operator/v1/archives';

interface StoredRow {
  readonly month: Date;
  readonly state: string;
  readonly asked_at: Date;
  readonly asked_by: string;
  readonly problem: string | null;
  readonly note: unknown;
  readonly detached_at: Date | null;
  readonly dropped_at: Date | null;
}
type Archive = z.infer<typeof archiveSchema>;

export function archiveRoutes(base: FastifyInstance, context: Context, seals: Seals): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { addresses, now } = context;
  const viewer = { access: { kind: 'operator', role: 'viewer' }, reply: listSchema(archiveSchema) } as const;
  const admin = { access: { kind: 'operator', role: 'admin' }, reply: archiveSchema } as const;

  app.get(path, { config: viewer }, async () => ({
    object: 'list',
    data: (await stored(context)).map((row) => viewOf(row, seals)),
  }));

  app.post(
    path,
    { config: admin, schema: { body: z.strictObject({ month: monthSchema }) } },
    async (request, reply) => {
      const { month } = request.body;
      if (nextMonth(month).getTime() > now().getTime() - restMs)
        return fieldRefused('The month has to be over for 31 days: until then its receipts may still change.');
      return answer(reply, await ask(context, seals, month, changeOf(request, context)), context);

      function fieldRefused(message: string): unknown {
        return answer(reply, err(fieldError('month', `month: ${message}`)), { addresses });
      }
    },
  );

  const byMonth = { params: z.object({ month: monthSchema }) };
  app.delete(`${path}/:month`, { config: admin, schema: byMonth }, async (request, reply) =>
    answer(reply, await giveUp(context, seals, request.params.month, changeOf(request, context)), context),
  );
}

/** The database does not freeze a month before. */
const restMs = 31 * 24 * 3_600_000;

const stored = ({ db }: Pick<Context, 'db'>, month: string | null = null): Promise<StoredRow[]> => db.$queryRaw<
  StoredRow[]
>`
  SELECT month, state, asked_at, asked_by, problem, note, detached_at, dropped_at FROM receipt_archives
  ${month === null ? Prisma.empty : Prisma.sql`WHERE month = ${firstOf(month)}::date`} ORDER BY receipt_archives.month`;

function viewOf(row: StoredRow, seals: Seals): Archive {
  const month = monthOf(row.month);
  const note = noteIn(row.note, month, seals);
  return {
    object: 'archive',
    month,
    state: archiveSchema.shape.state.parse(row.state),
    asked_at: row.asked_at.toISOString(),
    asked_by: row.asked_by,
    problem: row.problem,
    receipts: note?.receipts ?? null,
    files_sha256: note?.files_sha256 ?? null,
    detached_at: row.detached_at?.toISOString() ?? null,
    dropped_at: row.dropped_at?.toISOString() ?? null,
  };
}

function changed(
  { db }: Pick<Context, 'db'>,
  change: ChangeContext,
  action: string,
  month: string,
  work: (tx: Prisma.TransactionClient) => Promise<{ readonly files?: number } | 'no receipts' | null>,
): Promise<ChangeResult<null>> {
  const { actor, at, requestId } = change;
  return db.$transaction(async (tx) => {
    const mayNot = await reauthorize(tx, change);
    if (mayNot !== null) return err(mayNot);
    const done = await work(tx);
    if (done === 'no receipts')
      return err(invalidTransition(`Postgres has no receipts of ${month}, so there is nothing to archive.`));
    if (done === null)
      return err(invalidTransition('The state of this month does not allow that: ./gw admin archive list'));
    await appendAudit(tx, at, {
      accountId: null,
      actor,
      action,
      target: `receipts:${month}`,
      requestId,
      after: { month, ...done },
    });
    return ok(null);
  });
}

async function ask(
  context: Context,
  seals: Seals,
  month: string,
  change: ChangeContext,
): Promise<ChangeResult<Archive>> {
  const outcome = await changed(context, change, 'archive.asked', month, async (tx) => {
    const added = await tx.$executeRaw`
      INSERT INTO receipt_archives (month, asked_by)
      SELECT ${firstOf(month)}::date, ${change.actor.id}
      WHERE to_regclass(receipt_partition(${firstOf(month)}::date)) IS NOT NULL ON CONFLICT (month) DO NOTHING`;
    if (added === 1) return {};
    const [again] = await tx.$queryRaw<{ was_given_up: boolean }[]>`
      SELECT ask_receipt_month_again(${firstOf(month)}::date, ${change.actor.id}) AS was_given_up`;
    if (again?.was_given_up === true) return {};
    const known = await tx.receiptArchive.count({ where: { month: firstOf(month) } });
    return known === 0 ? 'no receipts' : null;
  });
  if (!outcome.ok) return outcome;
  const [row] = await stored(context, month);
  return ok(viewOf(defined(row, month), seals));
}

/** Only a month that has no note yet can be given up: with it, the logs of the accounts begin to tell of the archive. It is remembered, with the files that stay in the store of objects; a next try replaces them. */
async function giveUp(
  context: Context,
  seals: Seals,
  month: string,
  change: ChangeContext,
): Promise<ChangeResult<Archive>> {
  const outcome = await changed(context, change, 'archive.given_up', month, async (tx) => {
    const [open] = await tx.$queryRaw<{ files: number }[]>`
      SELECT (SELECT count(*)::float8 FROM receipt_archive_files f WHERE f.month = a.month) AS files FROM receipt_archives a
      WHERE month = ${firstOf(month)}::date AND state IN ('asked', 'frozen') AND note IS NULL`;
    if (open === undefined) return null;
    await tx.$executeRaw`SELECT thaw_receipt_month(${firstOf(month)}::date)`;
    const left = open.files === 0 ? '' : ` Files of it that stay in the object store: ${open.files} or more.`;
    await tx.$executeRaw`
      UPDATE receipt_archives SET problem = ${`Given up by ${change.actor.id}.${left}`} WHERE month = ${firstOf(month)}::date`;
    return open;
  });
  if (!outcome.ok) return outcome;
  const [row] = await stored(context, month);
  return ok(viewOf(defined(row, month), seals));
}
