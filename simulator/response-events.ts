/** The events of a stream of `POST /v1/responses`, in the order in which OpenAI sends them: each item begins, says its text, and ends. */
import type { EnergyReport } from './energy.ts';
import type { StreamReply } from './reply.ts';
import type { Fields } from './request.ts';
import { splitTokens } from './text.ts';

/** An item of the output, and its text, which a stream sends in pieces. */
export interface OutputItem {
  readonly item: Fields;
  readonly text: string;
}

export type ResponseEvents = Pick<StreamReply, 'head' | 'tokens' | 'tail' | 'failures'>;

/** The response at the beginning, at the end, and where it has failed. */
interface Told {
  readonly begun: Fields;
  readonly end: Fields;
  readonly failed: Fields;
  readonly items: readonly OutputItem[];
  readonly energy: EnergyReport;
}

/** Returns an event that has its number already. */
const event = (type: string, fields: Fields): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const words = { code: 'server_error', message: 'Simulated error inside a stream.' };
export const failedEnd = { error: words };

export function responseEvents({ begun, end, energy, failed, items }: Told): ResponseEvents {
  let number = 0;
  const next = (type: string, fields: Fields): string => event(type, { sequence_number: number++, ...fields });
  const head = ['created', 'in_progress'].map((type) => next(`response.${type}`, { response: begun }));
  const tokens = items.flatMap((item, at) => [...eventsOf(item, at, next)]);
  const { comments, fields, finalFields, lastFields } = energy;
  const whole = { ...end, ...fields, ...lastFields, ...finalFields };
  const tail = [...comments, next(`response.${String(end.status)}`, { response: whole })];
  const failures = {
    'error-event': event('error', { sequence_number: number, param: null, ...words }),
    'failed-event': event('response.failed', { sequence_number: number, response: failed }),
  };
  return { head, tokens, tail, failures };
}

type Next = (type: string, fields: Fields) => string;

function* eventsOf({ item, text }: OutputItem, output_index: number, next: Next): Iterable<string> {
  const place = { output_index, item_id: item.id };
  yield next('response.output_item.added', { output_index, item: { ...item, ...nothingSaid(item) } });
  const form = formOf(item);
  if (form !== null) {
    const { added, deltas, done, doneFields, kind, part } = form;
    const inPart = { ...place, ...part };
    if (kind !== null) yield next(`response.${kind}.added`, { ...inPart, part: added });
    for (const delta of splitTokens(text))
      yield next(`response.${deltas}.delta`, { ...inPart, delta, ...form.deltaFields });
    yield next(`response.${deltas}.done`, { ...inPart, ...doneFields(text) });
    if (kind !== null) yield next(`response.${kind}.done`, { ...inPart, part: done });
  }
  yield next('response.output_item.done', { output_index, item });
}

/** Returns the members of an item that has not said anything yet. */
function nothingSaid({ type }: Fields): Fields {
  if (type === 'message') return { status: 'in_progress', content: [] };
  if (type === 'reasoning') return { summary: [] };
  return { status: 'in_progress', ...(type === 'function_call' ? { arguments: '' } : { input: '' }) };
}

interface Form {
  /** The events of the part that holds the text; null where there are no parts. */
  readonly kind: string | null;
  readonly part: Fields;
  readonly added: unknown;
  readonly done: unknown;
  readonly deltas: string;
  readonly deltaFields: Fields;
  readonly doneFields: (text: string) => Fields;
}

const withoutParts = { kind: null, part: {}, added: null, done: null, deltaFields: {} };

/** Returns how an item says its text; null if it says none. */
function formOf({ content, name, summary, type }: Fields): Form | null {
  if (type === 'function_call')
    return { ...withoutParts, deltas: 'function_call_arguments', doneFields: (text) => ({ name, arguments: text }) };
  if (type === 'custom_tool_call')
    return { ...withoutParts, deltas: 'custom_tool_call_input', doneFields: (input) => ({ input }) };
  const [part] = (type === 'reasoning' ? summary : content) as readonly Fields[];
  if (part === undefined) return null;
  if (type === 'reasoning')
    return {
      kind: 'reasoning_summary_part',
      part: { summary_index: 0 },
      added: { ...part, text: '' },
      done: part,
      deltas: 'reasoning_summary_text',
      deltaFields: {},
      doneFields: (text) => ({ text }),
    };
  const isRefusal = part.type === 'refusal';
  return {
    kind: 'content_part',
    part: { content_index: 0 },
    added: { ...part, ...(isRefusal ? { refusal: '' } : { text: '' }) },
    done: part,
    deltas: isRefusal ? 'refusal' : 'output_text',
    deltaFields: isRefusal ? {} : { logprobs: [] },
    doneFields: (text) => (isRefusal ? { refusal: text } : { text, logprobs: [] }),
  };
}
