/** What was asked for on the command line. */
import { parseArgs } from 'node:util';
import type { WarmUp } from './rounds.ts';

export interface Options {
  readonly json: boolean;
  /** Length of one measurement. */
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUp: WarmUp;
  /** False: the provider and plain Envoy only. */
  readonly gateway: boolean;
  readonly help: boolean;
}

export const usage = `gw bench [--seconds N] [--rounds N] [--quick] [--json] [--no-gateway]

Measures the simulated provider alone, plain Envoy in front of it, and the whole gateway, in turns.

  --seconds N    length of one measurement (default 4, at most 60)
  --rounds N     how often each is measured (default 3, at most 20)
  --quick        one round of one second each: shows that it works, measures little
  --json         the report as JSON on standard output
  --no-gateway   the provider and plain Envoy only

The exit code is 1 if a step of a call takes more processor time than its limit: 30 µs to make a receipt, 15 µs to check a
key, 20 µs to decide the limits.
`;

/** Thrown for arguments that can not be followed; the text is for the person who typed them. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

function numberOf(text: string | undefined, name: string, fallback: number, most: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new UsageError(`--${name} has to be a whole number from 1 to ${most}.`);
}

export function readOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        seconds: { type: 'string' },
        rounds: { type: 'string' },
        'no-gateway': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return {
      json: values.json,
      seconds: numberOf(values.seconds, 'seconds', values.quick ? 1 : 4, 60),
      rounds: numberOf(values.rounds, 'rounds', values.quick ? 1 : 3, 20),
      warmUp: values.quick ? { sliceSeconds: 1, slices: 1 } : { sliceSeconds: 3, slices: 10 },
      gateway: !values['no-gateway'],
      help: values.help,
    };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error));
  }
}
