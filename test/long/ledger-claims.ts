/** What has to be true of the ledger after an outage, looked at row by row past the gateway. */
import type { Receipt } from '@gw/contract/receipt';
import type { CallFacts } from '@gw/methodology/assess';
import { exact } from '@gw/methodology/internals/testdata/exact-decimal';
import { lineageOf } from '@gw/methodology/lineage';
import { findMethodology } from '@gw/methodology/methodologies';
import { verify } from '@gw/methodology/recompute';
import type { Database } from '@gw/prisma/client';
import { z } from 'zod';
import type { Client } from '../outage/client.ts';

export interface Row {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly body: Receipt;
  readonly facts: CallFacts | null;
}

/** Every version of every receipt since then. */
export async function rowsSince(db: Database, from: Date): Promise<Row[]> {
  const select = { id: true, version: true, createdAt: true, body: true, facts: true };
  const rows = await db.receipt.findMany({ where: { createdAt: { gte: from } }, select });
  return rows as unknown as Row[];
}

/** Ids of what was shown and is not, or not so, in the ledger as version 1. */
export function notAsShown(shown: readonly Receipt[], rows: readonly Row[]): string[] {
  const issued = new Map(rows.filter(({ version }) => version === 1).map(({ id, body }) => [id, body]));
  return shown.flatMap((receipt) => {
    const stored = issued.get(receipt.id);
    if (stored === undefined) return `${receipt.id} is missing`;
    const differs = Object.keys(receipt).filter((name) => printed(receipt, name) !== printed(stored, name));
    return differs.length === 0 ? [] : `${receipt.id} differs in ${differs.join(', ')}`;
  });
}

const printed = (receipt: Receipt, name: string): string => JSON.stringify(Reflect.get(receipt, name));

/** Receipts with numbers that do not follow from their facts by their own methodology. */
export function notRecomputed(rows: readonly Row[]): string[] {
  return rows.flatMap(({ body, facts, version }) => {
    if (body.tier === 'degraded') return [];
    const method = body.methodology === null ? null : findMethodology(body.methodology);
    if (method === null || facts === null) return `${body.id} has nothing to compute it from`;
    const result = lineageOf(facts, method.id);
    if (!result.ok) return `${body.id} v${version}: ${result.explanation}`;
    const verified = verify(result.lineage, body);
    return verified.ok ? [] : `${body.id} v${version}: ${verified.mismatches.join('; ')}`;
  });
}

/** The newest version of each receipt. */
export function newest(rows: readonly Row[]): Row[] {
  const byId = new Map<string, Row>();
  for (const row of rows) if ((byId.get(row.id)?.version ?? 0) < row.version) byId.set(row.id, row);
  return [...byId.values()];
}

const usageShape = z.object({
  data: z.array(
    z.looseObject({
      model: z.string(),
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
export async function usageDifferences(client: Client, from: Date, rows: readonly Row[]): Promise<string[]> {
  const reply = await client.get(`/v1/usage?from=${from.toISOString()}`);
  const told = new Map<string, Totals>();
  for (const row of usageShape.parse(reply.json).data) {
    if (told.has(row.model)) throw new Error('The test ran over midnight.');
    told.set(row.model, {
      requests: row.requests,
      degraded: row.requests_degraded,
      tokens: row.prompt_tokens + row.completion_tokens,
      energyWh: row.energy_wh ?? 0,
      carbonG: row.carbon_g ?? 0,
    });
  }
  const bodies = newest(rows).map(({ body }) => body);
  const models = new Set([...told.keys(), ...bodies.map(({ model }) => model)]);
  return [...models].flatMap((model) => {
    const [is, ought] = [told.get(model), totalsOf(bodies.filter((body) => body.model === model))].map(inOrder);
    return is === ought ? [] : `${model}: ${is} in place of ${ought}`;
  });
}

const inOrder = (totals: Totals | undefined): string =>
  JSON.stringify(totals, ['requests', 'degraded', 'tokens', 'energyWh', 'carbonG']);

function totalsOf(bodies: readonly Receipt[]): Totals {
  const sum = (pick: (body: Receipt) => number | null): number => {
    const total = bodies.reduce((so, body) => so + exact(pick(body) ?? 0), 0n);
    // `exact` counts in units of 10^-400.
    return Number(Number(`${total}e-400`).toPrecision(12));
  };
  return {
    requests: bodies.length,
    degraded: bodies.filter(({ tier }) => tier === 'degraded').length,
    tokens: sum(({ prompt_tokens }) => prompt_tokens) + sum(({ completion_tokens }) => completion_tokens),
    energyWh: sum(({ energy_wh }) => energy_wh),
    carbonG: sum(({ carbon_g }) => carbon_g),
  };
}
