/**
 * A Prometheus server on a socket: answers `/api/v1/query` in the shapes of its HTTP API from samples that a test gives,
 * or with a fault. It knows range selectors of plain metrics with equality matchers, and `time()`.
 */
import { type StubAnswer, type StubSource, startStubSource } from './stub-source.ts';

export interface StubSeries {
  readonly metric: Readonly<Record<string, string>>;
  /** Time in seconds, and the value as Prometheus prints it. */
  readonly values: readonly (readonly [number, string])[];
}

export interface StubPrometheus extends StubSource {
  /** Sets what it holds from now on, and takes a fault away. */
  hold(series: readonly StubSeries[] | ((now: number) => readonly StubSeries[])): void;
  /** How far its clock is ahead of ours, seconds. */
  setSkew(skewS: number): void;
}

export async function startStubPrometheus(now: () => Date): Promise<StubPrometheus> {
  const stub = await startStubSource();
  let skewS = 0;
  return {
    ...stub,
    setSkew: (to) => {
      skewS = to;
    },
    hold: (series) =>
      stub.answer((path) => {
        const nowS = now().getTime() / 1000 + skewS;
        return answerTo(path, typeof series === 'function' ? series(nowS) : series, nowS);
      }),
  };
}

function answerTo(path: string, held: readonly StubSeries[], nowS: number): StubAnswer {
  const { pathname, searchParams } = new URL(path, 'http://stub');
  const query = searchParams.get('query') ?? '';
  if (pathname !== '/api/v1/query') return { status: 404 };
  if (query === 'time()') return success({ resultType: 'scalar', result: [nowS, String(nowS)] });
  const [, name, matchers = '', rangeMs] = /^([\w:]+)(?:\{(.*)\})?\[(\d+)ms\]$/.exec(query) ?? [];
  if (name === undefined) return failure('bad_data', 'parse error');
  const until = Number(searchParams.get('time'));
  const wanted = [...matchers.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [
    label,
    value,
  ]);
  const result = held
    .filter(({ metric }) => metric.__name__ === name && wanted.every(([label = '', value]) => metric[label] === value))
    .map(({ metric, values }) => ({
      metric,
      // The beginning of a range is not in it.
      values: values.filter(([atS]) => atS > until - Number(rangeMs) / 1000 && atS <= Math.min(until, nowS)),
    }))
    .filter(({ values }) => values.length > 0);
  return success({ resultType: 'matrix', result });
}

export const success = (data: unknown, more: object = {}): StubAnswer => ({
  body: { status: 'success', data, ...more },
});

export const failure = (errorType: string, error: string, status = 400): StubAnswer => ({
  status,
  body: { status: 'error', errorType, error },
});

export const dcgm = (uuid: string, values: StubSeries['values'], more: Record<string, string> = {}): StubSeries => ({
  metric: { __name__: 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', UUID: uuid, Hostname: 'gpu-1', ...more },
  values,
});

export const vllm = (
  kind: 'prompt' | 'generation',
  values: StubSeries['values'],
  more: Record<string, string> = {},
): StubSeries => ({
  metric: { __name__: `vllm:${kind}_tokens_total`, instance: 'gpu-1:8000', model_name: 'm', ...more },
  values,
});

export const counters = {
  energy: 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{Hostname="gpu-1"}',
  unit: 'mJ',
  tokens: ['vllm:prompt_tokens_total{instance="gpu-1:8000"}', 'vllm:generation_tokens_total{instance="gpu-1:8000"}'],
} as const;
