/**
 * How many of the configurations that ML.ENERGY measured lie within the bounds that a receipt has for them, by what is stated of a
 * deployment. The bounds were made from these configurations, so it is also counted how many would lie within them had a model, or the
 * other accelerator, not been among them.
 *
 *   node methodology/scripts/coverage.ts
 */
import { fileURLToPath } from 'node:url';
import { prefill, writing } from '../documents/factors.ts';
import type { ofConfigurations } from '../documents/measured-ratios.ts';
import { defaultMethodology, methodologyOf } from '../documents/methodologies.ts';
import { annualReading } from '../facts/grid-annual.ts';
import type { Trace } from '../generated/receipt.ts';
import { type CallFacts, calculated } from '../receipt/assess.ts';
import { type Coefficients, fit, terms } from './fit-serving.ts';
import { type Measurement, measurements } from './measurements.ts';

const accelerators = ['H100', 'B200'] as const;
const architectures = ['dense', 'sparse'] as const;
const stated = ['both', 'concurrency', 'bits', 'neither'] as const;
type Stated = (typeof stated)[number];

export interface CoverageRow {
  readonly accelerator: Measurement['accelerator'];
  readonly architecture: (typeof architectures)[number];
  readonly stated: Stated;
  readonly configurations: number;
  /** Shares of them. */
  readonly inside: number;
  readonly below: number;
  readonly above: number;
  /** Measured by the value, the median. */
  readonly median: number;
  /** The share inside, each model by bounds from the others alone. */
  readonly leftOut: number;
  /** The share inside by the model and the percentiles of the other accelerator alone. */
  readonly byOther: number;
  /** The share inside where the deployment does not state its accelerators. */
  readonly unstated: number;
}

const isDense = ({ activeB, totalB }: Measurement): boolean => activeB === totalB;

/** The call that would have given an answer of that length. */
const callOf = (each: Measurement, what: Stated, statesAccelerators: boolean): CallFacts => ({
  requestedTier: 'auto',
  boundary: 'comprehensive',
  requestedAt: '2026-11-21T09:30:00.000Z',
  usage: {
    promptTokens: each.promptTokens,
    cachedPromptTokens: 0,
    completionTokens: Math.round(each.outputTokens),
  },
  upstreamLatencyS: null,
  model: {
    kind: 'chat',
    activeParametersB: { min: each.activeB, max: each.activeB },
    totalParametersB: { min: each.totalB, max: each.totalB },
    modelClass: null,
    quantizationBits: what === 'both' || what === 'bits' ? each.bits : null,
    tokensPerS: null,
    ttftS: null,
  },
  site: {
    pue: 1,
    wueOnsiteLPerKwh: null,
    typicalConcurrency: what === 'both' || what === 'concurrency' ? each.concurrency : null,
    accelerators: statesAccelerators ? { model: each.accelerator, count: 8 } : null,
  },
  grid: annualReading('WOR'),
});

interface Compared {
  /** Wh of the accelerators for an answer. */
  readonly measured: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** How far off the model of writing would have to be for its ends to be what was measured: energy below and above, time below and above. */
  readonly needed: readonly [number, number, number, number];
}

function compared(each: Measurement, what: Stated, statesAccelerators = true): Compared {
  const trace: Trace = {};
  const made = calculated(callOf(each, what, statesAccelerators), methodologyOf(defaultMethodology), trace);
  if (!made.ok) throw new Error(made.explanation);
  const tokens = Math.round(each.outputTokens);
  const [measured, seconds] = [each.whPerToken * tokens, each.gpuSecondsPerToken * tokens];
  const of = (step: string) => trace[step] ?? Number.NaN;
  const below = (taken: number, written: string, read: string) =>
    of(`${written}@least`) / Math.max(1e-12, taken - of(`${read}@least`));
  const above = (taken: number, written: string, read: string) => (taken - of(`${read}@most`)) / of(`${written}@most`);
  const [energy, time] = [['writing_energy', 'prefill_gpu_energy'] as const, ['writing_time', 'prefill_time'] as const];
  return {
    measured,
    value: of('accelerator_energy'),
    low: of('accelerator_energy@low'),
    high: of('accelerator_energy@high'),
    needed: [
      ...[below(measured, ...energy), above(measured, ...energy)],
      ...[below(seconds, ...time), above(seconds, ...time)],
    ] as unknown as Compared['needed'],
  };
}

