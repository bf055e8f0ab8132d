/**
 * Energy in the published shapes of providers that measure it; each shape has its place in a JSON reply and in a stream. The numbers
 * are made up but consistent: joules = power × duration × attribution ratio, and 3.6 MJ are one kWh.
 */
import type { Directives, EnergyShape } from './directives.ts';
import type { SimModel } from './models.ts';

/** The energy statements of a reply. */
export interface EnergyReport {
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Fields of a JSON reply. */
  readonly fields: Fields;
  /** A statement that is superseded: first in a JSON reply, under the same names; in a stream, an event before the tokens. */
  readonly earlyFields: Fields;
  /** In a stream: fields of the last chunk with choices, and of the final chunk, which has any usage. */
  readonly lastFields: Fields;
  readonly finalFields: Fields;
  /** In a stream: complete comments, or fields of a separate event without choices. */
  readonly comments: readonly string[];
  readonly events: readonly Fields[];
}

type Fields = Readonly<Record<string, unknown>>;

const POWER_W = 640;
const TOKENS_PER_S = 60;
const PROMPT_TOKENS_PER_S = 3000;
const RATIO = 0.125;
const J_PER_KWH = 3_600_000;

interface Amount {
  readonly durationS: number;
  readonly joules: number;
  /** Replaces the figure, in the unit of the shape; undefined for the computed figure. */
  readonly instead: unknown;
  /** Extra fields that enlarge each object. */
  readonly padding: Fields;
}

type EnergyPart = Partial<EnergyReport>;

function neuralwatt({ durationS, instead, joules, padding }: Amount): EnergyPart {
  const figure = instead === undefined ? joules : instead;
  const energy = {
    energy_joules: figure,
    ...(typeof figure === 'number' && { energy_kwh: figure / J_PER_KWH }),
    avg_power_watts: POWER_W,
    duration_seconds: durationS,
    attribution_method: 'token_pool_ratio',
    attribution_ratio: RATIO,
    ...padding,
  };
  return { fields: { energy }, comments: [`: energy ${JSON.stringify(energy)}\n\n`] };
}

function greenpt({ durationS, instead, joules, padding }: Amount): EnergyPart {
  const impact = {
    version: '20250922',
    inferenceTime: { total: durationS * 1000, unit: 'ms' },
    energy: { total: instead === undefined ? joules * 1000 : instead, unit: 'Wms' },
    emissions: { total: joules * 10, unit: 'ugCO2e' },
    ...padding,
  };
  return { fields: { impact }, events: [{ impact }] };
}

function melious({ instead, joules, padding }: Amount): EnergyPart {
  const kwh = joules / J_PER_KWH;
  const environment_impact = {
    energy_kwh: instead === undefined ? kwh : instead,
    carbon_g_co2: kwh * 40,
    water_liters: kwh,
    renewable_percent: 90,
    pue: 1.2,
    provider_id: 'simulator',
    location: 'FI',
    ...padding,
  };
  return { fields: { environment_impact }, finalFields: { environment_impact } };
}

function ecologits({ instead, joules, padding }: Amount): EnergyPart {
  const kwh = joules / J_PER_KWH;
  const value = instead === undefined ? { min: kwh * 0.75, max: kwh * 1.25 } : instead;
  const impacts = { energy: { type: 'energy', name: 'Energy', value, unit: 'kWh' }, ...padding };
  return { fields: { impacts }, lastFields: { impacts } };
}

function energyHeader({ instead, joules }: Amount): EnergyPart {
  const figure = instead === undefined ? joules : instead;
  const text = typeof figure === 'string' ? figure : JSON.stringify(figure);
  return { headers: { 'x-energy-joules': text, 'x-energy-method': 'simulated' } };
}

const makers: Readonly<Record<EnergyShape, (amount: Amount) => EnergyPart>> = {
  neuralwatt,
  greenpt,
  melious,
  ecologits_impacts: ecologits,
  energy_header: energyHeader,
};

/** Returns the energy statements for a number of tokens, according to the directives. */
export function reportEnergy(
  model: SimModel,
  directives: Directives,
  promptTokens: number,
  completionTokens: number,
): EnergyReport {
  const { energy, faults } = directives;
  const shapes = energy.shapes ?? (model.measuresEnergy ? ['neuralwatt' as const] : []);
  if (faults.has('no-energy') || shapes.length === 0) return noEnergy;
  const durationS = completionTokens / TOKENS_PER_S + promptTokens / PROMPT_TOKENS_PER_S;
  const said: Amount = {
    durationS,
    joules: POWER_W * durationS * RATIO,
    instead: energy.value,
    padding: faults.has('big-energy') ? { padding: paddingOf(directives.bytes) } : {},
  };
  const reportOf = (amount: Amount) =>
    shapes.map((shape) => makers[shape](amount)).reduce<EnergyReport>(both, noEnergy);
  const report = reportOf(said);
  return faults.has('energy-twice') ? twice(reportOf({ ...said, joules: said.joules * 2 }), report) : report;
}

/** Returns many small objects of about `bytes` in total. */
const paddingOf = (bytes: number): object[] => Array.from({ length: bytes >> 8 }, () => ({ x: 'x'.repeat(247) }));

export const noEnergy: EnergyReport = {
  headers: {},
  fields: {},
  earlyFields: {},
  lastFields: {},
  finalFields: {},
  comments: [],
  events: [],
};

function both(a: EnergyReport, b: EnergyPart): EnergyReport {
  return {
    headers: { ...a.headers, ...b.headers },
    fields: { ...a.fields, ...b.fields },
    earlyFields: a.earlyFields,
    lastFields: { ...a.lastFields, ...b.lastFields },
    finalFields: { ...a.finalFields, ...b.finalFields },
    comments: [...a.comments, ...(b.comments ?? [])],
    events: [...a.events, ...(b.events ?? [])],
  };
}

/** Combines two reports, of which the second supersedes the first. */
function twice(first: EnergyReport, then: EnergyReport): EnergyReport {
  const repeated = Object.entries(then.headers).map(([name, value]) => [
    name,
    [first.headers[name], value].flatMap((text) => text ?? []),
  ]);
  return { ...then, headers: Object.fromEntries(repeated), earlyFields: first.fields };
}
