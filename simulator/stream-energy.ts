/** Places energy in a stream: on the last chunk with choices, the final chunk, a separate event or in a comment. */
import type { EnergyReport } from './energy.ts';
import { DONE, withFields } from './reply.ts';

/** Returns the events before the tokens. `empty` is a chunk without choices. */
export const earlyEnergy = ({ earlyFields }: EnergyReport, empty: string): string[] =>
  Object.keys(earlyFields).length === 0 ? [] : [withFields(empty, earlyFields)];

/** Returns the events after the tokens. `ends` finish the choices; `usage` is the usage chunk, if there is one. */
export function endOfStream(
  ends: readonly string[],
  usage: readonly string[],
  { comments, events, finalFields, lastFields }: EnergyReport,
  empty: string,
): string[] {
  const chunks = [...ends.slice(0, -1), ...ends.slice(-1).map((event) => withFields(event, lastFields)), ...usage];
  const final = chunks.slice(-1).map((event) => withFields(event, finalFields));
  return [...chunks.slice(0, -1), ...final, ...events.map((fields) => withFields(empty, fields)), ...comments, DONE];
}
