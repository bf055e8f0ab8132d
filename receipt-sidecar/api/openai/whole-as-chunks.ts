/**
 * Writes a whole reply as the stream that a provider would have sent: for each choice what it says and then why it ended, the usage on a
 * chunk of its own, and the end.
 *
 * Invariant: each value is written as the provider wrote it, also the digits of a large integer.
 */
import { elementsOf, type Member, membersOf, objectOf } from '@gw/contract/internal/json-members';
import { dataEvent } from '../../wire/write-events.ts';

/** Fields that each chunk repeats; all others of the reply stand on the first chunk alone, since they can be long. */
const repeated = ['id', 'created', 'model', 'system_fingerprint', 'service_tier'];

/** Members of an object by their names. */
type Members = ReadonlyMap<string, string>;

/** The parts of a choice that differ between the APIs. */
export interface ChoiceForm {
  /** Returns what a choice says, as a chunk has it. */
  said(choice: Members): Iterable<Member>;
  /** The members of a choice in which nothing is said any more. */
  readonly nothing: Readonly<Record<string, unknown>>;
}

/** `reply`: the valid JSON of an object. */
export function wholeAsChunks(reply: string, object: string, form: ChoiceForm, end: Buffer): Buffer {
  // An event is a line of its own, and valid JSON has line ends between its values alone.
  const members = new Map(membersOf(reply.replaceAll(/[\r\n]+/g, ' ')));
  const { choices, usage } = Object.fromEntries(members);
  const named = ['object', JSON.stringify(object)] as const;
  const first = new Map([...members, named]);
  first.delete('choices');
  first.delete('usage');
  const later = [...repeated.flatMap((name): Member[] => memberOf(members, name)), named];
  const events: Buffer[] = [];
  const add = (rest: readonly Member[]) =>
    events.push(dataEvent(objectOf(new Map([...(events.length === 0 ? first : later), ...rest]))));
  const addChoice = (choice: Iterable<Member>) => add([['choices', `[${objectOf(choice)}]`]]);
  const known = listOf(choices)
    .filter(isObject)
    .map((choice, index): Members => new Map([['index', String(index)], ...membersOf(choice)]));
  const nothing = membersOf(JSON.stringify(form.nothing));
  for (const choice of known) addChoice(new Map([...form.said(choice), ['finish_reason', 'null']]));
  for (const choice of known)
    addChoice([...memberOf(choice, 'index'), ...nothing, ...memberOf(choice, 'finish_reason')]);
  if (usage !== undefined && isObject(usage)) add(Object.entries({ choices: '[]', usage }));
  return Buffer.concat([...events, end]);
}

const isObject = (json: string): boolean => json.startsWith('{');
const listOf = (json: string | undefined): string[] => (json?.startsWith('[') ? elementsOf(json) : []);

function memberOf(members: Members, name: string): Member[] {
  const json = members.get(name);
  return json === undefined ? [] : [[name, json]];
}

/** A message becomes a delta, whose tool calls have an index. */
export const chatChoice: ChoiceForm = {
  said: (choice) => {
    // A server that has one chunk to send may send that.
    const { delta: already = '', message = already, ...others } = Object.fromEntries(choice);
    const delta = new Map(isObject(message) ? membersOf(message) : []);
    const calls = delta.get('tool_calls');
    if (calls?.startsWith('['))
      delta.set(
        'tool_calls',
        `[${elementsOf(calls)
          .map((call, index) => numbered(call, index))
          .join()}]`,
      );
    return [...Object.entries(others), ['delta', objectOf(delta)]];
  },
  nothing: { delta: {} },
};

const numbered = (call: string, index: number): string =>
  isObject(call) ? objectOf(new Map([['index', String(index)], ...membersOf(call)])) : call;

export const textChoice: ChoiceForm = { said: (choice) => choice, nothing: { text: '' } };
