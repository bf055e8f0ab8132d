/** Reads the measurements by ML.ENERGY of open models that write text (data/mlenergy-v3.json), in the units of the formulas. */
import { readFileSync } from 'node:fs';

export interface Measurement {
  readonly task: 'lm-arena-chat' | 'gpqa' | 'sourcegraph-fim';
  readonly model: string;
  readonly activeB: number;
  readonly totalB: number;
  readonly bits: number;
  readonly accelerator: 'H100' | 'B200';
  /** Requests at once, on average. */
  readonly concurrency: number;
  /** Tokens of an answer, on average. */
  readonly outputTokens: number;
  /** Tokens of a prompt. Not published: an assumption, which matters for `sourcegraph-fim` alone, whose prompts are long. */
  readonly promptTokens: number;
  /** All accelerators together took this for a token of the answers. */
  readonly whPerToken: number;
  readonly gpuSecondsPerToken: number;
}

const bitsOf: Readonly<Record<string, number>> = { bfloat16: 16, fp8: 8, mxfp4: 4 };
const promptsOf = { 'lm-arena-chat': 150, gpqa: 300, 'sourcegraph-fim': 1500 } as const;

type TabledConfiguration = [
  Measurement['task'],
  string,
  number,
  number,
  string,
  Measurement['accelerator'],
  ...number[],
];

export function measurements(): Measurement[] {
  const file = new URL('../data/mlenergy-v3.json', import.meta.url);
  const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { readonly rows: readonly TabledConfiguration[] };
  return rows.map(([task, model, activeB, totalB, precision, accelerator, ...numbers]) => {
    const [gpus = 0, concurrency = 0, outputTokens = 0, joules = 0, tokensPerS = 0] = numbers;
    const bits = bitsOf[precision];
    if (bits === undefined) throw new Error(`data/mlenergy-v3.json: how many bits has ${precision}?`);
    return {
      task,
      model,
      activeB,
      totalB,
      bits,
      accelerator,
      concurrency,
      outputTokens,
      promptTokens: promptsOf[task],
      whPerToken: joules / 3600,
      gpuSecondsPerToken: gpus / tokensPerS,
    };
  });
}
