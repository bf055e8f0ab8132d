/**
 * The headers that a provider gets because of its API, beside those of every call.
 *
 * Invariant: a client's value goes on only where the client speaks that API too, and of features to switch on only those by which the
 * provider calls nobody else and keeps nothing.
 */

type Given = (name: string) => string | undefined;
type HeaderRule = (given: string | undefined) => string | null;

/** The one that all of Anthropic's models and its clients know. */
const usualVersion = '2023-06-01';

/** Beginnings of names; behind each stands the day of its release. */
const harmlessFeatures = [
  'claude-code',
  'compact',
  'computer-use',
  'context-1m',
  'context-management',
  'effort',
  'extended-cache-ttl',
  'fine-grained-tool-streaming',
  'interleaved-thinking',
  'mid-conversation-output-config',
  'mid-conversation-system-clear-at',
  'model-context-window-exceeded',
  'output-128k',
  'output-300k',
  'pdfs',
  'prompt-caching',
  'prompt-caching-scope',
  'search-results',
  'structured-outputs',
  'task-budgets',
  'thinking-binding-controls',
  'thinking-display-updates',
  'thinking-token-count',
  'token-counting',
  'token-efficient-tools',
  'tool-examples',
];
const isHarmless = (feature: string): boolean =>
  harmlessFeatures.some(
    (name) => feature.startsWith(`${name}-`) && /^-\d{4}-?\d{2}-?\d{2}$/.test(feature.slice(name.length)),
  );

/** More than any client sends. */
const longestFeatures = 2000;

const ofAnthropic: Readonly<Record<string, HeaderRule>> = {
  'anthropic-version': (given) => (given !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(given) ? given : usualVersion),
  'anthropic-beta': (given = '') => {
    const features = given
      .slice(0, longestFeatures)
      .split(',')
      .map((each) => each.trim());
    return features.filter(isHarmless).join(',') || null;
  },
};

const rules: Readonly<Record<string, Readonly<Record<string, HeaderRule>>>> = {
  messages: ofAnthropic,
  count_tokens: ofAnthropic,
};

/** Returns the headers for the providers of a call, whose APIs are these. `endpoint`: the API of the client. */
export function providerHeaders(endpoint: string, apis: ReadonlySet<string>, given: Given): [string, string][] {
  return [...apis].flatMap((api) =>
    Object.entries(rules[api] ?? {}).flatMap(([name, rule]): [string, string][] => {
      const value = rule(api === endpoint ? given(name) : undefined);
      return value === null ? [] : [[name, value]];
    }),
  );
}
