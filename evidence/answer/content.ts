/**
 * The content of an answer, which a receipt is bound to: the texts in a reply or in an event of a stream, each under its place, by the API that
 * the client speaks (docs/evidence.md has the list). What an API adds beside them (ids, reasons of the end, usage, annotations) is none of it.
 *
 * Invariant: the pieces of a stream have the places of the whole reply that they are pieces of.
 */
import type { ApiName } from '@gw/contract/api-names';
import { canonicalText } from '../canonical.ts';
import { isNode, type Node } from '../receipt-node.ts';

export interface Content {
  /** Takes a text, or the next piece of the text of this place. */
  add(place: string, text: string | Uint8Array): void;
  /** Takes a text that the stream may have told in pieces already. `by`: the type of the event that tells it. */
  restate(place: string, text: string, by: string): void;
  /** Takes the next piece of JSON, which counts as its value when it ends. */
  addJson(place: string, piece: string): void;
  endJson(): void;
}

/** The members of an object that hold text: `true`, or objects and lists of objects with such members. A text is one wherever it stands. */
interface Members {
  readonly [name: string]: true | Members;
}
type Take = (place: string, text: string) => void;

const called: Members = { name: true, arguments: true, input: true };
const ofMessage: Members = {
  content: { text: true, thinking: { text: true }, image_url: { url: true } },
  refusal: true,
  reasoning_content: { text: true },
  reasoning: { text: true },
  reasoning_details: { text: true, summary: true, data: true },
  images: { image_url: { url: true } },
  tool_calls: { function: called, custom: called },
  function_call: called,
  audio: { data: true, transcript: true },
};
const ofChoice: Members = { text: true };
/** `content`: of the results of tools, which come whole, and of a compaction. */
const ofBlock: Members = {
  text: true,
  thinking: true,
  name: true,
  input: true,
  data: true,
  content: true,
  tools: true,
  server_name: true,
};
const ofDelta: Members = { text: true, thinking: true, content: true };
/** Members that an item may have in part while it is not done. */
const ofBegunItem: Members = {
  ...called,
  content: { text: true, refusal: true },
  summary: { text: true },
  code: true,
  result: true,
};
const ofItem: Members = {
  ...ofBegunItem,
  action: true,
  actions: true,
  operation: true,
  outputs: true,
  output: true,
  queries: true,
  results: true,
  tools: true,
  error: true,
  server_label: true,
};

/** Takes in a whole reply, or an event. `type`: of an event that does not say it itself, its name. */
export const contentReaders: Readonly<Record<ApiName, (said: Node, content: Content, type: string) => void>> = {
  chat: ({ choices }, content) =>
    each(choices, 'choices', ({ delta, message }, place) => walk(delta ?? message, ofMessage, place, addTo(content))),
  completions: ({ choices }, content) =>
    each(choices, 'choices', (choice, place) => walk(choice, ofChoice, place, addTo(content))),
  embeddings: ({ data }, content) =>
    each(data, 'data', ({ embedding }, place) => content.add(`${place}.embedding`, vectorBytes(embedding))),
  messages: readMessages,
  responses: readResponses,
};

const addTo =
  (content: Content): Take =>
  (place, text) =>
    content.add(place, text);

/** Goes through a list, in which an element is at its `index`, or where it stands. */
function each(list: unknown, place: string, take: (element: Node, place: string) => void): void {
  if (!Array.isArray(list)) return;
  for (let at = 0; at < list.length; at += 1) {
    const element: unknown = list[at];
    if (isNode(element)) take(element, `${place}.${indexOf(element, at)}`);
  }
}

const indexOf = ({ index }: Node, at: number): number => placeIn(index, at);
const placeIn = (index: unknown, otherwise = 0): number => (Number.isSafeInteger(index) ? Number(index) : otherwise);

function walk(value: unknown, members: true | Members, place: string, take: Take): void {
  if (value === null || value === undefined || value === '') return;
  if (typeof value === 'string') return take(place, value);
  if (members === true) {
    const said = withoutNulls(value);
    if (typeof said !== 'object' || Object.keys(said ?? {}).length > 0) take(place, canonicalText(said));
  } else if (Array.isArray(value)) {
    for (const [at, element] of value.entries())
      walk(element, members, `${place}.${isNode(element) ? indexOf(element, at) : at}`, take);
  } else if (isNode(value)) {
    // Most members of most events are none of the content.
    for (const name in value)
      if (Object.hasOwn(members, name) && value[name] !== null)
        walk(value[name], members[name] ?? true, `${place}.${name}`, take);
  }
}

