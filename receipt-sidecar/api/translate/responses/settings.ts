import type { SettingNames } from '../model/settings.ts';

export const responsesSettings: SettingNames = {
  max_output_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  user: 'user',
  metadata: 'metadata',
  top_logprobs: 'top_logprobs',
  service_tier: 'service_tier',
  safety_identifier: 'safety_identifier',
  prompt_cache_key: 'prompt_cache_key',
  prompt_cache_retention: 'prompt_cache_retention',
  prompt_cache_options: 'prompt_cache_options',
};

/** Asks for the reasoning in a form that can be sent back. */
export const sealed = 'reasoning.encrypted_content';
export const logprobs = 'message.output_text.logprobs';
/** Marks a seal of reasoning that has no text. */
export const hiddenMark = 'redacted:';
