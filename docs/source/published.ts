/** Figures that others have published for a call, beside what the product computes for the same call. */
import { assess, type CallFacts } from '@gw/methodology/assess';
import { annualReading } from '@gw/methodology/grid-annual';
import { proposedModel } from '@gw/methodology/proposed-model';
import { short, tableOf } from './numbers.ts';

interface PublishedFigure {
  /** Who published it, as a link. */
  readonly source: string;
  /** The call, in words that say what is assumed of it. */
  readonly call: string;
  readonly amount: 'energy_wh' | 'carbon_g' | 'water_ml';
  readonly published: number;
  /** A model as a provider names it. */
  readonly model: string;
  /** Whose service it is; absent: nobody's that is known. */
  readonly provider?: string;
  /** Prompt and completion. */
  readonly tokens: readonly [number, number];
  readonly pue: number;
  readonly zone?: string;
  /** Accelerators alone are measured. */
  readonly boundary?: CallFacts['boundary'];
  /** Why the figure is outside of the bounds; absent: it is inside. */
  readonly outside?: string;
}

const mlEnergy = '[ML.ENERGY leaderboard v3](https://ml.energy/leaderboard), commit 0cd52da';
const measured = (model: string, joulesPerToken: number, runs: number): PublishedFigure => ({
  source: mlEnergy,
  call: `\`${model}\`, 500 tokens of output, accelerators alone: median of ${runs} runs on H100 and B200 at batches of 16 to 256`,
  amount: 'energy_wh',
  published: (joulesPerToken * 500) / 3600,
  model,
  tokens: [200, 500],
  pue: 1,
  boundary: 'narrow',
});
const google = '[Google, arXiv 2508.15734](https://arxiv.org/abs/2508.15734)';
const oviedo = '[Oviedo et al., arXiv 2509.20241 v2](https://arxiv.org/abs/2509.20241)';
const jegham = '[Jegham et al., arXiv 2505.09598](https://arxiv.org/abs/2505.09598)';
const epoch = '[Epoch AI](https://epoch.ai/gradient-updates/how-much-energy-does-chatgpt-use)';
const openai = '[OpenAI](https://blog.samaltman.com/the-gentle-singularity)';
const mistral = '[Mistral AI](https://mistral.ai/news/our-contribution-to-a-global-environmental-standard-for-ai)';
const gpt4o = { model: 'gpt-4o', provider: 'https://api.openai.com/v1' } as const;
const energy = { amount: 'energy_wh', pue: 1.2 } as const;
const lifeCycle = {
  source: mistral,
  model: 'mistralai/Mistral-Large-Instruct-2407',
  call: 'Mistral Large 2, 400 tokens of output, France',
  tokens: [200, 400],
  pue: 1.16,
  zone: 'FRA',
} as const;

