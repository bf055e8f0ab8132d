/**
 * Asks a classifier of the operator's about the texts of a request, by the form of OpenAI's moderation endpoint, which local model servers
 * speak too.
 *
 * Invariants: it is asked only where a rule of kind `classifier` holds, and once for all of them. A call waits no longer than the time-out.
 * A classifier that does not answer in time, or not in that form, leaves each rule to its `on_failure`: open (`pass`) or closed (`block`).
 */
import { jsonIn } from '@gw/contract/internal/json-in';
import type { ClassifierRule } from '@gw/contract/internal/policy-rules';
import { seam } from '@gw/policy/normalise';
import type { Logger } from '@gw/service/log';
import { z } from 'zod';
import type { ScreenMetrics } from './screen-metrics.ts';

export interface ClassifierSettings {
  readonly url: string;
  /** Sent as a bearer token; null: none. */
  readonly key: string | null;
  readonly model: string | null;
  readonly timeoutMs: number;
}

export interface Classifier {
  /** Returns the rules that apply to the texts. Never rejects. */
  ask(texts: readonly string[], rules: readonly ClassifierRule[]): Promise<readonly ClassifierRule[]>;
}

const judgementSchema = z.object({
  results: z
    .array(
      z.object({
        flagged: z.boolean(),
        categories: z.record(z.string(), z.boolean().nullable()).default({}),
        category_scores: z.record(z.string(), z.number().nullable()).default({}),
      }),
    )
    .min(1),
});
type Judgement = z.infer<typeof judgementSchema>;

/** An answer has some hundred bytes for each text. */
const longestAnswer = 4 * 1024 * 1024;
const logEveryMs = 60_000;

export interface ClassifierContext {
  readonly metrics: Pick<ScreenMetrics, 'classified'>;
  readonly log: Pick<Logger, 'warn'>;
  /** A monotonic clock, ms. */
  readonly clock: () => number;
}

/** Without settings nothing can be asked, and each rule is left to its `on_failure`. */
export function openClassifier(
  settings: ClassifierSettings | null,
  { clock, log, metrics }: ClassifierContext,
): Classifier {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const failed = (error: unknown): void => {
    if (clock() - loggedAt < logEveryMs) return;
    loggedAt = clock();
    log.warn({ err: error }, 'the classifier could not classify a request; on_failure applies');
  };
  return {
    async ask(texts, rules) {
      try {
        if (settings === null) throw new Error('GW_CLASSIFIER_URL is not set.');
        const judgement = await judge(settings, texts);
        metrics.classified('answered');
        return rules.filter((rule) => applies(rule, judgement));
      } catch (error) {
        metrics.classified(settings === null ? 'not_configured' : 'failed');
        failed(error);
        return rules.filter((rule) => rule.on_failure === 'block');
      }
    },
  };
}

async function judge({ key, model, timeoutMs, url }: ClassifierSettings, texts: readonly string[]): Promise<Judgement> {
  // A model server may read a text only up to a NUL.
  const input = texts.map((text) => text.replaceAll(seam, '\n'));
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ ...(model !== null && { model }), input }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!reply.ok) {
    await reply.body?.cancel();
    throw new Error(`The classifier answered ${reply.status}.`);
  }
  const judgement = judgementSchema.safeParse(jsonIn(await bounded(reply)));
  if (!judgement.success) throw new Error('The classifier did not return a moderation response.');
  return judgement.data;
}

async function bounded(reply: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of reply.body ?? []) {
    length += part.length;
    if (length > longestAnswer) throw new Error(`The classifier answered more than ${longestAnswer} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Any text and any of the categories is enough. */
function applies({ categories, threshold }: ClassifierRule, { results }: Judgement): boolean {
  if (categories === undefined) return results.some(({ flagged }) => flagged);
  return results.some(({ categories: judged, category_scores: scores }) =>
    categories.some((category) =>
      threshold === undefined ? judged[category] === true : (scores[category] ?? Number.NEGATIVE_INFINITY) >= threshold,
    ),
  );
}
