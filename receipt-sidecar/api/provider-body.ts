/**
 * The body that a provider gets.
 *
 * Invariants: it begins with what depends on the deployment (`opening`): the model by its name there, and the fields that some
 * providers take otherwise or not at all. So an attempt at another deployment is the same body behind another opening. Every
 * value that is the client's stands there as the client wrote it, but for a whole number of the API's own that has a fraction or an exponent.
 */
import { variedFields } from '@gw/contract/internal/catalogue/request-fields';
import { objectOf } from '@gw/contract/internal/json-members';
import type { ParsedBody } from './parse.ts';
import type { FieldTexts } from './port/shape.ts';
import { shapeOf } from './shapes.ts';

/** A body without what the deployment decides. */
export interface Outgoing {
  /** The rest stands behind the opening, up to the last brace; it is bytes if a thread has made it. */
  readonly rest: string | Uint8Array;
  /** The fields that stand in the opening, as JSON in ASCII; small. */
  readonly varied: FieldTexts;
  /** Fields that are too large for it, and stayed in `rest`. */
  readonly unmoved: readonly string[];
  /** How the client gave no temperature; null if it gave one, or if the API has none. */
  readonly noTemperature: 'absent' | 'null' | null;
}

/** The parts of a body that depend on the deployment. */
export interface BodyTarget {
  readonly providerModel: string;
  readonly takesTemperature: boolean;
  /** Field → the name that the provider takes it by, or null to leave it out. */
  readonly requestFields?: Readonly<Record<string, string | null>> | undefined;
}

/** A larger field stays where it is, and every provider gets it: openings of other attempts are sent as headers. */
const mostVariedBytes = 1024;

/** Returns what the provider gets besides the model and the default temperature. It asks for usage in every stream. */
export function outgoing({ body, request: { endpoint, stream }, texts }: ParsedBody): Outgoing {
  const { askingForUsage, hasTemperature, integers } = shapeOf(endpoint).request;
  const rest = new Map(texts);
  rest.delete('model');
  // Servers of strict types take no 100.0 for them.
  for (const name of integers)
    if (body[name] !== undefined && isWrittenOtherwise(body[name], String(rest.get(name))))
      rest.set(name, String(body[name]));
  const isMissing = hasTemperature && (body.temperature === undefined || body.temperature === null);
  const noTemperature = isMissing ? (body.temperature === null ? 'null' : 'absent') : null;
  if (noTemperature) rest.delete('temperature');
  if (stream) for (const [name, json] of askingForUsage(body, texts)) rest.set(name, json);
  const varied = takeVaried(rest);
  return {
    rest: objectOf(rest).slice(1),
    varied,
    unmoved: variedFields.filter((name) => rest.has(name)),
    noTemperature,
  };
}

const isWrittenOtherwise = (value: unknown, json: string): boolean =>
  Number.isSafeInteger(value) && !/^-?\d+$/.test(json);

/** Moves them out of `rest`, as long as they are small. */
function takeVaried(rest: Map<string, string>): FieldTexts {
  const varied = new Map<string, string>();
  let left = mostVariedBytes;
  for (const name of variedFields) {
    const json = rest.get(name);
    if (json === undefined || json.length > left) continue;
    const written = ascii(json);
    const length = name.length + written.length;
    if (length > left) continue;
    left -= length;
    varied.set(name, written);
    rest.delete(name);
  }
  return varied;
}

/** Returns the beginning of the body, up to and with the comma behind what the deployment decides, in ASCII. */
export function opening({ noTemperature, unmoved, varied }: Outgoing, target: BodyTarget): string {
  const { providerModel, requestFields = {}, takesTemperature } = target;
  const head: [string, string][] = [['model', ascii(JSON.stringify(providerModel))]];
  if (noTemperature && takesTemperature) head.push(['temperature', '1']);
  else if (noTemperature === 'null') head.push(['temperature', 'null']);
  // A key must not stand there twice.
  for (const field of renamed(varied, requestFields)) if (!unmoved.includes(field[0])) head.push(field);
  return `${objectOf(head).slice(0, -1)},`;
}

/** Returns the fields by the names of the provider. Of one that the client has given by both names, its name there holds. */
function renamed(varied: FieldTexts, requestFields: NonNullable<BodyTarget['requestFields']>): FieldTexts {
  const ruleOf = (name: string) => (Object.hasOwn(requestFields, name) ? requestFields[name] : name);
  const named = new Map([...varied].filter(([name]) => ruleOf(name) === name));
  for (const [name, json] of varied) {
    const as = ruleOf(name);
    // A null says nothing, under either name.
    if (as != null && as !== name && json !== 'null' && (named.get(as) ?? 'null') === 'null') named.set(as, json);
  }
  return named;
}

/** Writes JSON in ASCII without line ends, so that a header can hold it. */
const ascii = (json: string): string =>
  json
    .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[\n\r\t]/g, ' ');

/** Returns the bytes for the provider, in parts. OpenAI's default temperature, 1, is explicit, since servers differ. */
export function serialise(body: Outgoing, target: BodyTarget): readonly Buffer[] {
  const beginning = opening(body, target);
  const { rest } = body;
  if (!(rest instanceof Uint8Array)) return [Buffer.from(beginning + rest)];
  return [Buffer.from(beginning), Buffer.from(rest.buffer, rest.byteOffset, rest.length)];
}
