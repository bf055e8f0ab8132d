/**
 * Measures the calls of one deployment with few questions to Prometheus: calls that lie close to each other share one.
 *
 * Invariant: every call gets an outcome. A reply that is too large is asked for again in shorter spans, down to a call
 * by itself; only what is too large even then has to wait.
 */
import type { DeploymentCounters, GpuSettings } from './config.ts';
import { type Measured, type MeasuredCall, measureCall, windowOf } from './measure.ts';
import { isRefused, type Prometheus, type PrometheusRefusal, type Series } from './prometheus.ts';
import type { WaitingCall } from './queue.ts';

/** The outcome for one call: a reading (or why there is none), the wait for samples, or the refusal of Prometheus. */
export type MeasureOutcome =
  | { readonly telemetry: Measured }
  /** The samples do not cover the call yet. */
  | { readonly waits: true }
  | { readonly refusal: PrometheusRefusal };

export interface Judged {
  readonly call: WaitingCall;
  readonly outcome: MeasureOutcome;
}

interface Source {
  readonly settings: GpuSettings;
  readonly prometheus: Prometheus;
}

/** Seconds that one question covers at most, unless a single call is longer. */
const longestSpanS = 900;

/** Measures the calls of one deployment. Each call gets an outcome, even if Prometheus refuses. */
export async function measureCalls(
  source: Source,
  counters: DeploymentCounters,
  calls: readonly WaitingCall[],
): Promise<Judged[]> {
  const judged: Judged[] = [];
  let spanS = longestSpanS;
  /** The shortest span, in s, of a single call whose reply was too large, and that refusal. */
  let hopeless: { readonly lengthS: number; readonly refusal: PrometheusRefusal } | null = null;
  for (let rest = [...calls]; rest.length > 0; ) {
    const [span = [], ...others] = spansOf(rest, source.settings, spanS);
    rest = others.flat();
    const { from, to } = extentOf(span, source.settings);
    const known: PrometheusRefusal | null =
      hopeless !== null && to - from >= hopeless.lengthS ? hopeless.refusal : null;
    const series: CounterSeries | PrometheusRefusal = known ?? (await seriesOf(source.prometheus, counters, from, to));
    if (isRefused(series) && series.refused === 'too_large') {
      if (span.length > 1) {
        spanS = (to - from) / 2;
        rest = [...span, ...rest];
        continue;
      }
      if (known === null) hopeless = { lengthS: to - from, refusal: series };
    }
    for (const call of span) judged.push({ call, outcome: outcomeOf(call, series, counters, source.settings) });
  }
  return judged;
}

function outcomeOf(
  call: WaitingCall,
  series: CounterSeries | PrometheusRefusal,
  counters: DeploymentCounters,
  settings: GpuSettings,
): MeasureOutcome {
  if (isRefused(series)) return { refusal: series };
  const telemetry = measureCall(callOf(call), counters, series, settings);
  return telemetry === null ? { waits: true } : { telemetry };
}

/**
 * Returns when the call ran and what it used. The end is its start plus the provider's latency, 0 if that is not known.
 */
export function callOf({ facts }: WaitingCall): MeasuredCall {
  const startS = Date.parse(facts?.requestedAt ?? '') / 1000;
  const { promptTokens = 0, completionTokens = 0 } = facts?.usage ?? {};
  return {
    startS,
    endS: startS + (facts?.upstreamLatencyS ?? 0),
    tokens: promptTokens + completionTokens,
    gpus: facts?.site.accelerators?.count ?? null,
  };
}

/** Calls that lie close enough to each other for one question, in the order of time. */
function spansOf(calls: readonly WaitingCall[], settings: GpuSettings, spanS: number): WaitingCall[][] {
  const window = (call: WaitingCall) => windowOf(callOf(call), settings);
  const spans: WaitingCall[][] = [];
  let until = Number.NEGATIVE_INFINITY;
  for (const call of calls.toSorted((a, b) => window(a).earliest - window(b).earliest)) {
    const span = spans.at(-1);
    if (span !== undefined && window(call).latest <= until) span.push(call);
    else {
      spans.push([call]);
      until = window(call).earliest + spanS;
    }
  }
  return spans;
}

function extentOf(
  calls: readonly WaitingCall[],
  settings: GpuSettings,
): { readonly from: number; readonly to: number } {
  const windows = calls.map((call) => windowOf(callOf(call), settings));
  return {
    from: Math.min(...windows.map(({ earliest }) => earliest)),
    to: Math.max(...windows.map(({ latest }) => latest)),
  };
}

interface CounterSeries {
  readonly energy: readonly Series[];
  readonly tokens: readonly Series[];
}

async function seriesOf(
  prometheus: Prometheus,
  counters: DeploymentCounters,
  from: number,
  to: number,
): Promise<CounterSeries | PrometheusRefusal> {
  const read = async (selectors: readonly string[]): Promise<Series[] | PrometheusRefusal> => {
    const series: Series[] = [];
    for (const selector of selectors) {
      const reply = await prometheus.samples(selector, from, to);
      if (isRefused(reply)) return reply;
      // Input without output, or the reverse, would make the share of a call too large.
      if (reply.length === 0) return [];
      series.push(...reply);
    }
    return series;
  };
  const energy = await read([counters.energy]);
  if (isRefused(energy)) return energy;
  const tokens = await read(counters.tokens);
  return isRefused(tokens) ? tokens : { energy, tokens };
}
