/** Writes whole replies of Responses, and the items that streams have in common with them. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Terms } from '../../port/translator.ts';
import { Written, write } from '../model/json.ts';
import { type Ending, hidden, type Origin, type Reply, type Usage, type WholeBlock } from '../model/reply.ts';
import { hiddenMark } from './settings.ts';

const usageOf = ({ cached, completion, prompt, reasoning, stored }: Usage): JsonObject => ({
  input_tokens: prompt,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: stored },
  output_tokens: completion,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: prompt + completion,
});

/** The settings that a response repeats, and what they are if the client has not set them. */
const usual: Readonly<Record<string, string>> = {
  instructions: 'null',
  max_output_tokens: 'null',
  metadata: '{}',
  parallel_tool_calls: 'true',
  reasoning: '{"effort":null,"summary":null}',
  temperature: '1',
  text: '{"format":{"type":"text"}}',
  tool_choice: '"auto"',
  tools: '[]',
  top_p: '1',
  truncation: '"disabled"',
};
export const repeatedFields: readonly string[] = Object.keys(usual);

export interface State {
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly output: readonly JsonObject[];
  readonly ending: Ending | null;
  readonly usage: Usage | null;
}

export function responseOf(origin: Origin, terms: Terms, { ending, output, status, usage }: State): JsonObject {
  const repeated = repeatedFields.map((name) => [name, new Written(terms.repeated[name] ?? usual[name] ?? 'null')]);
  const isCutByLength = ending?.why === 'length' || ending?.why === 'context';
  const reason = isCutByLength ? 'max_output_tokens' : 'content_filter';
  return {
    id: `resp_${origin.id}`,
    object: 'response',
    created_at: origin.created,
    status,
    background: false,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    model: origin.model,
    output,
    previous_response_id: null,
    store: false,
    ...Object.fromEntries(repeated),
    usage: usage && usageOf(usage),
  };
}

/** A refusal in words of its own is an answer. */
export const statusOf = ({ why }: Ending, hasRefused: boolean): State['status'] =>
  why === 'length' || why === 'context' || why === 'filter' || (why === 'refusal' && !hasRefused)
    ? 'incomplete'
    : 'completed';

/** The words in which a provider says beside its answer why the model has refused. */
export const explanationOf = ({ explanation }: Ending): WholeBlock | null =>
  explanation === null ? null : { kind: 'refusal', id: '', name: '', text: explanation, seal: null, logprobs: null };

/** Makes the items of a reply. Texts and refusals that follow each other are one message. */
export class Items {
  readonly all: JsonObject[] = [];
  readonly #response: string;

  constructor(origin: Origin) {
    this.#response = origin.id;
  }

  /** Returns the item that begins with a block: its place and its id. */
  begin(kind: WholeBlock['kind']): { readonly index: number; readonly id: string } {
    const prefix = kind === 'thinking' ? 'rs' : kind === 'use' ? 'fc' : kind === 'free' ? 'ctc' : 'msg';
    const index = this.all.length;
    return { index, id: `${prefix}_${this.#response}_${index}` };
  }
}

export const partOf = ({ kind, logprobs, text }: WholeBlock): JsonObject =>
  kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', annotations: [], logprobs: logprobs ?? [], text };

export const messageOf = (id: string, content: readonly JsonObject[], status: string): JsonObject => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});

/** Returns the item of a thought or a call. */
export function itemOf(id: string, block: WholeBlock, status: string): JsonObject {
  const { kind, name, seal, text } = block;
  if (kind === 'thinking') {
    const content = text === '' ? [] : [{ type: 'reasoning_text', text }];
    const sealed = seal === null ? undefined : name === hidden ? hiddenMark + seal : seal;
    return { id, type: 'reasoning', summary: [], content, ...(sealed && { encrypted_content: sealed }), status };
  }
  const called = { call_id: block.id, name };
  if (kind === 'free') return { id, type: 'custom_tool_call', ...called, input: text, status };
  return { id, type: 'function_call', ...called, arguments: text, status };
}

export const isAnswer = ({ kind }: Pick<WholeBlock, 'kind'>): boolean => kind === 'text' || kind === 'refusal';

export function writeReply({ blocks: told, ending, origin, usage }: Reply, terms: Terms): string {
  const items = new Items(origin);
  let parts: JsonObject[] | null = null;
  const words = told.some(({ kind }) => kind === 'refusal') ? null : explanationOf(ending);
  const blocks = words === null ? told : [...told, words];
  const status = statusOf(
    ending,
    blocks.some(({ kind }) => kind === 'refusal'),
  );
  for (const block of blocks) {
    if (isAnswer(block)) {
      if (parts === null) {
        parts = [];
        items.all.push(messageOf(items.begin('text').id, parts, status));
      }
      parts.push(partOf(block));
    } else {
      parts = null;
      items.all.push(itemOf(items.begin(block.kind).id, block, 'completed'));
    }
  }
  return write(responseOf(origin, terms, { status, output: items.all, ending, usage }));
}
