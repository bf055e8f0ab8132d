/** Writes replies of Messages, whole or event by event. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ClientEvent } from '../../port/translator.ts';
import { objectIn, textIn, Written, write } from '../model/json.ts';
import {
  type Block,
  type Ending,
  type FlowWriter,
  hidden,
  type Origin,
  type Reply,
  type Stop,
  type Usage,
  type WholeBlock,
} from '../model/reply.ts';

const reasons: Readonly<Record<Stop, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  tools: 'tool_use',
  sequence: 'stop_sequence',
  refusal: 'refusal',
  filter: 'refusal',
  pause: 'pause_turn',
  context: 'model_context_window_exceeded',
};

const noUsage: Usage = { prompt: 0, completion: 0, cached: 0, stored: 0, reasoning: 0 };

const countsOf = ({ cached, completion, prompt, reasoning, stored }: Usage): JsonObject => ({
  input_tokens: Math.max(0, prompt - cached - stored),
  cache_creation_input_tokens: stored,
  cache_read_input_tokens: cached,
  output_tokens: completion,
  output_tokens_details: { thinking_tokens: reasoning },
  server_tool_use: null,
});

const usageOf = (usage: Usage): JsonObject => ({
  ...countsOf(usage),
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
});

function endOf({ explanation, sequence, why }: Ending): JsonObject {
  const isRefusal = why === 'refusal' || why === 'filter';
  return {
    stop_reason: reasons[why],
    stop_sequence: why === 'sequence' ? sequence : null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation } : null,
    container: null,
  };
}

const headOf = ({ id, model }: Origin): JsonObject => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
});

export function writeReply({ blocks, ending, origin, usage }: Reply): string {
  const content = blocks.map(wholeBlock);
  const rest = { ...endOf(ending), diagnostics: null, usage: usageOf(usage ?? noUsage) };
  return write({ ...headOf(origin), content, ...rest });
}

function wholeBlock({ seal, text, ...block }: WholeBlock): JsonObject {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', text, citations: null };
    case 'thinking':
      if (block.name === hidden) return { type: 'redacted_thinking', data: textIn(seal) };
      return { type: 'thinking', thinking: text, signature: textIn(seal) };
    default:
      // Arguments that are no JSON of an object stay what it is, as a text.
      return useOf(block, new Written(objectIn(text) ?? JSON.stringify(text)));
  }
}

const useOf = ({ id, name }: Block, input: unknown): JsonObject => ({
  type: 'tool_use',
  id,
  name,
  input,
  caller: { type: 'direct' },
});

export class MessagesWriter implements FlowWriter {
  #out: ClientEvent[] = [];
  #index = -1;
  /** Whether the data of the open block, a hidden thought, are still to come. */
  #isHidden = false;
  #block: Block | null = null;

  take(): ClientEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  start(origin: Origin): void {
    const nothing = { stop_reason: null, stop_sequence: null, stop_details: null, container: null, diagnostics: null };
    const message = { ...headOf(origin), content: [], ...nothing, usage: usageOf(noUsage) };
    this.#event({ type: 'message_start', message });
  }

  open(block: Block): void {
    this.#block = block;
    this.#index += 1;
    // The data of a hidden thought come whole.
    this.#isHidden = block.kind === 'thinking' && block.name === hidden;
    if (!this.#isHidden) this.#begin(beginning(block));
  }

  add(text: string): void {
    const { kind } = this.#block ?? {};
    if (this.#isHidden) return;
    if (kind === 'thinking') this.#say({ type: 'thinking_delta', thinking: text });
    else if (kind === 'use' || kind === 'free') this.#say({ type: 'input_json_delta', partial_json: text });
    else this.#say({ type: 'text_delta', text });
  }

  seal(seal: string): void {
    if (this.#isHidden) this.#begin({ type: 'redacted_thinking', data: seal });
    else this.#say({ type: 'signature_delta', signature: seal });
  }

  close(): void {
    if (this.#isHidden) this.#begin({ type: 'redacted_thinking', data: '' });
    this.#event({ type: 'content_block_stop', index: this.#index });
    this.#block = null;
  }

  end(ending: Ending, usage: Usage | null): void {
    this.#event({ type: 'message_delta', delta: endOf(ending), usage: usage ? countsOf(usage) : undefined });
    this.#event({ type: 'message_stop' });
  }

  #begin(block: JsonObject): void {
    this.#isHidden = false;
    this.#event({ type: 'content_block_start', index: this.#index, content_block: block });
  }

  #say(delta: JsonObject): void {
    this.#event({ type: 'content_block_delta', index: this.#index, delta });
  }

  #event(value: JsonObject & { readonly type: string }): void {
    this.#out.push({ name: value.type, text: JSON.stringify(value) });
  }
}

function beginning(block: Block): JsonObject {
  if (block.kind === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (block.kind === 'use' || block.kind === 'free') return useOf(block, {});
  return { type: 'text', text: '', citations: null };
}
