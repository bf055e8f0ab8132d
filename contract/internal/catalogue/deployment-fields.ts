/** The fields of a deployment: models of one provider in one region. */
import { z } from 'zod';
import { evidenceRead, evidenceSchema } from './evidence.ts';
import { type CatalogueField, type FieldTable, nameSchema, optionalNumber } from './field.ts';
import { modelIdSchema } from './model-fields.ts';

export const deploymentIdDoc = "it stands in the names of Envoy's clusters";

const acceleratorsRead = z.object({ model: z.string().min(1).max(100), count: z.int().positive() });
/** The shapes of measured energy in replies, and GPU counters. */
export const telemetryShapes = [
  'neuralwatt',
  'greenpt',
  'melious',
  'ecologits_impacts',
  'energy_header',
  'gpu_counters',
] as const;

const isOffer = (value: unknown, isName: (name: unknown) => boolean): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length <= 500 &&
  Object.entries(value).every(([id, name]) => modelIdSchema.safeParse(id).success && isName(name));
const isName = (name: unknown): boolean => nameSchema.safeParse(name).success;

const evidenceFor = <Option extends string>(what: string, option: Option) =>
  ({
    entry: evidenceSchema,
    shown: evidenceRead,
    snapshot: evidenceRead,
    otherwise: null,
    option,
    form: 'evidence',
    help: `evidence for the ${what}: "measured 2025-01-01/2026-01-01 https://…", or none`,
    doc: `evidence for the ${what}: \`{"kind","source","period"}\`, where \`kind\` is \`measured\`, \`reported\` or \`assumed\`, \`source\` a text or an address, and \`period\` two days, the second exclusive (\`2025-01-01/2026-01-01\`), or none. [A changed figure has none](#who-vouches-for-what) until it is entered again`,
  }) as const satisfies CatalogueField;

export const deploymentFields = {
  provider: {
    entry: z.string().max(100),
    snapshot: z.string(),
    columns: ['providerId'],
    needed: true,
    option: 'provider',
    help: 'id of the provider',
  },
  region: {
    entry: z.string().max(100),
    snapshot: z.string(),
    columns: ['regionCode'],
    needed: true,
    option: 'region',
    help: 'code of the region',
  },
  models: {
    /** Checked as a whole, so that no error code is derived from a model id. */
    entry: z
      .custom<Readonly<Record<string, string>>>(
        (value) => isOffer(value, isName),
        'must be an object: public model id → the name that the provider knows it by',
      )
      .meta({ type: 'object', additionalProperties: { type: 'string' } }),
    /** Null removes a model; the others stay. */
    change: z.custom<Readonly<Record<string, string | null>>>(
      (value) => isOffer(value, (name) => name === null || isName(name)),
      'must be an object: public model id → the name that the provider knows it by, or null to take it out',
    ),
    shown: z.record(z.string(), z.string()),
    snapshot: z.record(z.string(), z.string()),
    needed: true,
    form: 'offers',
    help: 'public id → the name that the provider knows it by',
  },
  pue: {
    entry: z.number().min(1).max(10),
    snapshot: z.number().min(1),
    needed: true,
    option: 'pue',
    form: 'number',
    help: 'power usage effectiveness of the data centre, at least 1',
  },
  pue_evidence: evidenceFor('PUE', 'pue-evidence'),
  wue_onsite_l_per_kwh: {
    entry: z.number().min(0).max(100).nullable(),
    snapshot: z.number().nonnegative().nullable(),
    ...optionalNumber,
    option: 'wue',
    help: 'litres of water per kWh on site, or none',
  },
  wue_evidence: evidenceFor('water on site', 'wue-evidence'),
  telemetry: {
    entry: z.enum(telemetryShapes).nullable(),
    snapshot: z.string().nullable(),
    otherwise: null,
    option: 'telemetry',
    help: 'shape of measured energy in its replies, gpu_counters, or none',
    doc: 'the one [shape of measured energy](measured-energy.md) in its replies, or [`gpu_counters`](gpu-counters.md)',
  },
  accelerators: {
    entry: acceleratorsRead
      .strict()
      .extend({ model: nameSchema.max(100), count: z.int().min(1).max(1_000_000) })
      .nullable(),
    snapshot: acceleratorsRead.nullable(),
    otherwise: null,
    option: 'accelerators',
    form: 'accelerators',
    help: 'of the whole deployment: "8 x H100", or none',
    doc: '`{"model","count"}` of the whole deployment',
  },
  typical_concurrency: {
    entry: z.number().min(1).max(10_000).nullable(),
    snapshot: z.number().positive().nullable(),
    ...optionalNumber,
    option: 'typical-concurrency',
    help: 'requests that a replica of a model typically works on at once, or none',
    doc: 'requests that a replica of a model typically works on at once, the batch that it runs: 1 to 10,000. A fact for receipts, which limits nothing',
  },
  latency_ms: {
    entry: z.int().min(0).max(1_000_000).nullable(),
    snapshot: z.number().nullable(),
    ...optionalNumber,
    option: 'latency-ms',
    help: 'milliseconds to the first byte, for comparison with other deployments; or none',
    doc: 'milliseconds to the first byte, as you measure them: a [tolerance](routing.md#tolerance) compares them',
  },
  relative_cost: {
    entry: z.number().min(0).max(1000).nullable(),
    snapshot: z.number().nullable(),
    ...optionalNumber,
    option: 'relative-cost',
    help: 'price of a token relative to other deployments: 1.1 is ten percent more than 1; or none',
    doc: 'price of a token relative to other deployments of its models: 1.1 is ten percent more than 1; a [tolerance](routing.md#tolerance) compares them',
  },
  weight: {
    entry: z.number().min(0).max(1000),
    snapshot: z.number().nonnegative(),
    otherwise: 1,
    option: 'weight',
    form: 'number',
    help: 'its part of the calls of its region, relative to other deployments of its models there; 0: only for fail-over',
    doc: 'its part of the calls of its region, relative to [other deployments of its models there](routing.md#within-a-region); 1 unless given, and 0 is for fail-over alone',
  },
  max_concurrent_requests: {
    entry: z.int().min(1).max(100_000).nullable(),
    snapshot: z.int().positive().nullable(),
    ...optionalNumber,
    option: 'max-concurrent',
    help: 'concurrent calls that it takes from each Envoy, or none',
    doc: 'concurrent calls that it takes from each Envoy; further calls [go elsewhere](routing.md#capacity). Unlimited by default',
  },
} as const satisfies FieldTable;
