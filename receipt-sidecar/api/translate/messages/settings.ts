import type { SettingNames } from '../model/settings.ts';

export const messagesSettings: SettingNames = {
  max_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
};

/** The longest size of a thought, by the effort that it stands for. */
export const budgets = [
  [4096, 'low'],
  [16_384, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
] as const;
/** The efforts that both sides name alike. */
export const efforts: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);
