/**
 * The `x-sim-*` headers, by which a request controls the simulator.
 *
 * A site is the part of a path before `/v1`: with `/paris/v1/…` and `/oslo/v1/…` as two base URLs, one simulator acts as two providers,
 * and `x-sim-fault: paris:reset` breaks only one of them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Hold, holdPoints } from './holds.ts';
import { readScript, type ScriptedCall } from './script.ts';
import type { TextStyle } from './text.ts';

export const faults = [
  'status-400',
  'status-401',
  'status-403',
  'status-404',
  'status-413',
  'status-422',
  'status-429',
  'status-500',
  'status-503',
  'status-529',
  'reset',
  'stall',
  'stall-mid',
  'stall-end',
  'stall-energy',
  'cut',
  'malformed',
  'error-event',
  'failed-event',
  'refusal',
  'too-long-openai',
  'too-long-vllm',
  'too-long-tgi',
  'too-long-event',
  'content-filter',
  'refusal',
  'no-done',
  'no-usage',
  'running-usage',
  'no-energy',
  'big-energy',
  'energy-twice',
  'own-gw',
  'own-headers',
  'split',
  'gzip',
  'html',
  'empty',
  'big',
] as const;
export type Fault = (typeof faults)[number];

/** Named as in the catalogue of deployments. */
const energyShapes = ['neuralwatt', 'greenpt', 'melious', 'ecologits_impacts', 'energy_header'] as const;
export type EnergyShape = (typeof energyShapes)[number];

export interface Directives {
  /** The length of the answer; null leaves it to the seed. */
  readonly tokens: number | null;
  /** 0 is as fast as possible; null is the model's own pace. */
  readonly tokensPerSecond: number | null;
  /** Time before the response headers; null is the model's own. */
  readonly delayMs: number | null;
  /** Where the reply waits for `/sim/release?marker=…`; a delay follows. */
  readonly hold: Hold | null;
  /** Empty without a script. */
  readonly script: readonly ScriptedCall[];
  readonly faults: ReadonlySet<Fault>;
  /** Energy in the reply. */
  readonly energy: EnergyAsked;
  /** Any JSON in place of the usage; undefined for the real usage. */
  readonly usage: unknown;
  /** Size of the reply or of one event with the fault `big`; of the energy with `big-energy`. */
  readonly bytes: number;
  readonly text: TextStyle;
  readonly echoHeaders: boolean;
  readonly echoBody: boolean;
}

export interface EnergyAsked {
  /** Null leaves it to the model. */
  readonly shapes: readonly EnergyShape[] | null;
  /** Any JSON in place of the figure, in the unit of the shape; undefined for the computed figure. */
  readonly value: unknown;
}

/** No faults and no delay, for replies about the simulator itself. */
export const plainDirectives: Directives = {
  tokens: null,
  tokensPerSecond: 0,
  delayMs: 0,
  hold: null,
  script: [],
  faults: new Set(),
  energy: { shapes: null, value: undefined },
  usage: undefined,
  bytes: 0,
  text: 'plain',
  echoHeaders: false,
  echoBody: false,
};

/** An invalid header. The request is refused, so that a test with a typo cannot pass. */
export interface BadDirective {
  readonly header: string;
  readonly message: string;
}

const MIB = 1024 * 1024;
const limits = {
  'x-sim-tokens': 100_000,
  'x-sim-tokens-per-second': 1_000_000,
  'x-sim-delay-ms': 600_000,
  'x-sim-bytes': 256 * MIB,
} as const;
type NumberHeader = keyof typeof limits;

const known = new Set<string>([
  ...Object.keys(limits),
  'x-sim-fault',
  'x-sim-energy',
  'x-sim-energy-value',
  'x-sim-usage',
  'x-sim-text',
  'x-sim-echo-headers',
  'x-sim-echo-body',
  'x-sim-hold',
  'x-sim-marker',
  'x-sim-script',
]);

function readFaults(value: string, site: string): Set<Fault> | BadDirective {
  const chosen = new Set<Fault>();
  for (const item of value.split(',').map((part) => part.trim())) {
    const colon = item.indexOf(':');
    const name = item.slice(colon + 1);
    const fault = faults.find((candidate) => candidate === name);
    if (fault === undefined) {
      return { header: 'x-sim-fault', message: `Unknown fault "${name}". Known: ${faults.join(', ')}.` };
    }
    if (colon < 0 || item.slice(0, colon) === site) chosen.add(fault);
  }
  return chosen;
}

