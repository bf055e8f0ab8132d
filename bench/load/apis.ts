/** The same call in the words of each API. */
import type { Call, Target } from './target.ts';

type MeasuredApi = 'chat' | 'responses' | 'messages';

export interface ApiScenario {
  readonly name: `${MeasuredApi}${' translated' | ''} ${'JSON' | 'stream'}`;
  readonly api: MeasuredApi;
  readonly isStream: boolean;
  /** The provider of its model speaks chat completions alone; else it speaks this API. */
  readonly isTranslated: boolean;
}

const ways = [
  ['chat', false],
  ['responses', false],
  ['messages', false],
  ['responses', true],
  ['messages', true],
] as const;
export const apiScenarios: readonly ApiScenario[] = ways.flatMap(([api, isTranslated]) =>
  ([false, true] as const).map((isStream): ApiScenario => {
    const way = isTranslated ? ' translated' : '';
    return { name: `${api}${way} ${isStream ? 'stream' : 'JSON'}`, api, isStream, isTranslated };
  }),
);

/** As long in each API: the provider answers with so many tokens. */
const tokens = 20;
const prompt = 'Say hello to the benchmark.';
const message = [{ role: 'user', content: prompt }];
const asked: Readonly<Record<MeasuredApi, { readonly path: string; readonly fields: object }>> = {
  chat: { path: 'chat/completions', fields: { messages: message, max_completion_tokens: 1000 } },
  responses: { path: 'responses', fields: { input: prompt, max_output_tokens: 1000 } },
  messages: { path: 'messages', fields: { messages: message, max_tokens: 1000 } },
};

/** Alike, but for what their providers speak. */
export interface ApiModels {
  readonly everyApi: string;
  readonly chatAlone: string;
}

export function apiCall(
  { baseUrl, headers }: Target,
  { api, isStream, isTranslated }: ApiScenario,
  { chatAlone, everyApi }: ApiModels,
): Call {
  const model = isTranslated ? chatAlone : everyApi;
  const { path, fields } = asked[api];
  const sim = { 'x-sim-tokens': String(tokens), 'x-sim-tokens-per-second': '0', 'x-sim-delay-ms': '0' };
  return {
    url: `${baseUrl}/${path}`,
    headers: { 'content-type': 'application/json', ...sim, ...headers },
    body: JSON.stringify({ model, ...fields, ...(isStream && { stream: true }) }),
  };
}