/** The ratios that hold 95 % of the configurations on each side: `ofConfigurations` of documents/measured-ratios.ts, in hundredths. */
export function ratios(): typeof ofConfigurations {
  const all = measurements();
  return Object.fromEntries(
    accelerators.flatMap((accelerator) =>
      architectures.flatMap((architecture) =>
        stated.map((what) => {
          const rows = all.filter(
            (each) => each.accelerator === accelerator && isDense(each) === (architecture === 'dense'),
          );
          const needed = rows.map((each) => compared(each, what).needed);
          const held = [0, 1, 2, 3].map((at) =>
            percentile(
              needed.map((each) => each[at] ?? Number.NaN),
              0.95,
            ),
          );
          return [
            `${accelerator.toLowerCase()}_${architecture}_${what}`,
            held.map((ratio) => Math.max(1, Math.round(ratio * 100) / 100)),
          ];
        }),
      ),
    ),
  ) as unknown as typeof ofConfigurations;
}

/** Measured by what the coefficients give. */
function ratioOf(each: Measurement, coefficients: Coefficients, what: Stated): number {
  const taken = {
    ...each,
    ...((what === 'neither' || what === 'concurrency') && { bits: writing.assumedBits }),
    ...((what === 'neither' || what === 'bits') && { concurrency: writing.assumedConcurrency }),
  };
  const { flopPerParameterAndToken, gpuPowerW, peakFlopPerS, utilisation } = prefill;
  const operations = each.promptTokens * flopPerParameterAndToken * each.activeB * 1e9;
  const readingWh = ((operations / (peakFlopPerS * utilisation)) * gpuPowerW) / 3600;
  const written = terms(taken).reduce((sum, term, at) => sum + term * (coefficients[at] ?? Number.NaN), 0);
  return each.whPerToken / (written + readingWh / each.outputTokens);
}

/** Between the neighbours in the order. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [lower = Number.NaN, upper = lower] = sorted.slice(Math.floor(at), Math.floor(at) + 2);
  return lower + (upper - lower) * (at - Math.floor(at));
}

const shareOf = <T>(all: readonly T[], test: (each: T) => boolean): number => all.filter(test).length / all.length;

function byOther(to: readonly Measurement[], from: readonly Measurement[], coefficients: Coefficients, what: Stated) {
  const ratios = from.map((each) => ratioOf(each, coefficients, what));
  const [low, high] = [percentile(ratios, 0.05), percentile(ratios, 0.95)];
  return shareOf(to, (each) => {
    const ratio = ratioOf(each, coefficients, what);
    return low <= ratio && ratio <= high;
  });
}

const neverNeeded: Compared['needed'] = [Number.NaN, Number.NaN, Number.NaN, Number.NaN];
type Needed = readonly [Measurement, Compared['needed']];

/** The bounds that the configurations of the other models give. */
function leftOut(all: readonly Needed[]): number {
  return shareOf(all, ([{ model }, needed]) => {
    const others = all.filter(([other]) => other.model !== model);
    return [0, 1].every(
      (at) =>
        Number(needed[at]) <=
        Math.max(
          1,
          percentile(
            others.map(([, each]) => each[at] ?? Number.NaN),
            0.95,
          ),
        ),
    );
  });
}

const isInside = ({ high, low, measured }: Compared): boolean => low <= measured && measured <= high;

export function coverage(): CoverageRow[] {
  const all = measurements();
  return accelerators.flatMap((accelerator) => {
    const others = all.filter((each) => each.accelerator !== accelerator);
    const coefficients = fit(others, ({ whPerToken }) => whPerToken);
    return architectures.flatMap((architecture) => {
      const isOf = (each: Measurement) => isDense(each) === (architecture === 'dense');
      const rows = all.filter((each) => each.accelerator === accelerator && isOf(each));
      return stated.map((what) => {
        const found = rows.map((each) => compared(each, what));
        return {
          accelerator,
          architecture,
          stated: what,
          configurations: rows.length,
          inside: shareOf(found, isInside),
          below: shareOf(found, ({ low, measured }) => measured < low),
          above: shareOf(found, ({ high, measured }) => measured > high),
          median: percentile(
            found.map(({ measured, value }) => measured / value),
            0.5,
          ),
          leftOut: leftOut(rows.map((each, at) => [each, found[at]?.needed ?? neverNeeded])),
          byOther: byOther(rows, others.filter(isOf), coefficients, what),
          unstated: shareOf(rows, (each) => isInside(compared(each, what, false))),
        };
      });
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [serving, held] of Object.entries(ratios())) console.log(`  ${serving}: [${held.join(', ')}],`);
  for (const row of coverage()) {
    const { accelerator, architecture, configurations, stated: what } = row;
    const shares = [row.inside, row.below, row.above, row.leftOut, row.byOther, row.unstated].map(
      (each) => `${(each * 100).toFixed(0)} %`,
    );
    console.log(accelerator, architecture, what, configurations, shares.join(' '), row.median.toFixed(2));
  }
}
