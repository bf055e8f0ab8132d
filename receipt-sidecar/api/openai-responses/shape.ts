/** OpenAI's `POST /v1/responses`. */
import { errorBody } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { wellFormed } from '@gw/contract/internal/well-formed';
import { responseRequestSchema } from '@gw/contract/responses';
import { requestText } from '@gw/policy/request-text';
import { isError } from '../openai/chunk.ts';
import { affinityOf, asksToRead } from '../openai/given.ts';
import type { ApiShape, Prompt } from '../port/shape.ts';
import { isObject, itemsOf, listOf } from './items.ts';
import { responsePromptSize } from './prompt-size.ts';
import { hostedToolsOf, responseRefusal } from './refusals.ts';
import { lastResort, ResponseReader } from './response-events.ts';
import { ResponseTally } from './response-tally.ts';
import { notStored } from './response-text.ts';
import { wholeAsEvents } from './whole-as-events.ts';

const words = 'Hello, what is a gateway? '.repeat(10);
const outputField = 'max_output_tokens';

export const openaiResponses: ApiShape = {
  name: 'responses',
  path: '/v1/responses',
  kind: 'chat',
  errorBody,
  request: {
    schema: responseRequestSchema,
    promptField: 'input',
    list: null,
    contradiction: responseRefusal,
    describe: (body, promptBytes) => {
      const most = body[outputField];
      const stream = body.stream === true;
      const hostedTools = hostedToolsOf(body);
      return {
        ...responsePromptSize(body, promptBytes),
        stream,
        wantsUsage: stream,
        prompts: 1,
        answers: 1,
        candidates: 1,
        echoes: false,
        outputField: typeof most === 'number' ? outputField : null,
        maxTokens: typeof most === 'number' ? most : null,
        asksToRead: asksToRead(body) || hostedTools.length > 0,
        ...(hostedTools.length > 0 && { hostedTools }),
        affinity: affinityOf(body),
      };
    },
    prompt: responsePrompt,
    texts: (body, decoded) => requestText(body, decoded).texts,
    integers: [outputField, 'top_logprobs', 'max_tool_calls'],
    askingForUsage: () => new Map(),
    // OpenAI stores a response unless it is told otherwise.
    fixed: new Map([['store', 'false']]),
    bound: { field: outputField, usual: null },
    hasTemperature: true,
    samples: [
      { input: words, temperature: 0.5, stream: true },
      { input: [{ role: 'user', content: [{ type: 'input_text', text: words }] }], tools: [] },
    ],
  },
  reply: {
    tally: () => new ResponseTally(),
    isFailure: (reply) => isError(reply) || isUnfinished(reply.status) || !Array.isArray(reply.output),
    mended: (text, value) => {
      const own = notStored(wellFormed(text), value);
      return { text: own, value: { ...value, store: false } };
    },
    stream: { lastResort, open: () => new ResponseReader(), whole: wholeAsEvents },
  },
};

/** A response that is not `completed` or `incomplete` has no answer, and none will come, since it was not asked for in the background. */
const isUnfinished = (status: unknown): boolean =>
  status === 'failed' || status === 'cancelled' || status === 'queued' || status === 'in_progress';

/** Tokens that frame an item, and that open the reply, as in OpenAI's chat format. */
const tokensOfFrame = 4;
const tokensOfOpening = 3;
/** Fields that add to the prompt in a form that only the provider knows. */
const beside = ['tools', 'text', 'reasoning'];
const plainFields: ReadonlySet<string> = new Set(['type', 'role', 'content', 'id', 'status']);

/** Returns the prompt as far as its tokens can be counted for certain. */
function responsePrompt(body: JsonObject): Prompt {
  const { input, instructions } = body;
  const contents = itemsOf(body).map(contentOf);
  const whole = [instructions, input].filter((text) => typeof text === 'string');
  const count = contents.length + whole.length;
  return {
    texts: [...whole, ...contents.map(({ text }) => text)],
    frame: count * tokensOfFrame + tokensOfOpening,
    isWhole: contents.every(({ isWhole }) => isWhole) && !beside.some((field) => body[field] != null),
    together: true,
  };
}

/** Returns the text of an item that is a message; nothing of any other. Its parts are joined by nothing, so that the count is not too high. */
function contentOf(item: JsonObject): { readonly text: string; readonly isWhole: boolean } {
  const { content, role } = item;
  const isPlain = role != null && Object.keys(item).every((field) => plainFields.has(field) || item[field] === null);
  if (!isPlain) return { text: '', isWhole: false };
  if (typeof content === 'string') return { text: content, isWhole: true };
  const parts = listOf(content);
  const texts = parts.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []));
  return { text: texts.join(''), isWhole: texts.length === parts.length };
}
