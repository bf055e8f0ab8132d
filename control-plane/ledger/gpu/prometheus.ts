/**
 * Raw samples of counters from a Prometheus server (HTTP API v1). Not yet tried against a live one.
 *
 * Invariant: what comes back are samples as they were scraped, of the metric that was asked for, in ascending time; or
 * a refusal. A partial reply (`warnings`) is refused: a GPU that is missing from it would count as one that used
 * nothing.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { z } from 'zod';
import { get, type Http } from '../grid/http.ts';
import type { GridRefusal } from '../grid/reading.ts';

export interface Sample {
  /** Seconds since 1970, by the clock of the Prometheus server. */
  readonly atS: number;
  readonly value: number;
}

/** One time series with its labels. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** The samples in ascending time. Only values from 0 to 2^53 are in it; others are left out, as if they had not been scraped. */
  readonly samples: readonly Sample[];
}

export type PrometheusRefusal = Pick<GridRefusal, 'detail'> & {
  readonly refused: GridRefusal['refused'] | 'clock_skew';
};

/** Never rejects: what goes wrong is a refusal. */
export interface Prometheus {
  /** Returns the samples from `fromS` to `toS` (seconds since 1970), both included. */
  samples(selector: string, fromS: number, toS: number): Promise<readonly Series[] | PrometheusRefusal>;
  /** Returns how far its clock is from ours, s; positive if it is ahead. The time of the way does not count. */
  skewS(): Promise<number | PrometheusRefusal>;
}

export const isRefused = (reply: object | number): reply is PrometheusRefusal =>
  typeof reply === 'object' && 'refused' in reply;

const point = z.tuple([z.number(), z.string()]);
const replyOf = <Data extends z.ZodType>(data: Data) =>
  z.object({ status: z.literal('success'), warnings: z.array(z.unknown()).optional(), data });
const matrixSchema = replyOf(
  z.object({
    resultType: z.literal('matrix'),
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), values: z.array(point) })),
  }),
);
const scalarSchema = replyOf(z.object({ resultType: z.literal('scalar'), result: point }));

/** Asks the server at `baseUrl`, which has no slash at its end. `headers` can hold a token. */
export function prometheusAt(
  http: Http,
  { baseUrl, headers }: { readonly baseUrl: string; readonly headers: Readonly<Record<string, string>> },
): Prometheus {
  const ask = async <Data>(
    schema: z.ZodType<{ warnings?: unknown[] | undefined; data: Data }>,
    parameters: Record<string, string>,
  ): Promise<Data | PrometheusRefusal> => {
    const reply = await get(http, `${baseUrl}/api/v1/query?${new URLSearchParams(parameters)}`, headers);
    if ('refused' in reply) return reply;
    const parsed = schema.safeParse(jsonOf(reply.body));
    if (!parsed.success) return malformed(`unexpected shape at ${parsed.error.issues[0]?.path.join('.') || 'the top'}`);
    return parsed.data.warnings?.length ? malformed('the reply has warnings, so it can be partial') : parsed.data.data;
  };
  return {
    samples: async (selector, fromS, toS) => {
      // A range selector leaves its beginning out.
      const rangeMs = Math.max(1, Math.ceil((toS - fromS) * 1000)) + 1;
      const data = await ask(matrixSchema, { query: `${selector}[${rangeMs}ms]`, time: toS.toFixed(3) });
      if (isRefused(data)) return data;
      const name = /^[^{]+/.exec(selector)?.[0];
      if (data.result.some(({ metric }) => metric.__name__ !== name)) return malformed('a series of another metric');
      const series = data.result.map(seriesOf);
      return series.some((each) => each === null)
        ? malformed('times do not ascend')
        : series.flatMap((each) => each ?? []);
    },
    skewS: async () => {
      const askedAt = http.now().getTime();
      const data = await ask(scalarSchema, { query: 'time()' });
      const answeredAt = http.now().getTime();
      if (isRefused(data)) return data;
      // Somewhere between the question and the answer; what cannot be told apart from the way counts as none.
      const serverMs = data.result[0] * 1000;
      if (serverMs < askedAt) return (serverMs - askedAt) / 1000;
      return Math.max(0, serverMs - answeredAt) / 1000;
    },
  };
}

const malformed = (detail: string): PrometheusRefusal => ({ refused: 'malformed', detail });

/** Returns null if the times do not ascend. */
function seriesOf({ metric, values }: { metric: Record<string, string>; values: [number, string][] }): Series | null {
  const isAscending = values.every(([atS], index) => index === 0 || atS > elementAt(values, index - 1)[0]);
  if (!isAscending) return null;
  return { labels: metric, samples: values.flatMap(([atS, text]) => sampleOf(atS, text)) };
}

/** Prometheus prints `NaN`, `+Inf` and `-Inf` too; beyond 2^53 a counter no longer counts single units. */
function sampleOf(atS: number, text: string): Sample[] {
  const value = /^\+?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return value <= Number.MAX_SAFE_INTEGER ? [{ atS, value }] : [];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
