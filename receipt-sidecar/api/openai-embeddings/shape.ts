/** OpenAI's `POST /v1/embeddings`. */
import { embeddingRequestSchema } from '@gw/contract/embeddings';
import { errorBody } from '@gw/contract/errors';
import { requestText } from '@gw/policy/request-text';
import { promptCount, promptTexts } from '../openai/given.ts';
import { jsonReply } from '../openai/reply-counts.ts';
import { sizeOfTexts } from '../port/prompt-size.ts';
import type { ApiShape } from '../port/shape.ts';

export const openaiEmbeddings: ApiShape = {
  name: 'embeddings',
  path: '/v1/embeddings',
  kind: 'embedding',
  errorBody,
  request: {
    schema: embeddingRequestSchema,
    promptField: 'input',
    // Empty text cannot be embedded.
    list: { field: 'input', isText: (value) => typeof value === 'string' && value !== '' },
    contradiction: () => null,
    describe: ({ input }, promptBytes) => {
      const prompts = promptCount(input);
      return {
        ...sizeOfTexts(input, promptBytes),
        stream: false,
        wantsUsage: false,
        prompts,
        answers: 1,
        candidates: 1,
        echoes: false,
        outputField: null,
        maxTokens: null,
        asksToRead: false,
        affinity: null,
      };
    },
    prompt: ({ input }) => ({ texts: promptTexts(input), frame: 0, isWhole: true, together: false }),
    texts: (body, decoded) => requestText(body, decoded).texts,
    integers: ['dimensions'],
    askingForUsage: () => new Map(),
    fixed: new Map(),
    bound: null,
    hasTemperature: false,
    samples: [{ input: 'Hello, what is a gateway? '.repeat(10) }],
  },
  reply: { ...jsonReply('data'), stream: null },
};
