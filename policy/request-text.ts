/**
 * The texts of a request that are screened: every string of its body, and every name of a field.
 *
 * Invariant: no string of the body is left out but encoded bytes that are not text, where images, sound and files belong. What
 * a model reads as prose is one reading in the order of the body, so that a phrase that is split over messages or parts is
 * whole again; all else (names, roles, schemas, fields that this gateway does not know) is another.
 */
import { defined } from '@gw/contract/internal/defined';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Texts } from './find-rules.ts';
import { jsonUnescaped } from './json-text.ts';
import { mediumOf } from './media-text.ts';
import { seam } from './normalise.ts';

/** Fields whose texts a model reads one after the other. */
const proseFields = new Set([
  'instructions',
  'content',
  'text',
  'refusal',
  'arguments',
  'prompt',
  'input',
  'output',
  'suffix',
  'prediction',
  'description',
  // Anthropic's
  'system',
  'thinking',
]);
export interface RequestText {
  readonly texts: Texts;
  /** The token lists of `prompt` or `input`, which are not text yet. */
  readonly tokens: readonly (readonly number[])[];
}

interface Readings {
  readonly prose: string[];
  readonly other: string[];
}

/** Returns the texts of a request's body. `decoded` are the texts of its token lists, in their order; they join the prose. */
export function requestText(body: JsonObject, decoded: readonly string[] = []): RequestText {
  const readings: Readings = { prose: [], other: [] };
  for (const [name, value] of Object.entries(body)) {
    readings.other.push(name);
    collect(value, name, '', readings);
  }
  readings.prose.push(...decoded);
  const tokens = [body.prompt, body.input].flatMap(tokenLists);
  return { texts: [readings.prose.join(seam), readings.other.join(seam)], tokens };
}

/** A list of numbers, or a list of those; [] for anything else. */
function tokenLists(value: unknown): readonly (readonly number[])[] {
  if (!Array.isArray(value)) return [];
  if (typeof value[0] === 'number') return [value];
  return Array.isArray(value[0]) ? value : [];
}

function collect(value: unknown, field: string, holder: string, readings: Readings): void {
  if (typeof value === 'string') {
    const isProse = proseFields.has(field);
    const medium = isProse ? null : mediumOf(plainBase64(value, field), isBytes(field, holder));
    const text = isMedium(field, holder) ? (medium?.text ?? value) : value;
    (isProse ? readings.prose : readings.other).push(text);
    const unescaped = field === 'arguments' ? jsonUnescaped(text) : '';
    for (const more of [medium?.words, unescaped, taggedText(text)]) if (more) readings.prose.push(more);
  } else if (Array.isArray(value)) {
    // An array may hold millions of numbers.
    for (const item of value) if (typeof item !== 'number') collect(item, field, holder, readings);
  } else if (value !== null && typeof value === 'object')
    for (const [name, inner] of Object.entries(value)) {
      readings.other.push(name);
      collect(inner, name, field, readings);
    }
}

/** Fields whose bytes are left out if they are not text. All other fields are read as they are. */
const isMedium = (field: string, holder: string): boolean =>
  field === 'image_url' || (field === 'url' && holder === 'image_url') || isBytes(field, holder);

/** Responses have files directly in what is said or returned, and reasoning that only the provider can read. */
const isBytes = (field: string, holder: string): boolean =>
  (field === 'data' && (holder === 'input_audio' || holder === 'source')) ||
  (field === 'file_data' && (holder === 'file' || holder === 'content' || holder === 'output')) ||
  field === encrypted;

const encrypted = 'encrypted_content';
/** Providers write it in the letters of base64 for addresses. */
const plainBase64 = (value: string, field: string): string =>
  field === encrypted ? value.replaceAll('-', '+').replaceAll('_', '/') : value;

const firstTag = 0xe0020;
const lastTag = 0xe007e;
/** All of them begin with this unit in UTF-16. */
const firstUnit = '\udb40';

/** Returns the ASCII text that is written in tag characters: no reader sees it, but a model can read it. */
function taggedText(text: string): string {
  if (!text.includes(firstUnit)) return '';
  // One byte after the other: of millions of letters a string would be put together slowly.
  const hidden = Buffer.alloc(text.length >> 1);
  let length = 0;
  for (let at = text.indexOf(firstUnit); at !== -1; at = text.indexOf(firstUnit, at + 2)) {
    const codePoint = defined(text.codePointAt(at), 'A code point');
    if (codePoint >= firstTag && codePoint <= lastTag) hidden[length++] = codePoint - firstTag + 0x20;
  }
  return hidden.toString('latin1', 0, length);
}
