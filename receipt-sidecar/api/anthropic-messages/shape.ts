/** Anthropic's `POST /v1/messages`. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { messageRequestSchema } from '@gw/contract/messages';
import { messagesApi, messagesErrorBody } from '@gw/contract/messages-errors';
import { requestText } from '@gw/policy/request-text';
import { affinityBy } from '../port/affinity.ts';
import type { ApiShape, Prompt } from '../port/shape.ts';
import { hostedToolsOf, messageContradiction } from './contradictions.ts';
import { MessageCounts } from './counts.ts';
import { messageStream } from './event-stream.ts';
import { isObject, listOf, messagePromptSize } from './prompt-size.ts';

const words = 'Hello, what is a gateway? '.repeat(10);

export const anthropicMessages: ApiShape = {
  name: messagesApi,
  path: '/v1/messages',
  kind: 'chat',
  errorBody: messagesErrorBody,
  request: {
    schema: messageRequestSchema,
    promptField: 'messages',
    list: null,
    contradiction: messageContradiction,
    describe: (body, promptBytes) => {
      const hostedTools = hostedToolsOf(body);
      return {
        ...messagePromptSize(body, promptBytes),
        stream: body.stream === true,
        // Clients read it without a look.
        wantsUsage: body.stream === true,
        prompts: 1,
        answers: 1,
        candidates: 1,
        echoes: false,
        outputField: 'max_tokens',
        maxTokens: typeof body.max_tokens === 'number' ? body.max_tokens : null,
        asksToRead: linksOf(body) || hostedTools.length > 0,
        ...(hostedTools.length > 0 && { hostedTools }),
        affinity: isObject(body.metadata) ? affinityBy(body.metadata, ['user_id']) : null,
      };
    },
    prompt: messagePrompt,
    texts: (body, decoded = []) => requestText(body, [...plainDocuments(body), ...decoded]).texts,
    integers: ['max_tokens', 'top_k'],
    fixed: new Map(),
    askingForUsage: () => new Map(),
    bound: { field: 'max_tokens', usual: null },
    hasTemperature: false,
    samples: [
      { messages: [{ role: 'user', content: words }], max_tokens: 64, stream: true },
      { messages: [{ role: 'user', content: [{ type: 'text', text: words }] }], max_tokens: 64, tools: [] },
    ],
  },
  reply: {
    tally: () => new MessageCounts(),
    isFailure: (reply) => reply.type === 'error' || Boolean(reply.error) || !Array.isArray(reply.content),
    mended: (text, value) => ({ text, value }),
    stream: messageStream,
  },
};

/** All blocks of a request, those in results of tools among them. */
function* blocksOf({ messages, system }: JsonObject): Generator<JsonObject> {
  const contents: unknown[] = [system, ...listOf(messages).map((message) => isObject(message) && message.content)];
  for (let content = contents.pop(); contents.length > 0 || content !== undefined; content = contents.pop())
    for (const block of listOf(content)) {
      if (!isObject(block)) continue;
      yield block;
      contents.push(block.content);
    }
}

/** Returns the texts of documents, whose field holds encoded bytes in documents of other types. */
function plainDocuments(body: JsonObject): string[] {
  const texts: string[] = [];
  for (const { source } of blocksOf(body))
    if (isObject(source) && source.type === 'text' && typeof source.data === 'string') texts.push(source.data);
  return texts;
}

/** Whether the provider has to read a document that the request only links. */
function linksOf(body: JsonObject): boolean {
  for (const { source, type } of blocksOf(body))
    if (type === 'document' && isObject(source) && source.type === 'url') return true;
  return false;
}

/** Fields that add to the prompt in a form that only the provider knows. */
const beside = ['tools', 'thinking', 'output_config'];

/** Returns the prompt as far as its tokens can be counted for certain. */
function messagePrompt(body: JsonObject): Prompt {
  const contents = [body.system, ...listOf(body.messages).map((message) => isObject(message) && message.content)];
  const parts = contents.map(contentOf);
  return {
    texts: parts.map(({ text }) => text),
    frame: 0,
    isWhole: parts.every(({ isWhole }) => isWhole) && !beside.some((name) => body[name] != null),
    together: true,
  };
}

/** Returns the text of a content. Its blocks are joined by nothing, so that the count is not too high. */
function contentOf(content: unknown): { readonly text: string; readonly isWhole: boolean } {
  if (typeof content === 'string') return { text: content, isWhole: true };
  const blocks = listOf(content).filter(isObject);
  const texts = blocks.flatMap(({ text, type }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return { text: texts.join(''), isWhole: texts.length === blocks.length };
}
