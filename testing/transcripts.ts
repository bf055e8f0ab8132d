/**
 * Replies as each known provider shapes and frames them, one file for each in `simulator/transcripts`. None was recorded from
 * a live service: they are written after what the pages in `source` say.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { operatorFaults } from '@gw/contract/internal/operator-faults';
import { inCheckout } from '@gw/stack/checkout';
import { z } from 'zod';

const count = z.int().nonnegative();
/** The counts that the receipt must state for a reply; null if the provider states none. */
export const counts = z.strictObject({
  prompt: count.nullable(),
  completion: count,
  cached: count.nullable(),
  reasoning: count.nullable(),
});
/** `before`: what stands in front of the body. */
const reply = z.strictObject({ before: z.string().default(''), body: z.looseObject({}), counts });
const event = z.union([z.string(), z.looseObject({})]);
/**
 * Events are chunks, which all have the fields of `each`, or lines as they are sent. `failing`: with which event the provider says
 * that it failed in the middle, and behind how many.
 */
const stream = z.strictObject({
  prefix: z.string().default('data: '),
  each: z.looseObject({}),
  events: z.array(event),
  counts,
  failing: z.strictObject({ after: z.int(), event }).optional(),
});
/** `told`: what the client gets; a message of null is ours. A body that is a text is sent as it is. */
const error = z.strictObject({
  status: z.int(),
  body: z.union([z.string(), z.looseObject({})]),
  /** The fault of the deployment that Envoy finds in it. */
  fault: z.enum(operatorFaults).optional(),
  told: z.strictObject({
    status: z.int(),
    code: z.string(),
    param: z.string().nullable(),
    message: z.string().nullable(),
  }),
});
const transcript = z.strictObject({
  provider: z.string(),
  source: z.array(z.url()).min(1),
  recorded: z.literal('not recorded from a live service: written by hand after the pages in `source`'),
  model: z.string(),
  embedding_model: z.string().optional(),
  json: reply,
  stream,
  errors: z.array(error).min(1),
  embeddings: reply.optional(),
});

export type Transcript = z.infer<typeof transcript>;
export type TranscriptReply = z.infer<typeof reply>;
export type TranscriptError = z.infer<typeof error>;

const folder = inCheckout('simulator', 'transcripts');

const filesIn = (path: string): string[] =>
  readdirSync(path).flatMap((file) => (file.endsWith('.json') ? readFileSync(`${path}/${file}`, 'utf8') : []));

export const transcripts: readonly Transcript[] = filesIn(folder).map((text) => transcript.parse(JSON.parse(text)));

/** Transcripts of APIs whose events have names: an event is named by its `type`, or is text as it is sent. */
const named = z.strictObject({
  ...transcript.pick({ provider: true, source: true, recorded: true, model: true, json: true }).shape,
  api: z.enum(['messages', 'responses']),
  stream: z.strictObject({ events: z.array(z.union([z.string(), z.looseObject({ type: z.string() })])), counts }),
  errors: z.array(error.extend({ body: z.union([z.looseObject({}), z.array(z.looseObject({}))]) })).min(1),
});
export type NamedTranscript = z.infer<typeof named>;

export const namedTranscripts: readonly NamedTranscript[] = ['messages', 'responses'].flatMap((api) =>
  filesIn(`${folder}/${api}`).map((text) => named.parse(JSON.parse(text))),
);

export const namedStreamOf = ({ stream: { events } }: NamedTranscript): string =>
  events
    .map((event) => (typeof event === 'string' ? event : `event: ${event.type}\ndata: ${JSON.stringify(event)}`))
    .map((text) => `${text}\n\n`)
    .join('');

export const textOf = ({ before, body }: TranscriptReply): string => before + JSON.stringify(body);

export const errorTextOf = ({ body }: TranscriptError): string =>
  typeof body === 'string' ? body : JSON.stringify(body);

/** The chunks of a stream, without its comments and its end. */
export const chunksOf = ({ stream: { each, events } }: Transcript): object[] =>
  events.flatMap((event): object[] => (typeof event === 'string' ? [] : [{ ...each, ...event }]));

export function streamTextOf({ stream: { each, events, prefix } }: Transcript): string {
  const lines = events.map((line) => (typeof line === 'string' ? line : prefix + JSON.stringify({ ...each, ...line })));
  return lines.map((line) => `${line}\n\n`).join('');
}

/** The same provider, whose streams fail; null if it is not known how it would say so. */
export function failingOf(transcript: Transcript): Transcript | null {
  const { failing, ...stream } = transcript.stream;
  if (!failing) return null;
  return { ...transcript, stream: { ...stream, events: [...stream.events.slice(0, failing.after), failing.event] } };
}
