/**
 * Defines the columns of a table of receipts: one for each field of a receipt, in the order of the schema, and some for its routing trace if that
 * was asked for.
 */
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { routingTraceSchema } from '@gw/contract/routing-trace';
import { isAmount } from '@gw/evidence/quantities';

export type ColumnKind = 'count' | 'decimal' | 'flag' | 'text' | 'time';

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
}

const counts = ['version', 'supersedes', 'prompt_tokens', 'completion_tokens'];
const flags = ['simulated', 'recalculable'];
const times = ['created_at', 'grid_intensity_observed_at', 'grid_intensity_requested_at'];

function kindOf(name: string): ColumnKind {
  if (isAmount(name)) return 'decimal';
  if (counts.includes(name)) return 'count';
  if (flags.includes(name)) return 'flag';
  return times.includes(name) ? 'time' : 'text';
}

const ofReceipt: readonly Column[] = Object.keys(receiptSchema.shape)
  .filter((name) => name !== 'object')
  .map((name) => ({ name, kind: kindOf(name) }));

/** The last one has the whole trace as JSON. */
const ofRouting: readonly Column[] = [
  { name: 'routing_policy', kind: 'text' },
  { name: 'routing_fallback', kind: 'flag' },
  { name: 'routing_fallback_reason', kind: 'text' },
  { name: 'routing_counterfactual_region', kind: 'text' },
  { name: 'estimated_saving_g', kind: 'decimal' },
  { name: 'routing_trace', kind: 'text' },
];

export const columnsOf = (withRouting: boolean): readonly Column[] =>
  withRouting ? [...ofReceipt, ...ofRouting] : ofReceipt;

/** The values of a row by the names of its columns. */
export type TableRow = Readonly<Record<string, unknown>>;

const traceSchema = routingTraceSchema
  .pick({ policy: true, fallback: true, fallback_reason: true, counterfactual: true, estimated_saving_g: true })
  .loose();

/** `trace`: as JSON; null if there is none. */
export function tableRow(receipt: Receipt, trace: string | null): TableRow {
  const parsed = trace === null ? null : traceSchema.safeParse(JSON.parse(trace));
  if (!parsed?.success) return { ...receipt, routing_trace: trace };
  const { counterfactual, estimated_saving_g, fallback, fallback_reason, policy } = parsed.data;
  return {
    ...receipt,
    routing_policy: policy,
    routing_fallback: fallback,
    routing_fallback_reason: fallback_reason,
    routing_counterfactual_region: counterfactual?.region ?? null,
    estimated_saving_g,
    routing_trace: trace,
  };
}

/** A receipt has one field that is a list; it becomes words separated by spaces. */
export const plainValue = (value: unknown): unknown => (Array.isArray(value) ? value.join(' ') : (value ?? null));
