/** The headers of Anthropic's API. */

/** The only one of them that is in use. */
const usualVersion = '2023-06-01';

/**
 * Features that change how a model reads and writes, and nothing else. Others let a provider call servers, run code or read what it keeps;
 * they are left out, and the provider refuses the fields that need them.
 */
const features = [
  ...['adaptive-thinking', 'advanced-tool-use', 'claude-code', 'compact', 'computer-use', 'context-1m'],
  ...['context-management', 'effort', 'extended-cache-ttl', 'fast-mode', 'fine-grained-tool-streaming'],
  ...['interleaved-thinking', 'max-tokens-3-5-sonnet', 'model-context-window-exceeded', 'output-128k', 'output-300k'],
  ...['pdfs', 'prompt-caching', 'prompt-caching-scope', 'redact-thinking', 'structured-outputs', 'task-budgets'],
  ...['thinking-binding-controls', 'thinking-display-updates', 'thinking-token-count', 'token-counting'],
  ...['token-efficient-tools', 'tool-examples', 'tool-search-tool', 'inline-tools', 'cache-diagnosis'],
  ...['mid-conversation-output-config', 'mid-conversation-system-clear-at', 'mid-conversation-tool-changes'],
];
const allowed = new RegExp(`^(?:${features.join('|')})-\\d{4}-\\d{2}-\\d{2}$`);
const mostFeatures = 32;

export function messageHeaders(given: (name: string) => string | undefined): [name: string, value: string][] {
  const version = given('anthropic-version')?.trim();
  const wanted = given('anthropic-beta')?.split(',', mostFeatures) ?? [];
  const taken = wanted.map((name) => name.trim()).filter((name) => allowed.test(name));
  return [
    ['anthropic-version', version !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(version) ? version : usualVersion],
    ...(taken.length > 0 ? [['anthropic-beta', taken.join(',')] satisfies [string, string]] : []),
  ];
}
