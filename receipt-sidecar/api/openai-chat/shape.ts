/** OpenAI's `POST /v1/chat/completions`. */
import { chatRequestSchema } from '@gw/contract/chat';
import { errorBody } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { requestText } from '@gw/policy/request-text';
import { chunkStream } from '../openai/chunk-stream.ts';
import { askingForUsage, integers, outputOf } from '../openai/given.ts';
import { jsonReply } from '../openai/reply-counts.ts';
import { chatChoice } from '../openai/whole-as-chunks.ts';
import type { ApiShape, Prompt } from '../port/shape.ts';
import { chatContradiction } from './contradictions.ts';
import { refusedLink } from './linked-hosts.ts';
import { chatPromptSize } from './prompt-size.ts';

const words = 'Hello, what is a gateway? '.repeat(10);

export const openaiChat: ApiShape = {
  name: 'chat',
  path: '/v1/chat/completions',
  kind: 'chat',
  errorBody,
  request: {
    schema: chatRequestSchema,
    promptField: 'messages',
    list: null,
    contradiction: (body) => chatContradiction(body) ?? refusedLink(body),
    describe: (body, promptBytes) => {
      const answers = typeof body.n === 'number' ? body.n : 1;
      return {
        ...outputOf(body),
        ...chatPromptSize(body, promptBytes),
        prompts: 1,
        answers,
        candidates: typeof body.best_of === 'number' ? Math.max(answers, body.best_of) : answers,
        echoes: body.echo === true,
        ...(Array.isArray(body.modalities) && body.modalities.includes('audio') && { speaks: true }),
      };
    },
    prompt: chatPrompt,
    texts: (body, decoded) => requestText(body, decoded).texts,
    integers,
    askingForUsage,
    fixed: new Map(),
    // The newer max_completion_tokens is unknown to many servers.
    bound: { field: 'max_tokens', usual: null },
    hasTemperature: true,
    samples: [
      { messages: [{ role: 'user', content: words }], temperature: 0.5, stream: true },
      { messages: [{ role: 'user', content: [{ type: 'text', text: words }] }], tools: [] },
    ],
  },
  reply: { ...jsonReply('choices'), stream: chunkStream('chat.completion.chunk', 'chatcmpl-', chatChoice) },
};

/** Tokens that frame each message in OpenAI's chat format besides its role, and that open the reply. */
const tokensOfFrame = 3;
const tokensOfRole = 1;
/** Fields that add to the prompt in a form that only the provider knows. */
const beside = ['tools', 'functions', 'response_format'];
const plainFields = new Set(['role', 'content']);

/** Returns the prompt as far as its tokens can be counted for certain. */
function chatPrompt(body: JsonObject): Prompt {
  const messages = body.messages as readonly JsonObject[];
  const contents = messages.map(contentOf);
  return {
    texts: contents.map(({ text }) => text),
    frame: messages.length * (tokensOfFrame + tokensOfRole) + tokensOfFrame,
    isWhole: contents.every(({ isWhole }) => isWhole) && !beside.some((field) => body[field] != null),
    together: true,
  };
}

/** Returns the text of a message. Its parts are joined by nothing, so that the count is not too high. */
function contentOf(message: JsonObject): { readonly text: string; readonly isWhole: boolean } {
  const { content } = message;
  const isPlain = Object.keys(message).every((field) => plainFields.has(field) || message[field] === null);
  if (typeof content === 'string') return { text: content, isWhole: isPlain };
  const parts = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
  const texts = parts.flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []));
  return { text: texts.join(''), isWhole: isPlain && texts.length === parts.length };
}
