/** OpenAI's `POST /v1/completions`. */
import { completionRequestSchema } from '@gw/contract/completions';
import { type ApiError, errorBody, fieldError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { requestText } from '@gw/policy/request-text';
import { chunkStream } from '../openai/chunk-stream.ts';
import {
  askingForUsage,
  integers,
  isGiven,
  outputOf,
  promptCount,
  promptTexts,
  streamContradiction,
} from '../openai/given.ts';
import { jsonReply } from '../openai/reply-counts.ts';
import { textChoice } from '../openai/whole-as-chunks.ts';
import { sizeOfTexts } from '../port/prompt-size.ts';
import type { ApiShape } from '../port/shape.ts';

function contradiction(body: JsonObject): ApiError | null {
  const { best_of: best, n, stream } = body;
  const ofStream = streamContradiction(body);
  if (ofStream || !isGiven(best)) return ofStream;
  const wanted = typeof n === 'number' ? n : 1;
  if (Number(best) < wanted) return fieldError('best_of', '`best_of` has to be at least `n`.');
  if (Number(best) > wanted && stream === true)
    return fieldError('best_of', '`best_of` above `n` cannot be streamed: the best is only known at the end.');
  return null;
}

export const openaiCompletions: ApiShape = {
  name: 'completions',
  path: '/v1/completions',
  kind: 'chat',
  errorBody,
  request: {
    schema: completionRequestSchema,
    promptField: 'prompt',
    // Empty text can be completed.
    list: { field: 'prompt', isText: (value) => typeof value === 'string' },
    contradiction,
    describe: (body, promptBytes) => {
      const prompts = promptCount(body.prompt);
      const answers = (typeof body.n === 'number' ? body.n : 1) * prompts;
      return {
        ...outputOf(body),
        ...sizeOfTexts(body.prompt, promptBytes),
        prompts,
        answers,
        candidates: typeof body.best_of === 'number' ? Math.max(answers, body.best_of * prompts) : answers,
        echoes: body.echo === true,
      };
    },
    prompt: ({ prompt }) => ({ texts: promptTexts(prompt ?? ''), frame: 0, isWhole: true, together: false }),
    texts: (body, decoded) => requestText(body, decoded).texts,
    integers,
    askingForUsage,
    fixed: new Map(),
    // OpenAI and vLLM write so many.
    bound: { field: 'max_tokens', usual: 16 },
    hasTemperature: true,
    samples: [{ prompt: ['Hello, what is a gateway? '.repeat(10)], n: 1 }],
  },
  reply: { ...jsonReply('choices'), stream: chunkStream('text_completion', 'cmpl-', textChoice) },
};
