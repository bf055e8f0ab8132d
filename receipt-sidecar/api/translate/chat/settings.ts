import type { SettingNames } from '../model/settings.ts';

/** The model has chat's own names, where chat has one. */
export const chatSettings: SettingNames = {
  max_completion_tokens: 'max_tokens',
  // The last field of a name is the one that is written: every server knows this one.
  max_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  user: 'user',
  metadata: 'metadata',
  store: 'store',
  verbosity: 'verbosity',
  top_logprobs: 'top_logprobs',
  service_tier: 'service_tier',
  safety_identifier: 'safety_identifier',
  prompt_cache_key: 'prompt_cache_key',
  prompt_cache_retention: 'prompt_cache_retention',
  prompt_cache_options: 'prompt_cache_options',
};
