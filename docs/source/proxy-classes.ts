/** Makes the table of what a token takes by the proxy tier, which methodology/README.md prints. */
import { assess } from '@gw/methodology/assess';
import { classSpans, standIns } from '@gw/methodology/factors';
import type { ModelClass } from '@gw/methodology/facts';
import { annualReading } from '@gw/methodology/grid-annual';
import { tableOf } from './numbers.ts';

type Range = { readonly min: number; readonly max: number };
const range = ({ min, max }: Range): string => (min === max ? String(min) : `${min}–${max}`);
const sized = ({ active, total }: { readonly active: Range; readonly total: Range }): string =>
  active.min === total.min && active.max === total.max
    ? `${range(total)}B`
    : `${range(total)}B, ${range(active)}B active`;

/** Wh of accelerators and host, before idle and overhead, of a call with these tokens. */
function taken(modelClass: ModelClass, promptTokens: number, completionTokens: number): readonly [number, number] {
  const made = assess({
    requestedTier: 'proxy',
    boundary: 'comprehensive',
    requestedAt: '2026-11-21T09:30:00.000Z',
    usage: { promptTokens, cachedPromptTokens: 0, completionTokens },
    upstreamLatencyS: null,
    model: {
      kind: modelClass === 'embedding' ? 'embedding' : 'chat',
      activeParametersB: null,
      totalParametersB: null,
      modelClass,
      quantizationBits: null,
      tokensPerS: null,
      ttftS: null,
    },
    site: { pue: 1, wueOnsiteLPerKwh: null },
    grid: annualReading('WOR'),
  });
  if (!made.ok) throw new Error(`${modelClass}: ${made.explanation}`);
  return [Number(made.impact.energy_accelerator_wh), Number(made.impact.energy_host_wh)];
}

/** Wh for 1,000 tokens of an answer after 1,000 of a prompt, and of that prompt alone. */
export function proxyClassesTable(): string {
  const rows = (Object.keys(standIns) as ModelClass[]).map((name) => {
    const [read, readBeside] = taken(name, 1000, 0);
    const [whole, beside] = taken(name, 1000, 1000);
    const written = name === 'embedding' ? ['–', '–'] : [whole - read, beside - readBeside].map((wh) => wh.toFixed(4));
    return [`\`${name}\``, sized(standIns[name]), sized(classSpans[name]), ...written, read.toFixed(4)];
  });
  return tableOf(
    ['Class', 'Stand-in', 'Bounds hold models of', 'Accelerators, output', 'Host, output', 'Accelerators, input'],
    rows,
  );
}
