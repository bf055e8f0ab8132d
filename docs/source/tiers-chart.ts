/** Energy of one call against the size of its model, with the interval of each tier. */
import { assess, type CallFacts } from '@gw/methodology/assess';
import { annualReading } from '@gw/methodology/grid-annual';
import { line, path, svg, text } from './svg.ts';

const sizes: readonly number[] = Array.from({ length: 161 }, (_, index) => 200 ** (index / 160));
const classes = [
  { modelClass: 'small', from: 1, to: 10 },
  { modelClass: 'medium', from: 10, to: 40 },
  { modelClass: 'large', from: 40, to: 120 },
] as const;

interface Point {
  readonly low: number;
  readonly value: number;
  readonly high: number;
}

function energyOf(model: Partial<CallFacts['model']>, telemetryWh: number | null = null): Point {
  const assessment = assess({
    requestedTier: 'auto',
    boundary: 'comprehensive',
    requestedAt: '2026-11-21T09:30:00.000Z',
    usage: { promptTokens: 1000, cachedPromptTokens: 0, completionTokens: 400 },
    upstreamLatencyS: null,
    model: {
      kind: 'chat',
      activeParametersB: null,
      totalParametersB: null,
      modelClass: null,
      quantizationBits: null,
      tokensPerS: null,
      ttftS: null,
      ...model,
    },
    site: { pue: 1.2, wueOnsiteLPerKwh: null },
    grid: annualReading('USA'),
    telemetry:
      telemetryWh === null
        ? null
        : {
            source: 'energy_header',
            energyWh: telemetryWh,
            includesPue: null,
            scope: 'total',
            durationS: null,
            attribution: null,
            intervalS: null,
            raw: null,
          },
  });
  if (!assessment.ok) throw new Error(assessment.explanation);
  const { energy_high_wh: high, energy_low_wh: low, energy_wh: value } = assessment.impact;
  return { low, value, high };
}

const dense = (size: number) => ({
  activeParametersB: { min: size, max: size },
  totalParametersB: { min: size, max: size },
});

const [left, right, top, bottom] = [70, 740, 30, 330];
const [lowest, highest] = [0.01, 5];
const x = (size: number): number => left + ((right - left) * Math.log(size)) / Math.log(200);
const y = (wh: number): number => bottom - ((bottom - top) * Math.log(wh / lowest)) / Math.log(highest / lowest);

function axes(): string[] {
  const heights = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
  const widths = [1, 2, 5, 10, 20, 50, 100, 200];
  return [
    text(left, top - 12, 'Wh per call', 'small'),
    ...heights.map((wh) => line([left, y(wh)], [right, y(wh)], 'grid')),
    ...heights.map((wh) => text(left - 8, y(wh) + 4, String(wh), 'soft', 'end')),
    line([left, bottom], [right, bottom], 'axis'),
    ...widths.map((size) => text(x(size), bottom + 18, String(size), 'soft', 'middle')),
    text((left + right) / 2, bottom + 38, 'billions of parameters of a dense model', 'small', 'middle'),
  ];
}

function proxySteps(): string[] {
  return classes.flatMap(({ from, modelClass, to }) => {
    const { high, low, value } = energyOf({ modelClass });
    const box = [
      [x(from), y(high)],
      [x(to), y(high)],
      [x(to), y(low)],
      [x(from), y(low)],
    ] as const;
    return [
      path(box, 'band-e', true),
      line([x(from), y(value)], [x(to), y(value)], 'line-e'),
      text(x(from) + 6, y(high) + 14, `proxy: ${modelClass}`, 'small'),
    ];
  });
}

function parametricCurve(): string[] {
  const points = sizes.map((size) => ({ size, ...energyOf(dense(size)) }));
  const upper = points.map(({ size, high }) => [x(size), y(high)] as const);
  const lower = points.map(({ size, low }) => [x(size), y(low)] as const);
  return [
    path([...upper, ...lower.toReversed()], 'band-a', true),
    path(
      points.map(({ size, value }) => [x(size), y(value)]),
      'line-a',
    ),
    text(x(128), y(energyOf(dense(128)).high) - 10, 'parametric', 'small', 'end'),
  ];
}

/** One measurement: its size is known, its energy does not depend on it. */
function measuredPoint(): string[] {
  const { high, low, value } = energyOf(dense(24), 0.3);
  const at = x(24);
  return [
    line([at, y(low)], [at, y(high)], 'line-c'),
    ...[low, value, high].map((wh) => line([at - 5, y(wh)], [at + 5, y(wh)], 'line-c')),
    text(at - 12, y(value) + 4, 'telemetry: 0.3 Wh reported', 'small', 'end'),
  ];
}

export function tiersChart(): string {
  return svg(760, 380, 'Energy of a call against the size of its model, by tier, with intervals', [
    ...axes(),
    ...proxySteps(),
    ...parametricCurve(),
    ...measuredPoint(),
  ]);
}
