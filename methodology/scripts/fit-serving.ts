/**
 * Fits our model of writing (`writing` in documents/factors.ts) to what was measured: least squares of the logarithms, in which each
 * model counts alike, by Gauss and Newton. Tasks with long prompts are left out, whose reading is in what was measured.
 *
 *   node methodology/scripts/fit-serving.ts
 */
import { fileURLToPath } from 'node:url';
import { type Measurement, measurements } from './measurements.ts';

/** The last one multiplies what depends on nothing. */
export type Coefficients = readonly [weights: number, operations: number, context: number, token: number];

const fitted = ({ task }: Measurement): boolean => task !== 'sourcegraph-fim';

/** Returns the operands of the coefficients, by the formulas `weights_per_token` and `context_per_token`. */
export function terms({ activeB, bits, concurrency, outputTokens, promptTokens, totalB }: Measurement): Coefficients {
  const read = totalB * (1 - (1 - activeB / totalB) ** concurrency);
  const context = ((promptTokens + outputTokens / 2) / 1000) * (activeB * totalB) ** (1 / 3);
  return [(read * bits) / 8 / concurrency, activeB, context, 1];
}

/** `figureOf`: what was measured per token. */
export function fit(all: readonly Measurement[], figureOf: (each: Measurement) => number): Coefficients {
  const rows = all.filter(fitted);
  const points = rows.map((each) => ({
    terms: terms(each),
    target: Math.log(figureOf(each)),
    weight: 1 / rows.filter(({ model }) => model === each.model).length,
  }));
  // Logarithms of the coefficients, which cannot be negative.
  let logs = [-9.5, -13.5, -13.5, -12.5];
  for (let round = 0; round < 200; round += 1) {
    const step = newtonStep(points, logs);
    logs = logs.map((log, at) => log + Math.max(-0.5, Math.min(0.5, of(step, at))));
    if (step.every((by) => Math.abs(by) < 1e-9)) break;
  }
  return logs.map(Math.exp) as unknown as Coefficients;
}

function of(values: readonly number[], at: number): number {
  const value = values[at];
  if (value === undefined) throw new RangeError(`There is no element ${at}.`);
  return value;
}

interface Point {
  readonly terms: Coefficients;
  readonly target: number;
  readonly weight: number;
}

function newtonStep(points: readonly Point[], logs: readonly number[]): number[] {
  const size = logs.length;
  const matrix = Array.from({ length: size }, () => Array.from({ length: size + 1 }, () => 0));
  for (const { target, terms, weight } of points) {
    const parts = terms.map((term, at) => term * Math.exp(of(logs, at)));
    const sum = parts.reduce((a, b) => a + b);
    const slopes = parts.map((part) => part / sum);
    const residual = target - Math.log(sum);
    for (const [i, row] of matrix.entries()) {
      for (let j = 0; j < size; j += 1) row[j] = of(row, j) + weight * of(slopes, i) * of(slopes, j);
      row[size] = of(row, size) + weight * of(slopes, i) * residual;
    }
  }
  // A coefficient that goes to nothing has no slope, and stays where it is.
  for (const [at, row] of matrix.entries()) row[at] = of(row, at) + 1e-9;
  return solved(matrix);
}

/** Solves by elimination; the last column is the right side. */
function solved(matrix: number[][]): number[] {
  const size = matrix.length;
  for (const [at, row] of matrix.entries()) {
    for (const other of matrix) {
      if (other === row) continue;
      const factor = of(other, at) / of(row, at);
      for (let column = at; column <= size; column += 1) other[column] = of(other, column) - factor * of(row, column);
    }
  }
  return matrix.map((row, at) => of(row, size) / of(row, at));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const all = measurements();
  for (const [name, figureOf] of [
    ['Wh', ({ whPerToken }: Measurement) => whPerToken],
    ['GPU·s', ({ gpuSecondsPerToken }: Measurement) => gpuSecondsPerToken],
  ] as const) {
    for (const on of ['H100', 'B200', null] as const) {
      const rows = all.filter(({ accelerator }) => on === null || accelerator === on);
      console.log(
        name,
        on ?? 'both',
        fit(rows, figureOf)
          .map((each) => each.toPrecision(3))
          .join(' '),
      );
    }
  }
}
