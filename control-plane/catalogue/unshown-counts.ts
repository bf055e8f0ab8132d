/**
 * Whether a provider counts more tokens for a small call than the call shows: of thoughts that it hides, or of what it read by itself.
 *
 * Invariant: one call can show that a model does so, and never that it does not.
 */
import { z } from 'zod';

export interface UnshownCounts {
  /** Whether its model thinks unseen. Null: this call does not tell. */
  readonly hiddenReasoning: true | null;
  readonly readsByItself: true | null;
}

/** Tokens that leave no text: the end of an answer, and what frames it. */
const framing = 8;
/** Tokens that templates and default system prompts add, estimated high; the same as what receipts allow for. */
const template = 2048 + 64;

const tokens = z.int().nonnegative().catch(0);
const counted = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({}) })),
  usage: z.looseObject({
    prompt_tokens: tokens,
    completion_tokens: tokens,
    completion_tokens_details: z.looseObject({ reasoning_tokens: tokens }).nullish().catch(null),
  }),
});

/** `requestBytes`: the length of the body that was sent. */
export function unshownCounts(reply: unknown, requestBytes: number): UnshownCounts {
  const { choices = [], usage } = counted.safeParse(reply).data ?? {};
  if (usage === undefined) return { hiddenReasoning: null, readsByItself: null };
  const text = choices.flatMap(({ message: { role: _, ...said } }) =>
    Object.values(said).filter((value) => typeof value === 'string'),
  );
  const shown = Buffer.byteLength(text.join(''));
  const { completion_tokens_details: details } = usage;
  const named = details ? details.reasoning_tokens : 0;
  return {
    hiddenReasoning: usage.completion_tokens - named > shown + framing ? true : null,
    readsByItself: usage.prompt_tokens > requestBytes + template ? true : null,
  };
}

/** Tells what to do about it, for the end of a message; empty if there is nothing. `model`: its public id. */
export function adviceOn({ hiddenReasoning, readsByItself }: UnshownCounts, model: string | null): string {
  const options = [
    ...(hiddenReasoning ? ['--hidden-reasoning yes'] : []),
    ...(readsByItself ? ['--reads-by-itself yes'] : []),
  ];
  if (options.length === 0) return '';
  const set = `./gw admin models set ${model ?? 'ID'} ${options.join(' ')}`;
  return ` It reports more tokens than this call shows, so its receipts have wider bounds. To record the reason, run: ${set}`;
}