/** SDKs write null for members that a reply has not. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isNode(value)) return value;
  const members = Object.entries(value).flatMap(([name, inner]) =>
    inner === null ? [] : [[name, withoutNulls(inner)]],
  );
  return Object.fromEntries(members);
}

/** Takes in JSON as the value that it is, and as text if it is none. */
export function takeJson(text: string, place: string, take: Take): void {
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // It broke off, say.
  }
  walk(value, true, place, take);
}

/** Returns an embedding as 32-bit floats, which clients get as numbers or in base64, and SDKs turn into numbers. */
function vectorBytes(embedding: unknown): string | Uint8Array {
  if (typeof embedding !== 'string')
    return Array.isArray(embedding) ? new Uint8Array(littleEndian(embedding)) : canonicalText(embedding ?? null);
  return bytesOfBase64(embedding) ?? embedding;
}

function littleEndian(numbers: readonly unknown[]): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(4 * numbers.length));
  for (const [at, number] of numbers.entries()) view.setFloat32(4 * at, Number(number), true);
  return view.buffer;
}

/** Returns null for what is no base64. */
function bytesOfBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, ''))) return null;
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

function readMessages({ content: blocks, content_block: block, delta, index, message, type }: Node, content: Content) {
  const take = addTo(content);
  if (type === 'content_block_stop') return content.endJson();
  if (isNode(message)) return walk(message.content, ofBlock, 'content', take);
  if (type !== 'content_block_start' && type !== 'content_block_delta') return walk(blocks, ofBlock, 'content', take);
  const place = `content.${placeIn(index)}`;
  walk(block, ofBlock, place, take);
  if (!isNode(delta)) return;
  walk(delta, ofDelta, place, take);
  if (typeof delta.partial_json === 'string') content.addJson(`${place}.input`, delta.partial_json);
}

/** Where the pieces of a text belong in their item, by the middle of the names of their events. */
const pieces: Readonly<Record<string, readonly [place: string, member: string]>> = {
  output_text: ['content', 'text'],
  refusal: ['content', 'refusal'],
  reasoning_text: ['content', 'text'],
  reasoning_summary_text: ['summary', 'text'],
  function_call_arguments: ['', 'arguments'],
  mcp_call_arguments: ['', 'arguments'],
  custom_tool_call_input: ['', 'input'],
  code_interpreter_call_code: ['', 'code'],
};
const parts: Readonly<Record<string, string>> = { content_part: 'content', reasoning_summary_part: 'summary' };

/** A type that is none of the API's could be of any length. */
const longestType = 64;

function readResponses(event: Node, content: Content, name: string): void {
  const { item, output, output_index, part, response } = event;
  const type = (typeof event.type === 'string' ? event.type : name).slice(0, longestType);
  const restate: Take = (place, text) => content.restate(place, text, type);
  if (Array.isArray(output)) return walk(output, ofItem, 'output', addTo(content));
  const members = /\.(?:done|completed|incomplete|failed)$/.test(type) ? ofItem : ofBegunItem;
  if (isNode(response)) return walk(response.output, members, 'output', restate);
  const place = `output.${placeIn(output_index)}`;
  if (isNode(item)) return walk(item, members, place, restate);
  const inItem = (list: string): string =>
    list === '' ? place : `${place}.${list}.${placeIn(event[`${list}_index`])}`;
  const [, middle = '', end] = /^response\.(\w+)\.(\w+)$/.exec(type) ?? [];
  const ofPart = parts[middle];
  if (ofPart !== undefined && isNode(part)) return walk(part, { text: true, refusal: true }, inItem(ofPart), restate);
  const [list, member] = pieces[middle] ?? [];
  if (list === undefined || member === undefined) return;
  const whole = `${inItem(list)}.${member}`;
  if (end === 'delta') walk(event.delta, true, whole, addTo(content));
  else if (end === 'done') walk(event[member], true, whole, restate);
}
