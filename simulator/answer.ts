/** Shared by chat and text completions: the text of a choice, its finish reason, and the usage. */
import type { Directives } from './directives.ts';
import { type EnergyReport, reportEnergy } from './energy.ts';
import type { Call } from './request.ts';
import { answerText, countTokens, cutAtStop, cutTokens } from './text.ts';

export interface Answer {
  readonly text: string;
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length';
}

/** Applies stop sequences, then the token limit. */
export function limitText(text: string, call: Call): Answer {
  const stopped = call.stops.length === 0 ? text : cutAtStop(text, call.stops);
  const tokens = countTokens(stopped);
  if (call.maxTokens === null || tokens <= call.maxTokens) return { text: stopped, tokens, finishReason: 'stop' };
  return { text: cutTokens(stopped, call.maxTokens), tokens: call.maxTokens, finishReason: 'length' };
}

/** Returns one answer for each choice; they differ. */
export function makeAnswers(call: Call, seed: number, directives: Directives): Answer[] {
  const answers: Answer[] = [];
  for (let index = 0; index < call.choices; index++) {
    answers.push(limitText(answerText(seed + index, directives.text, directives.tokens), call));
  }
  return answers;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export const usageOf = (promptTokens: number, completionTokens: number): Usage => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
});

export interface Figures {
  /** Undefined, and so absent in JSON, if a fault omits it. */
  readonly usage: unknown;
  readonly energy: EnergyReport;
}

export function figuresOf(call: Call, directives: Directives, promptTokens: number, completionTokens: number): Figures {
  return {
    usage: directives.faults.has('no-usage')
      ? undefined
      : (directives.usage ?? usageOf(promptTokens, completionTokens)),
    energy: reportEnergy(call.model, directives, promptTokens, completionTokens),
  };
}