export const publishedFigures: readonly PublishedFigure[] = [
  measured('openai/gpt-oss-20b', 0.0799, 11),
  measured('meta-llama/Llama-3.1-8B-Instruct', 0.1006, 10),
  measured('Qwen/Qwen3-14B', 0.1672, 15),
  measured('meta-llama/Llama-3.1-70B-Instruct', 0.6056, 10),
  measured('Qwen/Qwen3-235B-A22B-Instruct-2507', 1.6657, 14),
  {
    source: google,
    call: 'median prompt of Gemini; its model and tokens are not stated',
    published: 0.24,
    model: 'gemini-2.5-flash',
    provider: 'https://generativelanguage.googleapis.com/v1beta/openai',
    tokens: [200, 300],
    ...energy,
    pue: 1.09,
  },
  { source: openai, call: 'average query of ChatGPT', published: 0.34, ...gpt4o, tokens: [200, 500], ...energy },
  {
    source: epoch,
    call: 'GPT-4o, 500 tokens of output',
    published: 0.3,
    ...gpt4o,
    tokens: [100, 500],
    ...energy,
  },
  {
    source: epoch,
    call: 'GPT-4o, 10,000 tokens of input',
    published: 2.5,
    ...gpt4o,
    tokens: [10_000, 500],
    ...energy,
  },
  {
    source: epoch,
    call: 'GPT-4o, 100,000 tokens of input',
    published: 40,
    ...gpt4o,
    tokens: [100_000, 500],
    ...energy,
  },
  {
    source: oviedo,
    call: 'models above 200 billion parameters, median',
    published: 0.31,
    model: 'deepseek-r1',
    tokens: [500, 300],
    ...energy,
  },
  {
    source: oviedo,
    call: 'the same, long answers',
    published: 3.91,
    model: 'deepseek-r1',
    tokens: [500, 5000],
    ...energy,
  },
  { source: jegham, call: 'GPT-4o, short', published: 0.42, ...gpt4o, tokens: [100, 300], ...energy, pue: 1.12 },
  {
    source: jegham,
    call: 'DeepSeek-R1, long; its hidden reasoning is not stated',
    published: 33,
    model: 'deepseek-r1',
    tokens: [10_000, 1500],
    ...energy,
    pue: 1.27,
    outside: 'It includes hidden reasoning, whose tokens are not published and are not in the call that is computed.',
  },
  {
    ...lifeCycle,
    amount: 'carbon_g',
    published: 1.14,
    outside:
      'The published figure has parts that a receipt leaves out, and it does not follow from the grid of France. Its energy is not published.',
  },
  {
    ...lifeCycle,
    amount: 'water_ml',
    published: 45,
    outside:
      'It counts the water for making the hardware, and upstream of it. A receipt counts the water of cooling and of electricity.',
  },
];

const units = { energy_wh: 'Wh', carbon_g: 'g', water_ml: 'mL' } as const;

export function besideOurs(figure: PublishedFigure) {
  const {
    amount,
    boundary = 'comprehensive',
    model: name,
    provider = 'https://llm.example.com/v1',
    pue,
    tokens,
    zone = 'USA',
  } = figure;
  const { active, bits, kind, parametersSource, tokensPerS, total, ttftS } = proposedModel(name, provider);
  const [promptTokens, completionTokens] = tokens;
  const assessed = assess({
    requestedTier: 'parametric',
    boundary,
    requestedAt: '2026-11-21T09:30:00.000Z',
    usage: { promptTokens, cachedPromptTokens: 0, completionTokens },
    upstreamLatencyS: null,
    model: {
      kind,
      activeParametersB: active,
      totalParametersB: total,
      modelClass: null,
      quantizationBits: bits,
      tokensPerS,
      ttftS,
      parametersSource,
    },
    site: { pue, wueOnsiteLPerKwh: 0.3 },
    grid: annualReading(zone),
  });
  if (!assessed.ok) throw new Error(`${name}: ${assessed.reason}`);
  const { impact } = assessed;
  const ends = {
    energy_wh: [impact.energy_wh, impact.energy_low_wh, impact.energy_high_wh],
    carbon_g: [impact.carbon_g, impact.carbon_low_g, impact.carbon_high_g],
    water_ml: [impact.water_ml, impact.water_low_ml, impact.water_high_ml],
  } as const;
  const [value, low, high] = ends[amount].map(Number) as [number, number, number];
  return { value, low, high, isInside: low <= figure.published && figure.published <= high };
}

export function publishedTable(): string {
  const rows = publishedFigures.map((figure) => {
    const { high, isInside, low, value } = besideOurs(figure);
    const unit = units[figure.amount];
    const [prompt, completion] = figure.tokens;
    return [
      figure.source,
      figure.call,
      `${short(figure.published, 3)} ${unit}`,
      `${short(value, 3)} (${short(low, 3)} to ${short(high, 3)}) ${unit}`,
      short(value / figure.published, 2),
      `\`${figure.model}\`, ${prompt} + ${completion} tokens`,
      isInside ? 'inside' : `**outside**. ${figure.outside}`,
    ];
  });
  return tableOf(
    [
      'Published by',
      'Call',
      'Published',
      'Ours, with bounds',
      'Ours / published',
      'Computed as',
      'Published figure is',
    ],
    rows,
  );
}
