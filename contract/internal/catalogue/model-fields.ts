/** The fields of a model. Units: billions of parameters, bits per weight, tokens per second, seconds. */
import { z } from 'zod';
import { sourceSchema } from './evidence.ts';
import { type FieldTable, nameSchema, optionalNumber } from './field.ts';
import { tokenizers } from './tokenizers.ts';

export const modelClasses = [
  'small',
  'medium',
  'large',
  'moe_small_active',
  'frontier',
  'unknown',
  'embedding',
] as const;

/** Used in paths, so it has no empty segment and none that begins with a dot. */
export const modelIdSchema = z
  .string()
  .max(200)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.:@+~-]*(\/[A-Za-z0-9][A-Za-z0-9_.:@+~-]*)*$/,
    'must be letters, digits and any of _.:@+~- in parts between slashes',
  );
export const modelIdDoc = 'clients send it; may hold slashes';

const kind = z.enum(['chat', 'embedding']);
const modelClass = z.enum(modelClasses).nullable();
const billions = z.number().min(0.001).max(100_000);
/** An exact count becomes a range of one value. */
const parameters = z
  .union(
    [
      billions.transform((count) => ({ min: count, max: count })),
      z.strictObject({ min: billions, max: billions }).refine(({ min, max }) => min <= max),
    ],
    'must be billions of parameters from 0.001 to 100000: a number, or {"min","max"}',
  )
  .nullable();
const parametersRead = z.object({ min: z.number().positive(), max: z.number().positive() }).nullable();
const range = 'billions: a number, or `{"min","max"}` where only a range is known';

export const modelFields = {
  owned_by: { entry: nameSchema, snapshot: z.string(), needed: true, option: 'owned-by', help: 'who made it' },
  kind: {
    entry: kind,
    snapshot: kind,
    needed: true,
    option: 'kind',
    help: 'chat or embedding',
    doc: '`chat` or `embedding`: what it serves',
  },
  context_window: {
    entry: z.int().min(1).max(2_147_483_647).nullable(),
    snapshot: z.int().positive().nullable(),
    ...optionalNumber,
    option: 'context-window',
    help: 'tokens, or none',
  },
  modalities: {
    entry: z
      .array(z.enum(['text', 'image', 'audio', 'video']))
      .min(1)
      .max(4),
    snapshot: z.array(z.string()),
    otherwise: ['text'],
    option: 'modalities',
    form: 'words',
    help: 'any of text, image, audio, video, separated by commas',
    doc: 'any of `text`, `image`, `audio`, `video`; only text by default',
  },
  takes_temperature: {
    entry: z.boolean(),
    /** False for models that refuse a temperature, to which none may be added. */
    snapshot: z.boolean(),
    option: 'takes-temperature',
    form: 'yes_or_no',
    help: 'yes or no',
    doc: 'false for models that refuse one; unless given, true for `chat`',
  },
  tokenizer: {
    entry: z.enum(tokenizers).nullable(),
    /** Null: unknown, so prompts are not counted and token lists are refused. */
    snapshot: z.string().nullable(),
    otherwise: null,
    option: 'tokenizer',
    help: 'o200k_base, cl100k_base, p50k_base, r50k_base or none',
    doc: "`o200k_base`, `cl100k_base`, `p50k_base` or `r50k_base`, OpenAI's vocabularies: [prompts are counted](prompt-length.md) with it, and [lists of tokens](decisions/0008-token-arrays.md) are taken only where it is known",
  },
  active_parameters_b: {
    entry: parameters,
    shown: parametersRead,
    snapshot: parametersRead,
    columns: ['activeParametersMinB', 'activeParametersMaxB'],
    otherwise: null,
    option: 'active',
    form: 'range',
    help: 'billions of active parameters: 8, 30-40 or none',
    doc: `those active per token; ${range}`,
  },
  total_parameters_b: {
    entry: parameters,
    shown: parametersRead,
    snapshot: parametersRead,
    columns: ['totalParametersMinB', 'totalParametersMaxB'],
    otherwise: null,
    option: 'total',
    form: 'range',
    help: 'billions of parameters: 8, 30-40 or none',
    doc: `all of them; ${range}`,
  },
  parameters_source: {
    entry: sourceSchema.nullable(),
    snapshot: z.string().nullable(),
    shown: z.string().nullable(),
    otherwise: null,
    option: 'parameters-source',
    help: 'who says how many parameters there are: a text or an address, or none',
    doc: 'who says how many parameters there are: a text or an address. [Changed numbers have none](#who-vouches-for-what) until it is entered again',
  },
  model_class: {
    entry: modelClass,
    snapshot: modelClass,
    otherwise: null,
    option: 'class',
    help: 'small, medium, large, moe_small_active, frontier, unknown (any size), embedding or none',
    doc: '`small`, `medium`, `large`, `moe_small_active`, `frontier`, `unknown` or `embedding`: its size where no parameters are known. `unknown` is a chat model of any size, with [bounds to match](#known-models)',
  },
  quantization_bits: {
    entry: z.number().min(1).max(64).nullable(),
    snapshot: z.number().positive().nullable(),
    ...optionalNumber,
    option: 'bits',
    help: 'bits of a weight, or none',
    doc: 'bits of a weight; receipts assume 8 where nobody states them',
  },
  tokens_per_s: {
    entry: z.number().min(0.01).max(1_000_000).nullable(),
    snapshot: z.number().positive().nullable(),
    ...optionalNumber,
    option: 'tokens-per-s',
    help: 'measured output tokens per second, or none',
    doc: 'measured output tokens per second, which receipts by `ecologits-0.11.3` use',
  },
  ttft_s: {
    entry: z.number().min(0).max(3600).nullable(),
    snapshot: z.number().nonnegative().nullable(),
    ...optionalNumber,
    option: 'ttft',
    help: 'measured seconds to the first token, or none',
    doc: 'measured seconds to the first token, which receipts by `ecologits-0.11.3` use',
  },
  hidden_reasoning: {
    entry: z.boolean().nullable(),
    /** Null: unknown, so a count of unseen tokens is doubtful, and charged. */
    snapshot: z.boolean().nullable(),
    otherwise: null,
    option: 'hidden-reasoning',
    form: 'yes_or_no',
    help: 'whether it thinks without showing it: yes, no or none',
    doc: 'whether it thinks without showing or itemising it. [With `false`](receipts.md#whose-token-counts-they-are) a count of more tokens than the text shows degrades the receipt; null where nobody knows',
  },
  reads_by_itself: {
    entry: z.boolean().nullable(),
    /** The same for what it read. */
    snapshot: z.boolean().nullable(),
    otherwise: null,
    option: 'reads-by-itself',
    form: 'yes_or_no',
    help: 'whether it searches or reads what nobody sent: yes, no or none',
    doc: 'whether it searches, or reads what nobody sent, without being asked to. [With `false`](receipts.md#whose-token-counts-they-are) a count of more tokens than the request can have degrades the receipt; null where nobody knows',
  },
} as const satisfies FieldTable;
