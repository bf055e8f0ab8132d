/** These claims have to be true of the ledger after an outage. They are checked row by row, past the gateway. */
import type { Receipt } from '@gw/contract/receipt';
import { readRows, storedColumns } from '@gw/control-plane/internals/ledger/receipts/read-rows';
import { wholeFacts } from '@gw/control-plane/internals/ledger/receipts/whole-facts';
import { rounded } from '@gw/control-plane/internals/ledger/usage/rounded';
import type { CallFacts } from '@gw/methodology/assess';
import { exact } from '@gw/methodology/internals/testdata/exact-decimal';
import { callOf, lineageOf } from '@gw/methodology/lineage';
import { findMethodology } from '@gw/methodology/methodologies';
import { verify } from '@gw/methodology/recompute';
import { type Database, Prisma } from '@gw/prisma/client';
import { testSeals } from '@gw/testing/control-plane/fixtures';
import { z } from 'zod';
import type { Client } from '../outage/client.ts';

export interface ReceiptRow {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly body: Receipt;
  readonly facts: CallFacts | null;
}

/** Every version of every receipt since then; of one account, or of all. */
export async function rowsSince(db: Database, from: Date, accountId: string | null = null): Promise<ReceiptRow[]> {
  const rows = await readRows(
    db,
    Prisma.sql`SELECT ${storedColumns} FROM receipts r
      WHERE r.created_at >= ${from} AND (${accountId}::text IS NULL OR r.account_id = ${accountId})`,
  );
  const facts = await wholeFacts({ db, seals: testSeals }, rows);
  return rows.map(({ body, created_at, id, version }, at) => {
    const read = facts[at];
    if (read === undefined || 'fault' in read) throw new Error(`${id} has facts that are ${read?.fault}.`);
    return {
      id,
      version,
      createdAt: created_at,
      body: JSON.parse(body),
      facts: read.facts as CallFacts | null,
    };
  });
}

/** Ids of what was shown and is not, or not so, in the ledger as version 1. */
export function notAsShown(shown: readonly Receipt[], rows: readonly ReceiptRow[]): string[] {
  const issued = new Map(rows.filter(({ version }) => version === 1).map(({ id, body }) => [id, body]));
  return shown.flatMap((receipt) => {
    const stored = issued.get(receipt.id);
    if (stored === undefined) return `${receipt.id} is missing`;
    const differs = Object.keys(receipt).filter((name) => printed(receipt, name) !== printed(stored, name));
    if (differs.length === 0) return [];
    return `${receipt.id} was shown as ${kindOf(receipt)} and is ${kindOf(stored)}; it differs in ${differs.join(', ')}`;
  });
}

const kindOf = ({ tier, degraded_reason, status, created_at }: Receipt): string =>
  `${status} ${tier} ${degraded_reason ?? ''} of ${created_at}`;
const printed = (receipt: Receipt, name: string): string => JSON.stringify(Reflect.get(receipt, name));

/** Receipts with numbers that do not follow from their facts by their own methodology. */
export function notRecomputed(rows: readonly ReceiptRow[]): string[] {
  return rows.flatMap(({ body, facts, version }) => {
    if (body.tier === 'degraded') return [];
    const method = body.methodology === null ? null : findMethodology(body.methodology);
    if (method === null || facts === null) return `${body.id} has nothing to compute it from`;
    const result = lineageOf(facts, method.id, callOf(body, facts));
    if (!result.ok) return `${body.id} v${version}: ${result.explanation}`;
    const verified = verify(result.lineage, body);
    return verified.ok ? [] : `${body.id} v${version}: ${verified.mismatches.join('; ')}`;
  });
}

/** The newest version of each receipt. */
export function newest(rows: readonly ReceiptRow[]): ReceiptRow[] {
  const byId = new Map<string, ReceiptRow>();
  for (const row of rows) if ((byId.get(row.id)?.version ?? 0) < row.version) byId.set(row.id, row);
  return [...byId.values()];
}

export function grouped<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

const usageShape = z.object({
  data: z.array(
    z.looseObject({
      date: z.string(),
      model: z.string(),
      simulated: z.boolean(),
      requests: z.number(),
      requests_degraded: z.number(),
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      energy_wh: z.number().nullable(),
      carbon_g: z.number().nullable(),
    }),
  ),
});

interface Totals {
  readonly requests: number;
  readonly degraded: number;
  readonly tokens: number;
  readonly energyWh: number;
  readonly carbonG: number;
}

/** Where `GET /v1/usage` since then is not the sum of the newest versions, added in exact decimals and rounded once. */
export async function usageDifferences(
  client: Client,
  from: Date,
  rows: readonly ReceiptRow[],
  key?: string,
): Promise<string[]> {
  // A clock that was wrong may have dated a call later than now.
  const to = new Date(Date.now() + 3_600_000);
  const reply = await client.get(`/v1/usage?from=${from.toISOString()}&to=${to.toISOString()}`, key);
  const told = new Map<string, Totals>();
  for (const row of usageShape.parse(reply.json).data) {
    told.set(`${row.date} ${row.model}${row.simulated ? ', simulated' : ''}`, {
      requests: row.requests,
      degraded: row.requests_degraded,
      tokens: row.prompt_tokens + row.completion_tokens,
      energyWh: row.energy_wh ?? 0,
      carbonG: row.carbon_g ?? 0,
    });
  }
  const rowOf = ({ created_at, model, simulated }: Receipt) =>
    `${created_at.slice(0, 10)} ${model}${simulated ? ', simulated' : ''}`;
  const bodies = grouped(
    newest(rows).map(({ body }) => body),
    rowOf,
  );
  return [...new Set([...told.keys(), ...bodies.keys()])].flatMap((row) => {
    const [is, ought] = [told.get(row), totalsOf(bodies.get(row) ?? [])].map(inOrder);
    return is === ought ? [] : `${row}: ${is} in place of ${ought}`;
  });
}

const inOrder = (totals: Totals | undefined): string =>
  JSON.stringify(totals, ['requests', 'degraded', 'tokens', 'energyWh', 'carbonG']);

function totalsOf(bodies: readonly Receipt[]): Totals {
  const sum = (pick: (body: Receipt) => number | null): number => {
    const total = bodies.reduce((so, body) => so + exact(pick(body) ?? 0), 0n);
    // `exact` counts in units of 10^-400.
    const digits = String(total).padStart(401, '0');
    return rounded(`${digits.slice(0, -400)}.${digits.slice(-400)}`);
  };
  return {
    requests: bodies.length,
    degraded: bodies.filter(({ tier }) => tier === 'degraded').length,
    tokens: sum(({ prompt_tokens }) => prompt_tokens) + sum(({ completion_tokens }) => completion_tokens),
    energyWh: sum(({ energy_wh }) => energy_wh),
    carbonG: sum(({ carbon_g }) => carbon_g),
  };
}
