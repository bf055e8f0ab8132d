/** For each error of the public port, and each API, the official clients throw the class of its status, and say its code. */
import Anthropic from '@anthropic-ai/sdk';
import { errorCodes, requestId, serveErrors } from '@gw/testing/error-replies';
import { forFile } from '@gw/testing/for-file';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { errorCatalogue } from '../error-catalogue.ts';
import { messagesErrorTypes } from '../messages-errors.ts';
import { clientClass } from './client-classes.ts';

const replies = forFile(serveErrors);
const messages = [{ role: 'user' as const, content: 'Hello' }];
const model = 'any';
const once = { apiKey: 'any', maxRetries: 0 };

const apis = {
  chat: (url: string, stream: boolean) =>
    new OpenAI({ ...once, baseURL: `${url}/v1` }).chat.completions.create({ model, messages, stream }),
  responses: (url: string, stream: boolean) =>
    new OpenAI({ ...once, baseURL: `${url}/v1` }).responses.create({ model, input: 'Hello', stream }),
  messages: (url: string, stream: boolean) =>
    new Anthropic({ ...once, baseURL: url }).messages.create({ model, max_tokens: 10, messages, stream }),
};

const thrownBy = (ask: () => PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(ask()).then(
    () => null,
    (error: unknown) => error,
  );

describe.each(['chat', 'responses', 'messages'] as const)('%s', (api) => {
  const maker = api === 'messages' ? 'anthropic' : 'openai';
  test.each(errorCodes)('%s', async (code) => {
    const { status } = errorCatalogue[code];
    for (const stream of [false, true]) {
      const error = await thrownBy(() => apis[api](replies.url(code), stream));
      expect(error).toBeInstanceOf(api === 'messages' ? Anthropic.APIError : OpenAI.APIError);
      expect((error as Error).constructor.name).toBe(clientClass(status, maker, 'node'));
      expect(error).toMatchObject(
        api === 'messages'
          ? { status, requestID: requestId, type: messagesErrorTypes[code], error: { error: { code } } }
          : { status, requestID: requestId, code, type: errorCatalogue[code].type, error: { code } },
      );
    }
  });
});
