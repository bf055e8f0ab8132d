/**
 * A reply as its client has saved it: the JSON as it came or as an SDK has written it again, the text of a stream, or the chunks of a stream as a
 * list or as lines of JSON.
 */
import { readJsonText, withoutMark } from '@gw/contract/internal/strict-json';
import { isNode, type Node } from '../receipt-node.ts';

interface Saved {
  /** The whole reply, or the events of a stream. */
  readonly value: Node;
  /** The name of the event; null: it has none. */
  readonly name: string | null;
}
export type SavedReply = readonly Saved[];

const decoder = new TextDecoder('utf-8', { fatal: true });
const encoder = new TextEncoder();

/** Returns null for what is none of these. */
export function savedReply(file: Uint8Array): SavedReply | null {
  const whole = parsed(withoutMark(file));
  if (whole !== undefined)
    return allOf((Array.isArray(whole) ? whole : [whole]).map((value) => ({ value, name: null })));
  let text: string;
  try {
    text = decoder.decode(file);
  } catch {
    return null;
  }
  const lines = text.split(/\r\n|\r|\n/);
  const isStream = lines.some((line) => line.startsWith('data:'));
  return isStream ? eventsIn(lines) : allOf(lines.filter((line) => line.trim() !== '').map((line) => jsonOf(line)));
}

const jsonOf = (text: string, name: string | null = null) => ({ value: parsed(encoder.encode(text)), name });

/** Returns undefined for what is no JSON, or JSON that not every parser reads alike. */
function parsed(bytes: Uint8Array): unknown {
  const json = readJsonText(bytes, Number.POSITIVE_INFINITY);
  return json.ok ? json.value.value : undefined;
}

function allOf(found: readonly { readonly value: unknown; readonly name: string | null }[]): SavedReply | null {
  const whole = found.flatMap(({ name, value }) => (isNode(value) ? [{ name, value }] : []));
  return whole.length > 0 && whole.length === found.length ? whole : null;
}

const endMark = '[DONE]';

function eventsIn(lines: readonly string[]): SavedReply | null {
  const events: ReturnType<typeof jsonOf>[] = [];
  let data: string[] = [];
  let name: string | null = null;
  for (const line of [...lines, '']) {
    const [, field, said] = /^(data|event): ?(.*)$/s.exec(line) ?? [];
    if (field === 'data') data.push(String(said));
    else if (field === 'event') name = String(said);
    else if (line === '') {
      const text = data.join('\n');
      if (data.length > 0 && text.trim() !== endMark) events.push(jsonOf(text, name));
      data = [];
      name = null;
    }
  }
  return allOf(events);
}

/** Returns what is said in the place of the receipt: in the reply or the event itself, or in the response that it brings; the last of them. */
export function lastGw(reply: SavedReply): Node | null {
  const found = reply.flatMap(({ value: { gw, response } }) =>
    isNode(gw) ? [gw] : isNode(response) && isNode(response.gw) ? [response.gw] : [],
  );
  return found.at(-1) ?? null;
}
