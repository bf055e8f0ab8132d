/**
 * The body that a provider gets.
 *
 * Invariants: it begins with what depends on the deployment (`opening`): the model by its name there, and the fields that some
 * providers take otherwise or not at all. So an attempt at another deployment is the same body behind another opening. Every
 * value that is the client's stands there as the client wrote it, but for a whole number of the API's own that has a fraction or an exponent.
 */
import { allLimitFields, limitFields, variedFields } from '@gw/contract/internal/catalogue/request-fields';
import { membersOf, objectOf } from '@gw/contract/internal/json-members';
import type { JsonObject } from '@gw/contract/internal/strict-json';
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
  /** Fields of `varied` that the gateway added so that the provider reports usage. */
  readonly added: readonly string[];
  /** The model and the names of the client's fields, since a provider may take one field only without another; bounded. */
  readonly form: string;
  /** How the client gave no temperature; null if it gave one, or if the API has none. */
  readonly noTemperature: 'absent' | 'null' | null;
}

/** The parts of a body that depend on the deployment. */
export interface BodyTarget {
  readonly providerModel: string;
  readonly takesTemperature: boolean;
  /** Field → the name that the provider takes it by, or null to leave it out. */
  readonly requestFields?: Readonly<Record<string, string | null>> | undefined;
  /** Fields that the gateway does not add here, because the provider has refused them. */
  readonly refused: readonly string[];
}

/** A larger field stays where it is, and every provider gets it: openings of other attempts are sent as headers. */
const mostVariedBytes = 1024;

/** Returns what the provider gets besides the model and the default temperature. It asks for usage in every stream. */
export function outgoing({ body, request: { endpoint, stream }, texts }: ParsedBody): Outgoing {
  const { askingForUsage, fixed, hasTemperature, integers } = shapeOf(endpoint).request;
  const rest = new Map(texts);
  rest.delete('model');
  // Servers of strict types take no 100.0 for them.
  for (const name of integers)
    if (body[name] !== undefined && isWrittenOtherwise(body[name], String(rest.get(name))))
      rest.set(name, String(body[name]));
  const isMissing = hasTemperature && (body.temperature === undefined || body.temperature === null);
  const noTemperature = isMissing ? (body.temperature === null ? 'null' : 'absent') : null;
  if (noTemperature) rest.delete('temperature');
  const asking = [...fixed, ...(stream ? askingForUsage(body, texts) : [])];
  for (const [name, json] of asking) rest.set(name, json);
  // A stream that the client asked for usage gets one from the gateway, whatever the provider takes.
  const added = asking.flatMap(([name, json]) =>
    (body[name] ?? null) === null || texts.get(name) === json ? [name] : [],
  );
  const varied = takeVaried(rest, added);
  return {
    rest: objectOf(rest).slice(1),
    varied,
    unmoved: variedFields.filter((name) => rest.has(name)),
    added,
    form: formOf(body),
    noTemperature,
  };
}

/** Whether `bounded` can bound the answers: a limit that is not in the opening, or a null in its place, cannot be replaced. */
export const canBound = ({ unmoved }: Pick<Outgoing, 'unmoved'>): boolean =>
  !allLimitFields.some((name) => unmoved.includes(name));

/** Returns the body with a bound of each answer: `field`, unless the client has set limits, of which those above it are lowered. */
export function bounded(body: Outgoing, field: string, most: number): Outgoing {
  const known = limitFields.includes(field) ? limitFields : [field];
  // An absent field and a null are no limits.
  const limits = known.filter((name) => Number.isFinite(Number(body.varied.get(name) ?? 'null')));
  const lower = (name: string) => Number(body.varied.get(name)) > most;
  const names = limits.length === 0 ? [field] : limits.filter(lower);
  const varied = new Map([...body.varied, ...names.map((name) => [name, String(most)] as const)]);
  return { ...body, varied, added: limits.length === 0 ? [...body.added, field] : body.added };
}

const isWrittenOtherwise = (value: unknown, json: string): boolean =>
  Number.isSafeInteger(value) && !/^-?\d+$/.test(json);

const longestForm = 400;
const effortOf = (reasoning: unknown): unknown =>
  reasoning !== null && typeof reasoning === 'object' ? (reasoning as JsonObject).effort : undefined;
/** Some models take a temperature with one effort of reasoning only. */
const formOf = (body: JsonObject): string =>
  `${String(body.model)} ${String(body.reasoning_effort ?? effortOf(body.reasoning))} ${Object.keys(body).sort().join()}`.slice(
    0,
    longestForm,
  );

/** Moves them out of `rest`, as long as they are small; first those that the gateway added. */
function takeVaried(rest: Map<string, string>, added: readonly string[]): FieldTexts {
  const varied = new Map<string, string>();
  let left = mostVariedBytes;
  for (const name of [...added, ...variedFields]) {
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
export function opening(body: Outgoing, target: BodyTarget): string {
  const { added, noTemperature, unmoved, varied } = body;
  const { providerModel, refused, requestFields = {} } = target;
  const head: [string, string][] = [['model', ascii(JSON.stringify(providerModel))]];
  if (addsTemperature(body, target)) head.push(['temperature', defaultTemperature]);
  else if (noTemperature === 'null') head.push(['temperature', 'null']);
  for (const field of renamed(varied, requestFields)) {
    const [name] = field;
    // A key must not stand there twice.
    if (!unmoved.includes(name) && !(added.includes(name) && refused.includes(name))) head.push(field);
  }
  return `${objectOf(head).slice(0, -1)},`;
}

const defaultTemperature = '1';
const addsTemperature = ({ noTemperature }: Outgoing, { refused, takesTemperature }: BodyTarget): boolean =>
  noTemperature !== null && takesTemperature && !refused.includes('temperature');

/** Returns the names of the fields that the opening has because the gateway added them. */
export function addedTo(body: Outgoing, target: BodyTarget): readonly string[] {
  const { refused, requestFields = {} } = target;
  const own = body.added.filter((name) => !Object.hasOwn(requestFields, name) && !refused.includes(name));
  return addsTemperature(body, target) ? ['temperature', ...own] : own;
}

/** Returns where these fields stand in the opening, as `attemptAdded` says it. */
export function placesOf(names: readonly string[], body: Outgoing, target: BodyTarget): string {
  const text = opening(body, target);
  return names
    .map((name) => {
      const json = name === 'temperature' ? defaultTemperature : String(body.varied.get(name));
      const member = `${JSON.stringify(name)}:${json},`;
      const words = json.startsWith('{') ? [name, ...membersOf(json).map(([inner]) => inner)] : [name];
      // It stands in front of everything that could hold the same text.
      return `${words.join('/')} ${text.indexOf(member)} ${member.length}`;
    })
    .join(' ');
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

/** Returns the bytes of what stands behind the opening. */
export const restBytes = ({ rest }: Outgoing): Buffer =>
  rest instanceof Uint8Array ? Buffer.from(rest.buffer, rest.byteOffset, rest.length) : Buffer.from(rest);

/** Returns the bytes with this opening, in parts. OpenAI's default temperature, 1, is explicit, since servers differ. */
export const withOpening = (beginning: string, body: Outgoing): Buffer[] =>
  body.rest instanceof Uint8Array ? [Buffer.from(beginning), restBytes(body)] : [Buffer.from(beginning + body.rest)];

/** Returns the bytes for the provider, in parts. */
export const serialise = (body: Outgoing, target: BodyTarget): readonly Buffer[] =>
  withOpening(opening(body, target), body);
