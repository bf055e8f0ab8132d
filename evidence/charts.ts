/**
 * Draws charts as SVG text: a line over days with its band of uncertainty, and bars with their bounds.
 *
 * Invariant: every text is escaped. A library is not worth it for rectangles and two paths, and a page for readers without a
 * network could not load one.
 */
import { escaped } from '@gw/contract/internal/html-text';

export interface Point {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Writes at most four digits; very small and very large numbers have an exponent. */
export const shortNumber = (value: number): string =>
  value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6)
    ? value.toExponential(2)
    : new Intl.NumberFormat('en', { maximumSignificantDigits: 4 }).format(value);

const [width, height, left, bottom] = [720, 240, 70, 30];
const at = (x: number, y: number): string => `${x.toFixed(1)},${y.toFixed(1)}`;

const svg = (title: string, tall: number, inner: string): string =>
  `<svg viewBox="0 0 ${width} ${tall}" role="img" aria-label="${escaped(title)}"><title>${escaped(title)}</title>${inner}</svg>`;

/** `points`: one for each day, in their order. */
export function lineChart(title: string, unit: string, points: readonly Point[]): string {
  const most = Math.max(...points.map(({ high, value }) => Math.max(high, value)), Number.MIN_VALUE);
  const x = (index: number) => left + ((width - left - 10) * (index + 0.5)) / points.length;
  const y = (value: number) => height - bottom - ((height - bottom - 10) * value) / most;
  const upper = points.map(({ high }, index) => at(x(index), y(high)));
  const lower = points.map(({ low }, index) => at(x(index), y(low))).toReversed();
  const line = points.map(({ value }, index) => at(x(index), y(value)));
  const everyNth = Math.ceil(points.length / 8);
  const marks = [0, 0.5, 1].map(
    (part) =>
      `<line class="grid" x1="${left}" x2="${width}" y1="${y(most * part).toFixed(1)}" y2="${y(most * part).toFixed(1)}"/>` +
      `<text x="${left - 6}" y="${(y(most * part) + 4).toFixed(1)}" text-anchor="end">${shortNumber(most * part)}</text>`,
  );
  const days = points.flatMap(({ label }, index) =>
    index % everyNth === 0
      ? `<text x="${x(index).toFixed(1)}" y="${height - 10}" text-anchor="middle">${escaped(label)}</text>`
      : [],
  );
  const dots = points.map(
    ({ high, label, low, value }, index) =>
      `<circle cx="${x(index).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3"><title>${escaped(label)}: ${shortNumber(value)} ${escaped(unit)} (${shortNumber(low)} to ${shortNumber(high)})</title></circle>`,
  );
  const band = `<polygon class="band" points="${[...upper, ...lower].join(' ')}"/><polyline class="line" points="${line.join(' ')}"/>`;
  return svg(title, height, marks.join('') + band + dots.join('') + days.join(''));
}

const barHeight = 26;
const names = 240;

/** Draws a bar for each point, with a line from its lower to its upper bound. */
export function barChart(title: string, unit: string, points: readonly Point[]): string {
  const most = Math.max(...points.map(({ high, value }) => Math.max(high, value)), Number.MIN_VALUE);
  const x = (value: number) => names + ((width - names - 120) * value) / most;
  const bars = points.map(({ high, label, low, value }, index) => {
    const top = index * barHeight + 4;
    const middle = top + 9;
    const name = label.length > 34 ? `${label.slice(0, 33)}…` : label;
    return (
      `<text x="${names - 8}" y="${middle + 4}" text-anchor="end">${escaped(name)}<title>${escaped(label)}</title></text>` +
      `<rect class="bar" x="${names}" y="${top}" width="${(x(value) - names).toFixed(1)}" height="18"/>` +
      `<line class="bound" x1="${x(low).toFixed(1)}" x2="${x(high).toFixed(1)}" y1="${middle}" y2="${middle}"/>` +
      `<text x="${(x(Math.max(high, value)) + 8).toFixed(1)}" y="${middle + 4}">${shortNumber(value)} ${escaped(unit)}</text>`
    );
  });
  return svg(title, points.length * barHeight + 8, bars.join(''));
}
