/** How the documentation prints numbers. */

/** So many significant digits, without the zeros behind them. */
export const short = (value: number, digits = 6): string => String(Number(value.toPrecision(digits)));

/** A table cell for a value that may be unknown. */
export const cell = (value: unknown): string =>
  value === null || value === undefined ? 'null' : typeof value === 'number' ? short(value) : String(value);

export const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** JSON with one line per field; lists and objects of plain values stay on one line where that is short enough. */
export function jsonText(value: unknown, indent = ''): string {
  const oneLine = JSON.stringify(value)
    .replace(/":(?=[^/])/g, '": ')
    .replaceAll(',"', ', "');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const holdsObjects = Object.values(value).some(
    (item) => typeof item === 'object' && item !== null && Object.keys(item).length > 0,
  );
  const inner = `${indent}  `;
  if (indent !== '' && !holdsObjects && indent.length + oneLine.length <= 110 && isPlain(oneLine)) return oneLine;
  const items = Array.isArray(value)
    ? value.map((item) => `${inner}${jsonText(item, inner)}`)
    : Object.entries(value).flatMap(([key, item]) =>
        item === undefined ? [] : [`${inner}${JSON.stringify(key)}: ${jsonText(item, inner)}`],
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return items.length === 0 ? `${open}${close}` : `${open}\n${items.join(',\n')}\n${indent}${close}`;
}

/** The spaces of a one-line text are put in by pattern, so it is taken only if it still says the same. */
function isPlain(text: string): boolean {
  try {
    JSON.parse(text);
    return !/": .*\\"/.test(text);
  } catch {
    return false;
  }
}
