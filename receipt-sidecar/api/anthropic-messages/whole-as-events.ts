/**
 * Writes a whole message as the stream that a provider would have sent.
 *
 * Invariant: each value is written as the provider wrote it, also the digits of a large integer.
 */
import { elementsOf, type Member, membersOf, objectOf } from '@gw/contract/internal/json-members';
import { dataEvent } from '../../wire/write-events.ts';

/** A block of a type begins without these members, which its deltas then add. */
const growing: Readonly<Record<string, { readonly empty: string; readonly delta: string; readonly as: string }>> = {
  text: { empty: '""', delta: 'text_delta', as: 'text' },
  thinking: { empty: '""', delta: 'thinking_delta', as: 'thinking' },
  signature: { empty: '""', delta: 'signature_delta', as: 'signature' },
  input: { empty: '{}', delta: 'input_json_delta', as: 'partial_json' },
};
const growingIn: Readonly<Record<string, readonly string[]>> = {
  '"text"': ['text'],
  '"thinking"': ['thinking', 'signature'],
  '"tool_use"': ['input'],
};
/** The end of a stream says these, and not its beginning. */
const told = ['stop_reason', 'stop_sequence', 'stop_details'] as const;

/** `reply`: the valid JSON of an object. */
export function wholeAsEvents(reply: string, end: Buffer): Buffer {
  // An event is a line of its own, and valid JSON has line ends between its values alone.
  const members = new Map(membersOf(reply.replaceAll(/[\r\n]+/g, ' ')));
  const message = new Map(members);
  message.set('content', '[]');
  for (const name of told) if (message.has(name)) message.set(name, 'null');
  const events = [event('message_start', [['message', objectOf(message)]])];
  for (const [index, block] of listOf(members.get('content')).entries()) events.push(...ofBlock(block, index));
  const ending = told.flatMap((name): Member[] => memberOf(members, name));
  events.push(event('message_delta', [['delta', objectOf(ending)], ...memberOf(members, 'usage')]));
  return Buffer.concat([...events, end]);
}

function ofBlock(block: string, index: number): Buffer[] {
  if (!block.startsWith('{')) return [];
  const at: Member = ['index', String(index)];
  const members = new Map(membersOf(block));
  const begun = new Map(members);
  const deltas = (growingIn[String(members.get('type'))] ?? []).flatMap((name) => {
    const form = growing[name];
    const json = members.get(name);
    if (form === undefined || json === undefined) return [];
    begun.set(name, form.empty);
    const written = name === 'input' ? JSON.stringify(json) : json;
    const delta = objectOf([
      ['type', JSON.stringify(form.delta)],
      [form.as, written],
    ]);
    return [event('content_block_delta', [at, ['delta', delta]])];
  });
  return [
    event('content_block_start', [at, ['content_block', objectOf(begun)]]),
    ...deltas,
    event('content_block_stop', [at]),
  ];
}

const event = (name: string, members: readonly Member[]): Buffer =>
  dataEvent(objectOf([['type', JSON.stringify(name)], ...members]), name);
const listOf = (json: string | undefined): string[] => (json?.startsWith('[') ? elementsOf(json) : []);

function memberOf(members: ReadonlyMap<string, string>, name: string): Member[] {
  const json = members.get(name);
  return json === undefined ? [] : [[name, json]];
}
