/** The few shapes that the charts are made of. Colours follow the reader's light or dark mode. */

export const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const place = (value: number): string => String(Math.round(value * 10) / 10);

export type Anchor = 'start' | 'middle' | 'end';

export const text = (x: number, y: number, content: string, style = '', anchor: Anchor = 'start'): string =>
  `<text x="${place(x)}" y="${place(y)}" text-anchor="${anchor}"${style && ` class="${style}"`}>${escaped(content)}</text>`;

export const rect = (x: number, y: number, width: number, height: number, style: string, title: string): string =>
  `<rect x="${place(x)}" y="${place(y)}" width="${place(width)}" height="${place(height)}" class="${style}"><title>${escaped(title)}</title></rect>`;

export const line = (from: readonly [number, number], to: readonly [number, number], style: string): string =>
  `<line x1="${place(from[0])}" y1="${place(from[1])}" x2="${place(to[0])}" y2="${place(to[1])}" class="${style}"/>`;

export const path = (points: readonly (readonly [number, number])[], style: string, closed = false): string =>
  `<path d="${points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${place(x)} ${place(y)}`).join(' ')}${closed ? ' Z' : ''}" class="${style}"/>`;

const styles = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #24292f; }
  .title { font-weight: 600; font-size: 14px; } .small { font-size: 11.5px; } .soft { fill: #57606a; font-size: 11.5px; }
  .axis { stroke: #8c959f; stroke-width: 1; fill: none; } .grid { stroke: #8c959f; stroke-opacity: 0.25; }
  .bound { stroke: #24292f; stroke-width: 1.5; }
  .a { fill: #3b76c4; } .b { fill: #7aa7dd; } .c { fill: #c9a227; } .d { fill: #8f9aa6; } .e { fill: #b4653a; }
  .line-a { stroke: #3b76c4; stroke-width: 2; fill: none; } .band-a { fill: #3b76c4; fill-opacity: 0.2; }
  .line-e { stroke: #b4653a; stroke-width: 2; fill: none; } .band-e { fill: #b4653a; fill-opacity: 0.16; }
  .line-c { stroke: #967514; stroke-width: 2; fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .soft { fill: #9da7b3; } .bound { stroke: #e6edf3; } .line-c { stroke: #e3b341; }
  }`;

export function svg(width: number, height: number, description: string, shapes: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(description)}">
<style>${styles}
</style>
${shapes.join('\n')}
</svg>
`;
}
