/**
 * Adds `gw` and `routing_trace` to a JSON object.
 *
 * Invariant: everything else stays byte for byte, unless the provider sent a `gw` or `routing_trace` of its own: then
 * those are removed, which re-serialises the object.
 */

export interface Additions {
  readonly gw?: string;
  readonly routingTrace?: string;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null if the bytes are not UTF-8: decoded all the same, they would reach the client altered. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Null if `text` is not a JSON object. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** `text` is the JSON that `value` was parsed from; additions are JSON texts. */
export function addToObject(text: string, value: Record<string, unknown>, { gw, routingTrace }: Additions): string {
  const clean = withoutForgery(text, value);
  const end = clean.lastIndexOf('}');
  const added = [gw && `"gw":${gw}`, routingTrace && `"routing_trace":${routingTrace}`].filter(Boolean).join(',');
  if (added === '') return clean;
  const comma = Object.keys(value).some((key) => key !== 'gw' && key !== 'routing_trace') ? ',' : '';
  return `${clean.slice(0, end)}${comma}${added}${clean.slice(end)}`;
}

/** The text without the provider's own `gw` and `routing_trace`. */
export function withoutForgery(text: string, value: Record<string, unknown>): string {
  if (!('gw' in value) && !('routing_trace' in value)) return text;
  const { gw: _gw, routing_trace: _trace, ...rest } = value;
  return JSON.stringify(rest);
}
