/** OpenAI's `POST /v1/chat/completions`. */
import { chatRequestSchema } from '@gw/contract/chat';
import { requestText } from '@gw/policy/request-text';
import { chunkStream } from '../openai/chunk-stream.ts';
import { askingForUsage, outputOf } from '../openai/given.ts';
import { jsonReply } from '../openai/reply-counts.ts';
import type { ApiShape } from '../port/shape.ts';
import { chatContradiction } from './contradictions.ts';
import { chatPrompt } from './prompt.ts';
import { chatPromptSize } from './prompt-size.ts';

const words = 'Hello, what is a gateway? '.repeat(10);

export const openaiChat: ApiShape = {
  name: 'chat',
  path: '/v1/chat/completions',
  kind: 'chat',
  request: {
    schema: chatRequestSchema,
    promptField: 'messages',
    list: null,
    contradiction: chatContradiction,
    describe: (body, promptBytes) => {
      const answers = typeof body.n === 'number' ? body.n : 1;
      return {
        ...outputOf(body),
        ...chatPromptSize(body, promptBytes),
        prompts: 1,
        answers,
        candidates: typeof body.best_of === 'number' ? Math.max(answers, body.best_of) : answers,
        echoes: body.echo === true,
      };
    },
    prompt: chatPrompt,
    texts: (body, decoded) => requestText(body, decoded).texts,
    askingForUsage,
    hasTemperature: true,
    samples: [
      { messages: [{ role: 'user', content: words }], temperature: 0.5, stream: true },
      { messages: [{ role: 'user', content: [{ type: 'text', text: words }] }], tools: [] },
    ],
  },
  reply: { ...jsonReply, stream: chunkStream('chat.completion.chunk', 'chatcmpl-') },
};
