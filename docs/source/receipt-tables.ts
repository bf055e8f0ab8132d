/** The tables of docs/receipts.md: what the fields mean, what a boundary counts, how old a value is, what a version changes. */
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import type { GridReading } from '@gw/methodology/assess';
import { gridProvenance } from '@gw/methodology/grid';
import { callTime } from './calls.ts';
import { type ExampleName, examples } from './examples.ts';
import { cell, tableOf } from './numbers.ts';

/** The part of a field's JSON schema that the table shows. */
interface FieldForm {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly format?: string;
  readonly anyOf?: readonly FieldForm[];
}

function formText(form: FieldForm): string {
  const { anyOf, const: only, enum: values, format, type } = form;
  if (anyOf) return anyOf.map(formText).join(' or ');
  if (only !== undefined) return `\`${only}\``;
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (format === 'date-time') return 'time';
  return type === 'array' ? 'list' : [type ?? 'any'].flat().join(' or ');
}

/** Every field, in the order of the receipt. `forms`: the properties of the receipt's JSON schema. */
export function fieldsTable(forms: Readonly<Record<string, FieldForm>>): string {
  const rows = Object.entries(receiptSchema.shape).map(([name, schema]) => [
    `\`${name}\``,
    name === 'degraded_reason' ? '[list](degraded-receipts.md)' : formText(forms[name] ?? {}),
    schema.description ?? '',
  ]);
  return tableOf(['Field', 'Value', 'Meaning'], rows);
}

const numbers = ({ receipt }: (typeof examples)[ExampleName], fields: readonly (keyof Receipt)[]): string[] =>
  fields.map((field) => cell(receipt[field]));

/** The same call at every tier. */
export function tiersTable(): string {
  const names = ['total', 'counters', 'parametric', 'proxy', 'degraded'] as const;
  const rows = names.map((name) => {
    const [tier = '', energy = '', low = '', high = ''] = numbers(examples[name], [
      'tier',
      'energy_wh',
      'energy_low_wh',
      'energy_high_wh',
    ]);
    const { explanation, tier_reason: reason } = examples[name].receipt;
    return [`\`${tier}\``, energy, `${low} – ${high}`, reason ?? `(\`explanation\`) ${explanation ?? ''}`];
  });
  return tableOf(['`tier`', '`energy_wh`', 'Bounds', '`tier_reason`'], rows);
}

const counted: readonly (readonly [keyof Receipt, string])[] = [
  ['energy_accelerator_wh', 'GPUs reading the prompt and writing the answer'],
  ['energy_host_wh', 'the rest of the servers'],
  ['energy_idle_wh', 'a tenth of both, for machines that stand ready'],
  ['energy_overhead_wh', '(PUE − 1) of all three'],
  ['energy_wh', 'their sum'],
  ['carbon_operation_g', 'energy × intensity of the grid'],
  ['carbon_embodied_g', 'the share of making the hardware'],
  ['carbon_g', 'their sum'],
  ['sci_g_per_request', 'the same, as an SCI score'],
  ['water_ml', 'on site and at the power stations'],
];

export function boundariesTable(): string {
  const rows = counted.map(([field, meaning]) => [
    `\`${field}\``,
    meaning,
    cell(examples.parametric.receipt[field]),
    cell(examples.narrow.receipt[field]),
  ]);
  return tableOf(['Part', 'What it is', 'comprehensive', 'narrow'], rows);
}

const at = (day: string, time: string): string => `2026-11-${day}T${time}:00.000Z`;
const hourOf = (day: string, start: string, end: string): GridReading => ({
  zone: 'USA',
  gPerKwh: 350,
  source: 'example',
  signal: 'average',
  periodStart: at(day, start),
  periodEnd: at(day, end),
  observedAt: at(day, start),
  temporalMatch: null,
  waterLPerKwh: null,
});

const readings: readonly (readonly [string, GridReading])[] = [
  ['the hour under way', hourOf('21', '09:00', '10:00')],
  ['ten minutes old', { ...hourOf('21', '09:15', '09:20'), observedAt: at('21', '09:20') }],
  ['the hour before', hourOf('21', '08:00', '09:00')],
  ['a forecast for this hour', { ...hourOf('21', '09:00', '10:00'), signal: 'forecast', temporalMatch: 'forecast' }],
  ['an estimate of the hour before', { ...hourOf('21', '08:00', '09:00'), temporalMatch: 'fresh', isEstimated: true }],
  ['the same hour a week ago', { ...hourOf('14', '09:00', '10:00'), temporalMatch: 'prior_week' }],
  ['older than two hours', hourOf('21', '05:00', '06:00')],
  [
    'the year 2025',
    {
      ...hourOf('21', '09:00', '10:00'),
      signal: 'annual',
      temporalMatch: 'annual_fallback',
      periodStart: '2025-01-01T00:00:00.000Z',
      periodEnd: '2026-01-01T00:00:00.000Z',
      observedAt: '2026-01-01T00:00:00.000Z',
    },
  ],
];

/** Age and match of readings for one call. */
export function agesTable(): string {
  const rows = readings.map(([what, reading]) => {
    const provenance = gridProvenance(reading, callTime);
    if (provenance === null) throw new Error(`A time of the reading "${what}" cannot be read.`);
    const { ageMinutes, observedAt, temporalMatch } = provenance;
    return [what, observedAt, ageMinutes === null ? 'null' : String(ageMinutes), `\`${temporalMatch}\``];
  });
  return tableOf(['Value', 'observed at', 'age, minutes', 'match'], rows);
}

/** Shows which fields a restatement changes. */
export function versionsTable(): string {
  const before: Receipt = examples.asIssued.receipt;
  const after: Receipt = examples.restated.receipt;
  const fields = Object.keys(receiptSchema.shape) as (keyof Receipt)[];
  const rows = fields
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
    .map((field) => [`\`${field}\``, cell(before[field]), cell(after[field])]);
  return tableOf(['Field', 'as issued', 'restated'], rows);
}
