/** The run of docs/performance.json as bars: one panel for each figure, one bar for each target. */
import { type Figures, type Report, totalWithoutProvider } from '@gw/bench/internals/report';
import { show, title } from '@gw/bench/internals/table';
import { figuresAt } from './performance.ts';

type Target = Figures['target'];

interface Bar {
  readonly value: number | null;
  readonly range?: Figures['requestsPerSRange'];
}

interface Panel {
  readonly title: string;
  readonly bar: (report: Report, target: Target) => Bar;
}

const panels: readonly Panel[] = [
  {
    title: 'Requests per second, 32 connections (line: lowest to highest round)',
    bar: (report, target) => {
      const { requestsPerS: value, requestsPerSRange: range } = figuresAt(report, 'json-32', target);
      return { value, range };
    },
  },
  {
    title: 'Time of a call in ms, 1 connection, median',
    bar: (report, target) => ({ value: figuresAt(report, 'json-1', target).p50Ms }),
  },
  {
    title: 'Processor time of a call in µs, 32 connections, without the provider',
    bar: (report, target) => ({ value: totalWithoutProvider(figuresAt(report, 'json-32', target).cpuUsPerRequest) }),
  },
];

/** The table alone shows the provider, the budget and the bare gateway, which are not gateways of their own. */
const shown: readonly Target[] = ['envoy', 'gateway', 'envoy-ai-gateway', 'portkey', 'litellm'];

const width = 780;
const left = 130;
const barWidth = 540;
const rowHeight = 24;
const panelHead = 34;

/** Colours follow the page, light or dark. */
const style = `text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600}.bar{fill:#afb8c1}.own{fill:#2da44e}
.range{stroke:#57606a;stroke-width:1.5}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.bar{fill:#57606a}.own{fill:#3fb950}.range{stroke:#c9d1d9}}`;

const at = (value: number): string => value.toFixed(1);

function row(target: Target, { range, value }: Bar, scale: number, top: number): string {
  const length = (value ?? 0) * scale;
  const middle = top + rowHeight / 2;
  const ends = range && { from: left + range.lowest * scale, to: left + range.highest * scale };
  const text = Math.max(left + length, ends?.to ?? 0) + 8;
  return [
    `<text x="${left - 8}" y="${middle + 4}" text-anchor="end">${title[target]}</text>`,
    `<rect class="bar${target === 'gateway' ? ' own' : ''}" x="${left}" y="${top + 4}" width="${at(length)}" height="${rowHeight - 8}" rx="2"/>`,
    ...(ends ? [`<path class="range" d="M${at(ends.from)} ${middle}H${at(ends.to)}"/>`] : []),
    `<text x="${at(text)}" y="${middle + 4}">${show(value)}</text>`,
  ].join('\n');
}

function panel(report: Report, { bar, title: name }: Panel, targets: readonly Target[], top: number): string {
  const bars = targets.map((target) => bar(report, target));
  const most = Math.max(...bars.map(({ range, value }) => Math.max(value ?? 0, range?.highest ?? 0)), Number.MIN_VALUE);
  const rows = targets.map((target, i) =>
    row(target, bars[i] ?? { value: null }, barWidth / most, top + panelHead + i * rowHeight),
  );
  return [`<text class="title" x="8" y="${top + 22}">${name}</text>`, ...rows].join('\n');
}

export function performanceChart(report: Report): string {
  const targets = shown.filter((target) => report.figures.some((each) => each.target === target));
  const panelHeight = panelHead + targets.length * rowHeight;
  const height = panels.length * panelHeight + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${panels.map((each) => each.title).join('; ')}</title>`,
    `<style>${style}</style>`,
    ...panels.map((each, i) => panel(report, each, targets, i * panelHeight)),
    '</svg>\n',
  ].join('\n');
}
