/**
 * The body that a provider gets.
 *
 * Invariant: it begins with what depends on the deployment (`opening`): the model by its name there, and the fields that some
 * providers take otherwise or not at all. So an attempt at another deployment is the same body behind another opening.
 */
import { variedFields } from '@gw/contract/internal/catalogue/request-fields';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ParsedRequest } from './port/parsed-request.ts';
import { shapeOf } from './shapes.ts';

/** A body without what the deployment decides. */
export interface Outgoing {
  /** A JSON object that is never empty; it is bytes if a thread has made it. */
  readonly rest: JsonObject | Uint8Array;
  /** The fields that stand in the opening; small. */
  readonly varied: JsonObject;
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
export function outgoing({ endpoint, stream }: ParsedRequest, body: JsonObject): Outgoing {
  const { model: _model, ...rest } = body;
  const { askingForUsage, hasTemperature } = shapeOf(endpoint).request;
  const isMissing = hasTemperature && (rest.temperature === undefined || rest.temperature === null);
  const noTemperature = isMissing ? (rest.temperature === null ? 'null' : 'absent') : null;
  if (noTemperature) delete rest.temperature;
  const asking = stream ? askingForUsage(body) : {};
  Object.assign(rest, asking);
  // A stream that the client asked for usage gets one from the gateway, whatever the provider takes.
  const added = Object.keys(asking).filter(
    (name) => (body[name] ?? null) === null || isSameJson(body[name], asking[name]),
  );
  const varied = takeVaried(rest, added);
  const unmoved = variedFields.filter((name) => Object.hasOwn(rest, name));
  return { rest, varied, unmoved, added, form: formOf(body), noTemperature };
}

const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const longestForm = 400;
/** Some models take a temperature with one effort of reasoning only. */
const formOf = (body: JsonObject): string =>
  `${String(body.model)} ${String(body.reasoning_effort)} ${Object.keys(body).sort().join()}`.slice(0, longestForm);

/** Moves them out of `rest`, as long as they are small; first those that the gateway added. */
function takeVaried(rest: JsonObject, added: readonly string[]): JsonObject {
  const varied: JsonObject = {};
  let left = mostVariedBytes;
  for (const name of [...added, ...variedFields]) {
    if (!Object.hasOwn(rest, name)) continue;
    const length = name.length + ascii(JSON.stringify(rest[name])).length;
    if (length > left) continue;
    left -= length;
    varied[name] = rest[name];
    delete rest[name];
  }
  return varied;
}

/** Returns the beginning of the body, up to and with the comma behind what the deployment decides, in ASCII. */
export function opening(body: Outgoing, target: BodyTarget): string {
  const { added, noTemperature, unmoved, varied } = body;
  const { providerModel, refused, requestFields = {} } = target;
  const head: JsonObject = { model: providerModel };
  if (addsTemperature(body, target)) head.temperature = defaultTemperature;
  else if (noTemperature === 'null') head.temperature = null;
  for (const [name, value] of Object.entries(renamed(varied, requestFields))) {
    // A key must not stand there twice.
    if (!unmoved.includes(name) && !(added.includes(name) && refused.includes(name))) head[name] = value;
  }
  return `${ascii(JSON.stringify(head)).slice(0, -1)},`;
}

const defaultTemperature = 1;
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
      const value = name === 'temperature' ? defaultTemperature : body.varied[name];
      const member = `${JSON.stringify({ [name]: value }).slice(1, -1)},`;
      const words = value !== null && typeof value === 'object' ? [name, ...Object.keys(value)] : [name];
      // It stands in front of everything that could hold the same text.
      return `${words.join('/')} ${text.indexOf(member)} ${member.length}`;
    })
    .join(' ');
}

/** Returns the fields by the names of the provider. Of one that the client has given by both names, its name there holds. */
function renamed(varied: JsonObject, requestFields: NonNullable<BodyTarget['requestFields']>): JsonObject {
  const ruleOf = (name: string) => (Object.hasOwn(requestFields, name) ? requestFields[name] : name);
  const fields = Object.entries(varied);
  const named: JsonObject = Object.fromEntries(fields.filter(([name]) => ruleOf(name) === name));
  for (const [name, value] of fields) {
    const as = ruleOf(name);
    // A null says nothing, under either name.
    if (as != null && as !== name && value !== null && (named[as] ?? null) === null) named[as] = value;
  }
  return named;
}

const ascii = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Returns the bytes for the provider, in parts. OpenAI's default temperature, 1, is explicit, since servers differ. */
export function serialise(body: Outgoing, target: BodyTarget): readonly Buffer[] {
  const beginning = opening(body, target);
  const { rest } = body;
  if (!(rest instanceof Uint8Array)) return [Buffer.from(beginning + JSON.stringify(rest).slice(1))];
  return [Buffer.from(beginning), Buffer.from(rest.buffer, rest.byteOffset + 1, rest.length - 1)];
}
