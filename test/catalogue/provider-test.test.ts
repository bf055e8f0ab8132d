/** `./gw admin providers test`, by the whole way that calls go: the simulated provider is found to speak all that its entry says. */
import { expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';

const at = '/operator/v1/providers/simulator';

// A model that only makes embeddings tells less, and is the first by its name.
test.each([
  [{}, 'chat/completions', 'usage'],
  [{ model: 'sim-embed' }, 'embeddings', null],
])('finds all APIs of the simulated provider and proposes none: %o', async (body, endpoint, usage) => {
  const found = await apiOf(stack).send('POST', `${at}/test`, body);
  expect(found).toMatchObject({
    works: true,
    message: expect.stringContaining('It answers as it should.'),
    asked: expect.stringMatching(new RegExp(`^POST .*/${endpoint}$`)),
    apis: { chat: 'spoken', completions: 'spoken', embeddings: 'spoken', responses: 'spoken', messages: 'spoken' },
    proposed_apis: null,
    refused_fields: [],
    usage_in_json: usage,
    usage_in_stream: usage,
    advice: [],
  });
});
