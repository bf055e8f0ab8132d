/** Anthropic's `POST /v1/messages/count_tokens`: the request of a message, of which only the prompt is read. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { messageCountRequestSchema } from '@gw/contract/messages';
import { messagesApi } from '@gw/contract/messages-errors';
import type { ApiShape, Prompt, ReplyTally } from '../port/shape.ts';
import { isObject, listOf } from './prompt-size.ts';
import { anthropicMessages } from './shape.ts';

const { request: ofMessages } = anthropicMessages;
const field = 'input_tokens';

export const anthropicCounts: ApiShape = {
  ...anthropicMessages,
  name: 'count_tokens',
  path: '/v1/messages/count_tokens',
  counts: messagesApi,
  request: {
    ...ofMessages,
    schema: messageCountRequestSchema,
    describe: (body, promptBytes) => ({
      ...ofMessages.describe(body, promptBytes),
      stream: false,
      wantsUsage: false,
      outputField: null,
      maxTokens: null,
    }),
    prompt: countedPrompt,
    integers: [],
    bound: null,
    samples: [],
  },
  reply: {
    tally: () => ({ ...nothingSaid }),
    isFailure: ({ [field]: tokens }) => !Number.isSafeInteger(tokens) || Number(tokens) < 0,
    mended: (_text, { [field]: tokens }) => written(Number(tokens)),
    stream: null,
  },
};

/** Returns the reply that tells a count. */
export function written(tokens: number) {
  const value = { [field]: tokens };
  return { text: JSON.stringify(value), value };
}

const nothingSaid: ReplyTally = {
  claim: null,
  isStale: false,
  answerBytes: 0,
  reasoningBytes: 0,
  otherBytes: 0,
  isFiltered: false,
  take: () => undefined,
};

/** Tokens by which chat formats frame a message and the beginning of the answer, as far as their publishers say. */
const tokensOf = { message: 4, answer: 3 } as const;

/** Returns the texts of the prompt, with the tools and their calls as JSON. It is not whole where it has pictures, files, tools that a provider defines and the like. */
function countedPrompt({ messages, output_config: config, system, tools }: JsonObject): Prompt {
  const texts: string[] = [];
  let isWhole = true;
  const add = (content: unknown): void => {
    if (typeof content === 'string') texts.push(content);
    for (const block of listOf(content)) if (!isObject(block) || !addBlock(block)) isWhole = false;
  };
  const addBlock = (block: JsonObject): boolean => {
    const { content, input, name, source, text, type } = block;
    if (type === 'text') texts.push(String(text));
    else if (type === 'tool_use') texts.push(String(name), JSON.stringify(input));
    else if (type === 'tool_result') add(content);
    else if (type === 'document' && isObject(source) && source.type === 'text') texts.push(String(source.data));
    // Thoughts of earlier turns are not read again.
    else return type === 'thinking' || type === 'redacted_thinking';
    return true;
  };
  add(system);
  const turns = listOf(messages);
  for (const turn of turns) if (isObject(turn)) add(turn.content);
  for (const tool of listOf(tools)) {
    texts.push(JSON.stringify(tool));
    // Its provider alone knows what the model reads of a tool without a schema.
    if (!isObject(tool) || tool.input_schema == null) isWhole = false;
  }
  if (isObject(config) && config.format != null) texts.push(JSON.stringify(config.format));
  const framed = turns.length + (system == null ? 0 : 1);
  return { texts, frame: framed * tokensOf.message + tokensOf.answer, isWhole, together: true };
}
