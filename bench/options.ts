/** What `./gw bench` is asked for. */
import { parseArgs } from 'node:util';

export const usage = `gw bench [--seconds N] [--rounds N] [--peers] [--json] [--flame FILE]

Measures the simulated provider alone, plain Envoy in front of it, the whole gateway, without and with a budget, and a second
gateway whose sidecar does no work, in turns.

  --seconds N    length of one measurement (default 4, at most 60)
  --rounds N     how often each is measured (default 5, at most 20)
  --peers        other gateways too, Envoy AI Gateway, Portkey and LiteLLM, which are installed into .deps/ first; the first of
                 them listens on all addresses for as long, without a key
  --json         the report as JSON on standard output
  --flame FILE   in place of all this: writes an SVG of where the services spend the processor time of a call

The exit code is 1 if a step of a call takes more processor time than its limit: 30 µs to make a receipt, 15 µs to check a
key, 20 µs to decide the limits, 40 µs for an idempotency key, 2 ms to screen 100,000 characters.
`;

export interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly peers: boolean;
  readonly json: boolean;
  /** Where a flame graph goes instead; null: none. */
  readonly flame: string | null;
}

/** Null if help is asked for. Throws for arguments that cannot be followed. */
export function readOptions(args: readonly string[]): Options | null {
  const { tokens, values } = parseArgs({
    args: [...args],
    tokens: true,
    options: {
      json: { type: 'boolean', default: false },
      flame: { type: 'string' },
      peers: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '5' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  if (values.flame !== undefined && tokens.length > 1)
    throw new Error('--flame stands alone: it measures nothing else.');
  const { flame = null, json, peers, rounds, seconds } = values;
  return { flame, json, peers, seconds: numberOf(seconds, 'seconds', 60), rounds: numberOf(rounds, 'rounds', 20) };
}

function numberOf(text: string, name: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`--${name} has to be a whole number from 1 to ${most}.`);
}
