/**
 * Writes a whole response as the stream that a provider would have sent, for a server that has answered a request for a stream with JSON: each
 * item as a whole, and the response.
 */
import { elementsOf, membersOf, objectOf } from '@gw/contract/internal/json-members';
import { dataEvent } from '../../wire/write-events.ts';

/** `reply`: the valid JSON of an object. */
export function wholeAsEvents(reply: string): Buffer {
  // An event is a line of its own, and valid JSON has line ends between its values alone.
  const response = reply.replaceAll(/[\r\n]+/g, ' ');
  const members = new Map(membersOf(response));
  const output = members.get('output') ?? '[]';
  const status = members.get('status') === '"incomplete"' ? 'incomplete' : 'completed';
  const begun = objectOf(
    new Map([...members, ['output', '[]'], ['status', '"in_progress"'], ['usage', 'null']] as const),
  );
  const events: Buffer[] = [];
  const add = (type: string, fields: Readonly<Record<string, string>>) => {
    const named = { type: JSON.stringify(type), sequence_number: String(events.length), ...fields };
    events.push(dataEvent(objectOf(Object.entries(named)), type));
  };
  add('response.created', { response: begun });
  for (const [at, item] of (output.startsWith('[') ? elementsOf(output) : []).entries()) {
    const output_index = String(at);
    add('response.output_item.added', { output_index, item });
    add('response.output_item.done', { output_index, item });
  }
  add(`response.${status}`, { response });
  return Buffer.concat(events);
}
