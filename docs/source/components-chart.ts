/** The parts of one receipt in both boundaries, as bars with the receipt's bounds. */
import type { Receipt } from '@gw/contract/receipt';
import { examples } from './examples.ts';
import { short } from './numbers.ts';
import { line, rect, svg, text } from './svg.ts';

interface Part {
  readonly field: keyof Receipt;
  readonly name: string;
  readonly style: string;
}
interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly parts: readonly Part[];
  readonly total: keyof Receipt;
  readonly low: keyof Receipt;
  readonly high: keyof Receipt;
}

const panels: readonly Panel[] = [
  {
    title: 'Energy',
    unit: 'Wh',
    parts: [
      { field: 'energy_accelerator_wh', name: 'accelerators', style: 'a' },
      { field: 'energy_host_wh', name: 'host', style: 'b' },
      { field: 'energy_idle_wh', name: 'idle', style: 'c' },
      { field: 'energy_overhead_wh', name: 'overhead', style: 'd' },
    ],
    total: 'energy_wh',
    low: 'energy_low_wh',
    high: 'energy_high_wh',
  },
  {
    title: 'Carbon',
    unit: 'gCO2e',
    parts: [
      { field: 'carbon_operation_g', name: 'operation', style: 'a' },
      { field: 'carbon_embodied_g', name: 'embodied', style: 'e' },
    ],
    total: 'carbon_g',
    low: 'carbon_low_g',
    high: 'carbon_high_g',
  },
];

const left = 120;
const width = 760;
const barsWidth = 500;
const barHeight = 26;
const amount = (receipt: Receipt, field: keyof Receipt): number => Number(receipt[field] ?? 0);

function bar(receipt: Receipt, panel: Panel, y: number, scale: number): string[] {
  const { parts, unit, total, low, high } = panel;
  let x = left;
  const boxes = parts.map(({ field, name, style }) => {
    const length = amount(receipt, field) * scale;
    x += length;
    return length === 0
      ? ''
      : rect(x - length, y, length, barHeight, style, `${name}: ${short(amount(receipt, field))} ${unit}`);
  });
  const middle = y + barHeight / 2;
  const [from, to] = [left + amount(receipt, low) * scale, left + amount(receipt, high) * scale];
  const ends = [from, to].map((end) => line([end, middle - 5], [end, middle + 5], 'bound'));
  return [
    text(left - 10, middle + 4, receipt.boundary, '', 'end'),
    ...boxes.filter((box) => box !== ''),
    line([from, middle], [to, middle], 'bound'),
    ...ends,
    text(left + amount(receipt, high) * scale + 10, middle + 4, `${short(amount(receipt, total), 3)} ${unit}`),
  ];
}

function legend(parts: readonly Part[], unit: string, y: number): string[] {
  let x = left;
  return parts.flatMap(({ field, name, style }) => {
    const label = `${name} ${short(amount(examples.parametric.receipt, field), 3)} ${unit}`;
    const at = x;
    x += 40 + label.length * 6.3;
    return [rect(at, y - 10, 11, 11, style, name), text(at + 16, y, label, 'small')];
  });
}

export function componentsChart(): string {
  const receipts: readonly Receipt[] = [examples.parametric.receipt, examples.narrow.receipt];
  const shapes = panels.flatMap((panel, index) => {
    const top = 22 + index * 132;
    const scale = barsWidth / Math.max(...receipts.map((receipt) => amount(receipt, panel.high)));
    return [
      text(left, top, panel.title, 'title'),
      ...receipts.flatMap((receipt, row) => bar(receipt, panel, top + 12 + row * (barHeight + 8), scale)),
      ...legend(panel.parts, panel.unit, top + 98),
    ];
  });
  return svg(width, 268, 'Energy and carbon of one call by component, in both boundaries', shapes);
}
