/**
 * Alarms that an admin has acknowledged: health and the gauges count them no more, and they stay in the history with who, when and why.
 *
 * Invariant: an acknowledgement is sealed, and is of one fault of one row. Whoever has the database alone silences nothing, and what is found
 * wrong with the row in another way, or again after it was mended, is an alarm again.
 */
import { err, ok } from '@gw/contract/internal/result';
import type { Queryable } from '@gw/prisma/client';
import { z } from 'zod';
import type { ChangeContext } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import type { Seals } from '../receipts/sealed-rows.ts';

export const faultKinds = ['archive', 'audit', 'batch', 'log', 'minute', 'pack', 'receipt'] as const;
export type FaultKind = (typeof faultKinds)[number];

/** A fault as it is stored. */
export interface FaultRow {
  readonly kind: string;
  readonly name: string;
  /** As text: somebody with the database can have written one beyond what a double tells apart. */
  readonly number: string;
  readonly fault: string;
  readonly acknowledgement: unknown;
}

const givenSchema = z.strictObject({ at: z.string(), by: z.string(), name: z.string().nullable(), reason: z.string() });
const storedSchema = givenSchema.extend({ seal: z.string(), key: z.int() });
export type Acknowledgement = z.infer<typeof givenSchema>;

const kind = 'gw.acknowledgement';
const sealedText = (row: FaultRow, { at, by, name, reason }: Acknowledgement): string =>
  JSON.stringify([row.kind, row.name, row.number, row.fault, at, by, name, reason]);

/** Returns who has acknowledged this fault; null: nobody, or somebody without the key. */
export function acknowledgementOf(row: FaultRow, seals: Seals): Acknowledgement | null {
  const stored = storedSchema.safeParse(row.acknowledgement);
  if (!stored.success) return null;
  const { key: id, seal, ...given } = stored.data;
  return seals.textFault(kind, sealedText(row, given), { seal, id }) === null ? given : null;
}

export interface FaultId {
  readonly kind: string;
  readonly name: string;
  readonly number: string;
}

export const idOf = ({ kind, name, number }: FaultId): string => `${kind}:${number}:${name}`;

const idForm = new RegExp(`^(${faultKinds.join('|')}):(-?\\d{1,19}):(.+)$`, 's');

/** Returns null for what is no id. */
export function faultIdIn(text: string): FaultId | null {
  const [, kind, number, name] = idForm.exec(text) ?? [];
  if (kind === undefined || number === undefined || name === undefined) return null;
  // Postgres refuses a greater one.
  return BigInt.asIntN(64, BigInt(number)) === BigInt(number) ? { kind, name, number } : null;
}

/** The word of an admin on a fault that they have seen. */
export interface Acknowledged {
  readonly id: FaultId;
  /** Which fault they have seen: of another one they know nothing. */
  readonly fault: string;
  readonly reason: string;
}

export function acknowledge(
  { db }: Pick<Context, 'db'>,
  seals: Seals,
  { fault, id, reason }: Acknowledged,
  change: ChangeContext,
): Promise<ChangeResult<Acknowledgement>> {
  const { actor, at, requestId } = change;
  return db.$transaction(async (tx) => {
    const mayNot = await reauthorize(tx, change);
    if (mayNot !== null) return err(mayNot);
    const row = await openFault(tx, id);
    if (row?.fault !== fault) return err(notFound('integrity_fault', 'There is no such open fault.'));
    if (acknowledgementOf(row, seals) !== null) return err(invalidTransition('This fault is acknowledged already.'));
    const given = { at: at.toISOString(), by: actor.id, name: actor.name, reason };
    const { id: key, seal } = seals.sealText(kind, sealedText(row, given));
    await tx.$executeRaw`
      UPDATE integrity_faults SET acknowledgement = ${JSON.stringify({ ...given, seal, key })}::json
      WHERE kind = ${id.kind} AND name = ${id.name} AND number = ${id.number}::bigint`;
    await appendAudit(tx, at, {
      accountId: null,
      actor,
      action: 'integrity_fault.acknowledged',
      target: `integrity_fault:${idOf(id)}`,
      requestId,
      after: { fault, reason },
    });
    return ok(given);
  });
}

async function openFault(tx: Queryable, { kind, name, number }: FaultId): Promise<FaultRow | undefined> {
  const [row] = await tx.$queryRaw<FaultRow[]>`
    SELECT kind, name, number::text AS number, fault, acknowledgement FROM integrity_faults
    WHERE kind = ${kind} AND name = ${name} AND number = ${number}::bigint AND mended_at IS NULL FOR UPDATE`;
  return row;
}
