/**
 * Where the energy counters of self-hosted GPUs are, by deployment. `GW_GPU_COUNTERS` is a JSON object:
 *
 *   {"my-h100": {"energy": "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{Hostname=\"gpu-1\"}",
 *                "tokens": ["vllm:prompt_tokens_total{instance=\"gpu-1:8000\"}",
 *                           "vllm:generation_tokens_total{instance=\"gpu-1:8000\"}"]}}
 *
 * Invariant: a selector names series and computes nothing, so that what is read are the samples as they were scraped.
 */
import type { SettingReader } from '@gw/contract/internal/environment';
import { z } from 'zod';
import { readOutsideUrl } from '../grid/outside-url.ts';

/** The units that an energy counter can have. */
export const counterUnits = ['mJ', 'J', 'Wh', 'kWh'] as const;
export type CounterUnit = (typeof counterUnits)[number];

/** The counters of one deployment, as Prometheus selectors. */
export interface DeploymentCounters {
  /** Selects one series for each GPU of the deployment, and no others. */
  readonly energy: string;
  readonly unit: CounterUnit;
  /** Select the token counters, input and output, of every server on these GPUs, each series once. */
  readonly tokens: readonly string[];
}

/** Where GPU counters are read, and how long their samples are waited for. Without deployments no server is asked. */
export interface GpuSettings {
  readonly deployments: ReadonlyMap<string, DeploymentCounters>;
  readonly prometheus: { readonly baseUrl: string; readonly headers: Readonly<Record<string, string>> };
  readonly refreshS: number;
  /** The most that our clock and that of Prometheus can differ; both ends of a call are widened by it. */
  readonly marginS: number;
  /** How far a sample can be from the call, beyond the margin. */
  readonly maxGapS: number;
  /** How long after the end of a call its samples are waited for. */
  readonly giveUpS: number;
}

const example =
  'GW_GPU_COUNTERS={"my-h100":{"energy":"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{Hostname=\\"gpu-1\\"}","tokens":["vllm:prompt_tokens_total{instance=\\"gpu-1:8000\\"}","vllm:generation_tokens_total{instance=\\"gpu-1:8000\\"}"]}}';

/** Accepts a metric with label matchers, but no function, range or operator. */
const selector = z
  .string()
  .max(1000)
  .regex(
    /^[A-Za-z_:][A-Za-z0-9_:]*(\{(?:[^"'`{}[\]()]|"(?:[^"\\]|\\.)*")*\})?$/,
    'is not a metric with label matchers',
  );

const countersSchema = z.record(
  z.string().min(1).max(100),
  z.strictObject({
    energy: selector,
    unit: z.enum(counterUnits).default('mJ'),
    tokens: z.array(selector).min(1).max(8),
  }),
);
const headersSchema = z.record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().regex(/^[\x20-\x7e]+$/));

/** Reads the settings. What is wrong with them is reported to `settings`, without a header or a token. */
export function readGpuSettings(settings: SettingReader): GpuSettings {
  const deployments = readCounters(settings);
  const marginS = settings.integer('GW_GPU_MARGIN_S', 1);
  const maxGapS = settings.integer('GW_GPU_MAX_GAP_S', 60);
  const giveUpS = settings.integer('GW_GPU_GIVE_UP_S', 3600);
  const refreshS = settings.integer('GW_GPU_REFRESH_S', 10);
  if (maxGapS < 1) settings.problem('GW_GPU_MAX_GAP_S is less than 1. Example: GW_GPU_MAX_GAP_S=60');
  if (refreshS < 1) settings.problem('GW_GPU_REFRESH_S is less than 1. Example: GW_GPU_REFRESH_S=10');
  return {
    deployments,
    prometheus: {
      baseUrl: deployments.size === 0 ? '' : readUrl(settings),
      headers: { ...readHeaders(settings), ...readToken(settings) },
    },
    refreshS,
    marginS,
    maxGapS,
    giveUpS,
  };
}

function readCounters(settings: SettingReader): Map<string, DeploymentCounters> {
  const text = settings.optional('GW_GPU_COUNTERS', '');
  if (text === '') return new Map();
  const parsed = countersSchema.safeParse(jsonOf(text));
  if (parsed.success) return new Map(Object.entries(parsed.data));
  const places = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`);
  settings.problem(`GW_GPU_COUNTERS is malformed (${places.join('; ')}). Example: ${example}`);
  return new Map();
}

function readHeaders(settings: SettingReader): Record<string, string> {
  const text = settings.optional('GW_GPU_PROMETHEUS_HEADERS', '');
  if (text === '') return {};
  const parsed = headersSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  // Not what is wrong in it: a header can be a secret.
  settings.problem(
    'GW_GPU_PROMETHEUS_HEADERS is not a JSON object of headers. Example: GW_GPU_PROMETHEUS_HEADERS={"X-Scope-OrgID":"team"}',
  );
  return {};
}

function readToken(settings: SettingReader): Record<string, string> {
  const token = settings.optional('GW_GPU_PROMETHEUS_TOKEN', '');
  if (token === '') return {};
  if (!/^[\x21-\x7e]+$/.test(token))
    settings.problem(
      'GW_GPU_PROMETHEUS_TOKEN does not have the right form. Example: GW_GPU_PROMETHEUS_TOKEN=<a bearer token>',
    );
  return { authorization: `Bearer ${token}` };
}

/** It can hold a path that comes before `/api/v1`. */
function readUrl(settings: SettingReader): string {
  const [name, example] = ['GW_GPU_PROMETHEUS_URL', 'https://prometheus.example.com'];
  const text = settings.required(name, example);
  return text === '' ? '' : readOutsideUrl(settings, { name, text, example, localName: 'GW_GPU_PROMETHEUS_LOCAL' });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
