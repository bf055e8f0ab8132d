/** Writes replies of chat completions, whole or chunk by chunk. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ClientEvent } from '../../port/translator.ts';
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
  end: 'stop',
  sequence: 'stop',
  pause: 'stop',
  length: 'length',
  context: 'length',
  tools: 'tool_calls',
  refusal: 'content_filter',
  filter: 'content_filter',
};

const usageOf = ({ cached, completion, prompt, reasoning, stored }: Usage): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached, ...(stored > 0 && { cache_write_tokens: stored }) },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

export function writeReply({ blocks, ending, origin, usage }: Reply): string {
  const of = (kind: Block['kind']) => blocks.filter((block) => block.kind === kind);
  const text = (list: readonly WholeBlock[]) => list.map((block) => block.text).join('');
  const [texts, refusals, thoughts] = [of('text'), of('refusal'), of('thinking')];
  const calls = blocks.filter(({ kind }) => kind === 'use' || kind === 'free');
  const refusal = refusals.length > 0 ? text(refusals) : ending.explanation;
  const message: JsonObject = { role: 'assistant', content: texts.length > 0 ? text(texts) : null, refusal };
  if (thoughts.some((thought) => thought.text !== '')) message.reasoning_content = text(thoughts);
  const sealed = thoughts.flatMap(({ name, seal, text }) =>
    seal === null ? [] : [sealedBlock(text, seal, name === hidden)],
  );
  if (sealed.length > 0) message.thinking_blocks = sealed;
  if (calls.length > 0) message.tool_calls = calls.map((block) => callOf(block, block.text));
  const lists = [texts, refusals].map((list) => list.flatMap((block) => block.logprobs ?? []));
  const [content = [], refused = []] = lists;
  const hasLogprobs = content.length + refused.length > 0;
  const logprobs = hasLogprobs ? { content, refusal: refused.length > 0 ? refused : null } : null;
  const choice = { index: 0, message, logprobs, finish_reason: reasonOf(ending, refusals.length > 0) };
  const head = { id: `chatcmpl-${origin.id}`, object: 'chat.completion', created: origin.created, model: origin.model };
  return JSON.stringify({ ...head, choices: [choice], ...(usage && { usage: usageOf(usage) }) });
}

/** A refusal in words of its own is an answer here. */
const reasonOf = ({ why }: Ending, hasWords: boolean): string =>
  why === 'refusal' && hasWords ? 'stop' : reasons[why];

const sealedBlock = (thinking: string, seal: string, isHidden: boolean): JsonObject =>
  isHidden ? { type: 'redacted_thinking', data: seal } : { type: 'thinking', thinking, signature: seal };

function callOf({ id, kind, name }: Block, input: string): JsonObject {
  if (kind === 'free') return { id, type: 'custom', custom: { name, input } };
  return { id, type: 'function', function: { name, arguments: input } };
}

export class ChatWriter implements FlowWriter {
  #out: ClientEvent[] = [];
  /** The members that all chunks have, with what opens them. */
  #head = '{';
  #block: Block | null = null;
  #calls = 0;
  #hasRefused = false;

  take(): ClientEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  start({ created, id, model }: Origin): void {
    const head = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created, model };
    this.#head = `${JSON.stringify(head).slice(0, -1)},`;
    this.#say({ role: 'assistant', content: '' });
  }

  open(block: Block): void {
    this.#block = block;
    if (block.kind === 'refusal') this.#hasRefused = true;
    if (block.kind === 'use' || block.kind === 'free')
      this.#say({ tool_calls: [{ index: this.#calls, ...callOf(block, '') }] });
  }

  add(text: string, logprobs: readonly unknown[] | null): void {
    switch (this.#block?.kind) {
      case 'text':
        return this.#say({ content: text }, logprobs && { content: logprobs, refusal: null });
      case 'refusal':
        return this.#say({ refusal: text }, logprobs && { content: null, refusal: logprobs });
      case 'thinking':
        return this.#say({ reasoning_content: text });
      case 'use':
        return this.#say({ tool_calls: [{ index: this.#calls, function: { arguments: text } }] });
      case 'free':
        return this.#say({ tool_calls: [{ index: this.#calls, custom: { input: text } }] });
    }
  }

  seal(seal: string): void {
    this.#say({ thinking_blocks: [sealedBlock('', seal, this.#block?.name === hidden)] });
  }

  close(): void {
    if (this.#block?.kind === 'use' || this.#block?.kind === 'free') this.#calls += 1;
    this.#block = null;
  }

  end(ending: Ending, usage: Usage | null): void {
    if (ending.explanation !== null && !this.#hasRefused) this.#say({ refusal: ending.explanation });
    this.#chunk({ choices: [{ index: 0, delta: {}, finish_reason: reasonOf(ending, this.#hasRefused) }] });
    if (usage) this.#chunk({ choices: [], usage: usageOf(usage) });
  }

  #say(delta: JsonObject, logprobs: JsonObject | null = null): void {
    const choice = { index: 0, delta, finish_reason: null, ...(logprobs && { logprobs }) };
    this.#chunk({ choices: [choice] });
  }

  #chunk(rest: JsonObject): void {
    this.#out.push({ name: null, text: this.#head + JSON.stringify(rest).slice(1) });
  }
}
