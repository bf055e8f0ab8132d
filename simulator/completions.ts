/** `POST /v1/completions`: OpenAI's legacy text completions, as JSON or as events. */
import { type Answer, type Figures, figuresOf, makeAnswers } from './answer.ts';
import type { Directives } from './directives.ts';
import type { Echo } from './echo.ts';
import { completionLogprobs } from './logprobs.ts';
import { CREATED, type SimModel } from './models.ts';
import { errorReply, jsonReply, type Reply, type StreamReply, sse, withEnergy } from './reply.ts';
import { isReply, readCall } from './request.ts';
import { seedOf } from './seed.ts';
import { earlyEnergy, endOfStream } from './stream-energy.ts';
import { countTokens, inTurn, slice } from './text.ts';

/** Returns the texts or token lists of a `prompt` or `input`, or null if it is neither. */
export function promptTexts(prompt: unknown): readonly (string | readonly number[])[] | null {
  const isIds = (value: unknown): value is number[] =>
    Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number');
  if (typeof prompt === 'string') return [prompt];
  if (isIds(prompt)) return [prompt];
  if (!Array.isArray(prompt) || prompt.length === 0) return null;
  return prompt.every((item) => typeof item === 'string' || isIds(item)) ? prompt : null;
}

export const promptTokenCount = (texts: readonly (string | readonly number[])[]): number =>
  texts.reduce((sum, text) => sum + (typeof text === 'string' ? countTokens(text) : text.length), 0);

interface Completion {
  readonly id: string;
  readonly model: SimModel;
  readonly includeUsage: boolean;
  readonly answers: readonly Answer[];
  readonly figures: Figures;
  readonly topLogprobs: number | null;
  readonly echo: Echo;
}

const logprobsOf = (text: string, top: number | null, offset = 0): object | null =>
  top === null ? null : completionLogprobs(text, top, offset);

function asJson({ id, model, answers, figures, topLogprobs, echo }: Completion): Reply {
  const choices = answers.map((answer, index) => ({
    text: answer.text,
    index,
    logprobs: logprobsOf(answer.text, topLogprobs),
    finish_reason: answer.finishReason,
  }));
  const reply = jsonReply(
    { id, object: 'text_completion', created: CREATED, model: model.id, choices, usage: figures.usage, ...echo },
    answers.reduce((sum, answer) => sum + answer.tokens, 0),
  );
  return withEnergy(reply, figures.energy);
}

function asStream({ id, model, includeUsage, answers, figures, topLogprobs, echo }: Completion): StreamReply {
  const chunk = (choices: readonly object[], more: object = {}): string =>
    sse(JSON.stringify({ id, object: 'text_completion', created: CREATED, model: model.id, choices, ...more }));
  const noUsageYet = includeUsage ? { usage: null } : {};
  const offsets = answers.map(() => 0);
  const turns = inTurn(answers.map((answer) => answer.text));
  const tokens = slice(turns).map(({ of: index, token: text }, position) => {
    const offset = offsets[index] ?? 0;
    offsets[index] = offset + text.length;
    const choice = { text, index, logprobs: logprobsOf(text, topLogprobs, offset), finish_reason: null };
    return chunk([choice], position === 0 ? { ...noUsageYet, ...echo } : noUsageYet);
  });
  const ends = answers.map((answer, index) =>
    chunk([{ text: '', index, logprobs: null, finish_reason: answer.finishReason }], noUsageYet),
  );
  const usage = includeUsage && figures.usage !== undefined ? [chunk([], { usage: figures.usage })] : [];
  const { tokensPerSecond, firstTokenMs } = model;
  return {
    kind: 'stream',
    headers: figures.energy.headers,
    head: earlyEnergy(figures.energy, chunk([])),
    tokens,
    tail: endOfStream(ends, usage, figures.energy, chunk([])),
    tokensPerSecond,
    firstTokenMs,
  };
}

export function completionReply(body: Buffer, directives: Directives, echo: Echo): Reply {
  const call = readCall(body, 'chat');
  if (isReply(call)) return call;
  // Null is an empty prompt; a missing one is an error.
  const prompts = promptTexts(call.fields.prompt === null ? '' : call.fields.prompt);
  if (prompts === null) return errorReply(400, 'prompt has to be a text or a list of texts.', 'prompt');
  const seed = seedOf(call.model.id, prompts);
  const answers = prompts.flatMap((_, index) => makeAnswers(call, seed.number + index, directives));
  const completionTokens = answers.reduce((sum, answer) => sum + answer.tokens, 0);
  const top = call.fields.logprobs;
  const completion = {
    id: `cmpl-${seed.id}`,
    model: call.model,
    includeUsage: call.includeUsage,
    answers,
    figures: figuresOf(call, directives, promptTokenCount(prompts), completionTokens),
    topLogprobs: typeof top === 'number' ? top : null,
    echo,
  };
  return call.stream ? asStream(completion) : asJson(completion);
}