/** `x-sim-energy: neuralwatt,greenpt` names shapes; `x-sim-energy-value: -1` or `"NaN"` or `[1]` is JSON. */
function readEnergy(shapes: string | null, value: string | null): EnergyAsked | BadDirective {
  const chosen: EnergyShape[] = [];
  for (const name of shapes?.split(',').map((part) => part.trim()) ?? []) {
    const shape = energyShapes.find((candidate) => candidate === name);
    if (!shape) {
      return { header: 'x-sim-energy', message: `Unknown shape "${name}". Known: ${energyShapes.join(', ')}.` };
    }
    chosen.push(shape);
  }
  try {
    return { shapes: shapes === null ? null : chosen, value: value === null ? undefined : JSON.parse(value) };
  } catch {
    return { header: 'x-sim-energy-value', message: 'x-sim-energy-value has to be JSON.' };
  }
}

/** `x-sim-hold: middle`, with the marker that releases it. */
function readHold(point: string | null, marker: string | null): Hold | null | BadDirective {
  if (point === null) return null;
  const at = holdPoints.find((candidate) => candidate === point);
  if (at !== undefined && marker !== null) return { at, marker };
  return { header: 'x-sim-hold', message: 'x-sim-hold has to be start or middle, beside an x-sim-marker.' };
}

const isBad = (value: unknown): value is BadDirective =>
  typeof value === 'object' && value !== null && 'header' in value && 'message' in value;

/** `x-sim-usage: {"prompt_tokens":1}` or any other JSON. */
function readUsage(value: string | null): unknown {
  try {
    return value === null ? undefined : JSON.parse(value);
  } catch {
    return { header: 'x-sim-usage', message: 'x-sim-usage has to be JSON.' };
  }
}

/** Reads all `x-sim-*` headers. `site` is empty for a path that begins with `/v1`. */
export function readDirectives(headers: IncomingHttpHeaders, site: string): Directives | BadDirective {
  const problems: BadDirective[] = [];
  const text = (name: string): string | null => {
    const value = headers[name];
    return typeof value === 'string' ? value : null;
  };
  const number = (name: NumberHeader): number | null => {
    const value = text(name);
    if (value === null) return null;
    const parsed = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    if (parsed <= limits[name]) return parsed;
    problems.push({ header: name, message: `${name} has to be a number from 0 to ${limits[name]}.` });
    return null;
  };
  const style = text('x-sim-text') ?? 'plain';
  if (style !== 'plain' && style !== 'unicode') {
    problems.push({ header: 'x-sim-text', message: 'x-sim-text has to be plain or unicode.' });
  }
  for (const name in headers) {
    if (name.startsWith('x-sim-') && !known.has(name)) problems.push({ header: name, message: `Unknown ${name}.` });
  }
  const faultText = text('x-sim-fault');
  const chosen = faultText === null ? new Set<Fault>() : readFaults(faultText, site);
  const energy = readEnergy(text('x-sim-energy'), text('x-sim-energy-value'));
  const hold = readHold(text('x-sim-hold'), text('x-sim-marker'));
  const script = readScript(text('x-sim-script') ?? '[]');
  if (script === null)
    return { header: 'x-sim-script', message: 'x-sim-script has to be a list of {"name", "input"}.' };
  const tokens = number('x-sim-tokens');
  const directives = {
    tokens: tokens === null ? null : Math.floor(tokens),
    tokensPerSecond: number('x-sim-tokens-per-second'),
    delayMs: number('x-sim-delay-ms'),
    bytes: Math.floor(number('x-sim-bytes') ?? MIB),
    text: style === 'unicode' ? ('unicode' as const) : ('plain' as const),
    echoHeaders: headers['x-sim-echo-headers'] === '1',
    echoBody: headers['x-sim-echo-body'] === '1',
  };
  const usage = readUsage(text('x-sim-usage'));
  if (isBad(usage)) return usage;
  if (isBad(chosen)) return chosen;
  if (isBad(energy)) return energy;
  if (isBad(hold)) return hold;
  return problems[0] ?? { ...directives, hold, script, faults: chosen, energy, usage };
}

export const isBadDirective = (value: Directives | BadDirective): value is BadDirective => isBad(value);
