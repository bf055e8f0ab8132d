/** Draws profiles of services beside each other: as wide as they take processor time for a call, callers above callees. */
import { escaped } from '@gw/contract/internal/html-text';
import type { Frame } from './profile.ts';

const [left, right, head, rowHeight] = [10, 10, 44, 16];
const gap = 6;
/** Narrower frames cannot be seen. */
const narrowest = 0.6;
const letterWidth = 6.1;
/** What lies deeper is too narrow to be read. */
const deepest = 26;

/** Colours follow the page, light or dark. */
const style = `text{font:11px system-ui,sans-serif;fill:#24292f}.title{font-size:14px;font-weight:600}rect{stroke:#fff;stroke-width:.5}
.a{fill:#f6b26b}.b{fill:#f9cb9c}.c{fill:#ffe0b8}.part{fill:#2da44e}.runtime{fill:#c9d1d9}
@media (prefers-color-scheme:dark){.title{fill:#e6edf3}rect{stroke:#0d1117}}`;

const shade = ['a', 'b', 'c'] as const;

export interface GraphOptions {
  readonly title: string;
  readonly width?: number;
  /** How many µs are as wide as the picture, so that two of them can be held against each other; default: all there are. */
  readonly scaleUs?: number;
}

/** Returns an SVG. */
export function flameGraph(parts: readonly Frame[], { scaleUs, title, width = 1200 }: GraphOptions): string {
  const totalUs = parts.reduce((sum, { us }) => sum + us, 0);
  const room = width - left - right - gap * (parts.length - 1);
  const perUs = room / (scaleUs ?? totalUs);
  const depth = Math.min(deepest, Math.max(...parts.map((part) => depthOf(part, perUs))));
  const height = head + depth * rowHeight + 10;
  const drawn: string[] = [];
  let x = left;
  for (const part of parts) {
    draw(part, { x, level: 0, perUs, drawn, label: `${part.name}, ${part.us.toFixed(0)} µs` });
    x += part.us * perUs + gap;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title><style>${style}</style>`,
    `<text class="title" x="${left}" y="24">${escaped(title)}: ${totalUs.toFixed(0)} µs for a call</text>`,
    drawn.join(''),
    '</svg>\n',
  ].join('\n');
}

const byWidth = ({ callees }: Frame): Frame[] => [...callees.values()].sort((a, b) => b.us - a.us);

const depthOf = (frame: Frame, perUs: number): number =>
  frame.us * perUs < narrowest ? 0 : 1 + Math.max(0, ...byWidth(frame).map((each) => depthOf(each, perUs)));

interface Place {
  readonly x: number;
  readonly level: number;
  readonly perUs: number;
  readonly drawn: string[];
  readonly label?: string;
}

function draw(frame: Frame, { drawn, label = frame.name, level, perUs, x }: Place): void {
  const width = frame.us * perUs;
  if (width < narrowest || level >= deepest) return;
  const y = head + level * rowHeight;
  const kind = level === 0 ? 'part' : frame.isRuntime ? 'runtime' : shade[level % shade.length];
  const fits = Math.floor((width - 6) / letterWidth);
  drawn.push(
    `<rect class="${kind}" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${rowHeight}"><title>${escaped(frame.name)}, ${frame.us.toFixed(1)} µs</title></rect>`,
    ...(fits >= 3 ? [`<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(label.slice(0, fits))}</text>`] : []),
  );
  let at = x;
  for (const callee of byWidth(frame)) {
    draw(callee, { x: at, level: level + 1, perUs, drawn });
    at += callee.us * perUs;
  }
}
