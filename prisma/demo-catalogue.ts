/** The models and regions of the built-in simulated provider, and the description of an unknown provider. */
import type { ApiName } from '@gw/contract/internal/catalogue/apis';
import { proposedModel } from '@gw/methodology/proposed-model';
import type { Prisma } from './client.ts';

const chat = { ownedBy: 'simulator', kind: 'chat' as const, contextWindow: 131_072, modalities: ['text'] };
/** The simulator reads no tokens, so any vocabulary fits it; these let prompts be counted and token lists be sent. */
const counted = { tokenizer: 'o200k_base' };

/** Nobody has stated any of it, and the entries say so. */
const madeUp = 'made up for the demo: the simulator computes nothing';

/** A known count is a range of one value. */
const parameters = (totalB: number, activeB: number = totalB) => ({
  activeParametersMinB: activeB,
  activeParametersMaxB: activeB,
  totalParametersMinB: totalB,
  totalParametersMaxB: totalB,
  parametersSource: madeUp,
});

/** The APIs that the simulator speaks. */
export const simulatorApis: readonly ApiName[] = ['chat', 'completions', 'embeddings', 'responses', 'messages'];

export const simulatorModels: readonly Prisma.ModelCreateManyInput[] = [
  { ...chat, ...counted, ...parameters(8), id: 'sim-small', modelClass: 'small' },
  { ...chat, ...counted, ...parameters(70), id: 'sim-large', modelClass: 'large' },
  // The one model whose replies carry measured energy.
  { ...chat, ...parameters(117, 5.1), id: 'sim-measured', modelClass: 'moe_small_active' },
  {
    ...parameters(0.3),
    id: 'sim-embed',
    ownedBy: 'simulator',
    kind: 'embedding',
    contextWindow: 8192,
    modalities: ['text'],
    takesTemperature: false,
    tokenizer: 'cl100k_base',
    modelClass: 'embedding',
  },
];

const [demoFrom, demoFromText] = [new Date('2025-01-01T00:00:00Z'), '2025-01-01T00:00:00Z'];

export const madeUpPrice = 'made up for the demo: the simulator charges nothing';

/** Nobody pays them; they show what the usage says of money. */
export const simulatorPrices: readonly Prisma.PriceCreateManyInput[] = (
  [
    ['sim-small', '0.15', '0.6'],
    ['sim-large', '2.5', '10'],
    ['sim-measured', '0.1', '0.4'],
    ['sim-embed', '0.02', '0'],
  ] as const
).map(([model, inputPerMtok, outputPerMtok]) => ({
  id: `${demoFromText}/simulator/*/${model}`,
  provider: 'simulator',
  model,
  validFrom: demoFrom,
  inputPerMtok,
  outputPerMtok,
  source: madeUpPrice,
}));

export const simulatorRegions: readonly Prisma.RegionCreateManyInput[] = [
  { code: 'us-east', name: 'Virginia', country: 'US', gridZone: 'USA', preference: 0 },
  { code: 'eu-north', name: 'Stockholm', country: 'SE', gridZone: 'SWE', preference: 1 },
  { code: 'eu-west', name: 'Paris', country: 'FR', gridZone: 'FRA', preference: 2 },
];

const offered = (...ids: string[]): Prisma.InputJsonObject => Object.fromEntries(ids.map((id) => [id, id]));

/** PUE and WUE are made up, like the data centres; they differ so that the region shows in the receipt. */
const dataCentres = [
  { regionCode: 'us-east', pue: 1.15, wueOnsiteLPerKwh: 0.4 },
  { regionCode: 'eu-north', pue: 1.1, wueOnsiteLPerKwh: 0.05 },
  { regionCode: 'eu-west', pue: 1.2, wueOnsiteLPerKwh: 0.2 },
] as const;

const assumed = (source: string) => ({ kind: 'assumed', source, period: null });
const noEvidence = { pueEvidence: assumed(madeUp), wueEvidence: assumed(madeUp) };

/** Each data centre has meters at some of its accelerators: what runs there is a deployment of its own. */
export const simulatorDeployments: readonly Prisma.DeploymentCreateManyInput[] = dataCentres.flatMap((site) => [
  {
    ...site,
    ...noEvidence,
    id: `sim-${site.regionCode}`,
    providerId: 'simulator',
    // Without sim-large in one, so that there is a known region that lacks a known model.
    models:
      site.regionCode === 'eu-west'
        ? offered('sim-small', 'sim-embed')
        : offered('sim-small', 'sim-large', 'sim-embed'),
  },
  {
    ...site,
    ...noEvidence,
    id: `sim-${site.regionCode}-metered`,
    providerId: 'simulator',
    models: offered('sim-measured'),
    telemetry: 'neuralwatt',
  },
]);

/** Where an unknown provider computes is unknown, so the world's average grid stands for it. */
export const customRegion: Prisma.RegionCreateInput = {
  code: 'default',
  name: 'Default',
  country: 'unknown',
  gridZone: 'WOR',
  preference: 0,
};

/** Nobody told the PUE of an unknown provider: higher than the large clouds publish, so that it is not flattered. */
export const customSite = {
  pue: 1.5,
  pueEvidence: assumed('nobody has stated it: 1.5 is more than large clouds publish'),
};

/** The models that OpenAI names; the same name at another server is taken for the same model. */
function tokenizerOf(id: string): string | null {
  const name = id.slice(id.lastIndexOf('/') + 1);
  if (/^(gpt-4o|gpt-4\.\d|gpt-5|gpt-oss|o[134](-|$)|chatgpt-4o)/.test(name)) return 'o200k_base';
  return /^(gpt-4|gpt-3\.5-turbo|text-embedding-(3|ada-002)|davinci-002|babbage-002)/.test(name) ? 'cl100k_base' : null;
}

/** A model of which only the name is known; `./gw up` says what is taken for it. */
export function customModel(id: string, baseUrl: string): Prisma.ModelCreateManyInput {
  const { active, bits, kind, modelClass, parametersSource, total, tokensPerS, ttftS, hiddenReasoning } = proposedModel(
    id,
    baseUrl,
  );
  return {
    id,
    ownedBy: 'custom',
    kind,
    modalities: ['text'],
    takesTemperature: kind === 'chat',
    tokenizer: tokenizerOf(id),
    activeParametersMinB: active?.min ?? null,
    activeParametersMaxB: active?.max ?? null,
    totalParametersMinB: total?.min ?? null,
    totalParametersMaxB: total?.max ?? null,
    modelClass,
    quantizationBits: bits,
    tokensPerS,
    ttftS,
    hiddenReasoning,
    parametersSource,
  };
}
