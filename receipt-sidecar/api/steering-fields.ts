/**
 * Fields by which a client would steer the provider itself: where it sends the call, with whose credential, to which
 * model, past which checks. Behind another gateway they are a way into its network, and round the models that an
 * account may use.
 *
 * Invariant: none of them reaches a provider. Which provider takes a call is not known yet, and may change by a
 * fail-over, so what any of them obeys holds for all. Other unknown fields are the provider's business and pass.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { defined } from '@gw/contract/internal/defined';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { foldedName, snakeName } from './folded-name.ts';
import { shapes } from './shapes.ts';
import { clouds, connection, guardrails, observers, replacing, steering, toolServers } from './steering-names.ts';
import { unreadableFields } from './token-lists.ts';

const foldedSet = (names: readonly string[]): ReadonlySet<string> => new Set(names.map(foldedName));
const names = foldedSet(Object.values(steering).flat());
const metadataNames = foldedSet([...connection, ...guardrails]);
const toolNames = foldedSet(toolServers);
const innerNames = foldedSet([...replacing, ...unreadableFields]);

const isOf = (families: readonly string[], name: string): boolean => {
  const plain = snakeName(name);
  return families.some((beginning) => plain.startsWith(beginning));
};

const steers = (name: string): boolean =>
  foldedName(name) !== '' &&
  (names.has(foldedName(name)) ||
    isOf(clouds, name) ||
    isOf(observers, name) ||
    snakeName(name).includes('_cost_per_'));

/** Judges a field of `metadata`, where LiteLLM looks as well. A list of tags chooses a deployment. */
const steersAsMetadata = (name: string, value: unknown): boolean =>
  foldedName(name) !== '' &&
  (metadataNames.has(foldedName(name)) ||
    isOf(observers, name) ||
    (foldedName(name) === 'tags' && typeof value !== 'string'));

const ownNames = (shape: object): ReadonlyMap<string, string> =>
  new Map(Object.keys(shape).map((name) => [foldedName(name), name]));
/** The names of each API's own fields, by their folded forms. */
const own = new Map(shapes.map(({ name, request }) => [name, ownNames(request.schema.shape)]));

/** The path to a name that steers, below the field that holds it; null: there is none. */
type SteeringPath = string | null;

const entriesOf = (value: unknown): [name: string, value: unknown][] =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : [];
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function firstPath<T>(items: Iterable<T>, pathOf: (item: T) => SteeringPath): SteeringPath {
  for (const item of items) {
    const path = pathOf(item);
    if (path !== null) return path;
  }
  return null;
}

const inMetadata = (value: unknown): SteeringPath =>
  firstPath(entriesOf(value), ([name, inner]) => (steersAsMetadata(name, inner) ? `.${name.trim()}` : null));

/** A function's parameters are a schema of the client's, and lie deeper. */
const inTools = (value: unknown): SteeringPath =>
  firstPath(listOf(value).entries(), ([at, tool]) => {
    const server = firstPath(entriesOf(tool), ([name, inner]) => {
      if (toolNames.has(foldedName(name))) return `.${name.trim()}`;
      const below = entriesOf(inner).find(([each]) => toolNames.has(foldedName(each)));
      return below ? `.${name.slice(0, 64)}.${below[0].trim()}` : null;
    });
    const isRemote = entriesOf(tool).some(
      ([name, inner]) =>
        foldedName(name) === 'type' && typeof inner === 'string' && foldedName(inner).startsWith('mcp'),
    );
    return server === null && !isRemote ? null : `[${at}]${server ?? '.type'}`;
  });

/** xAI fetches what is linked as a feed. */
const inSearch = (value: unknown): SteeringPath =>
  firstPath(entriesOf(value), ([name, sources]) => {
    if (foldedName(name) !== 'sources') return null;
    return firstPath(listOf(sources).entries(), ([at, source]) => {
      const found = entriesOf(source).find(([each]) => foldedName(each) === 'links');
      return found ? `.${name.trim()}[${at}].${found[0].trim()}` : null;
    });
  });

/** Whether a field is handed on to an engine, a template, a router or Google's own API. */
const isHandedOn = (name: string): boolean => /(?:args|params)$|^(?:nvext|google)$/.test(foldedName(name));

const inHandedOn = (value: unknown): SteeringPath =>
  firstPath(entriesOf(value), ([name, inner]) => {
    if (steers(name) || innerNames.has(foldedName(name))) return `.${name.trim()}`;
    const below = isHandedOn(name) ? inHandedOn(inner) : null;
    return below && `.${name.trim()}${below}`;
  });

/** Returns the place, below a field that is allowed itself, of something that steers; null if there is none. */
function insideOf(name: string, value: unknown): SteeringPath {
  const folded = foldedName(name);
  if (folded === 'metadata') return inMetadata(value);
  if (folded === 'tools') return inTools(value);
  if (folded === 'searchparameters') return inSearch(value);
  return isHandedOn(name) ? inHandedOn(value) : null;
}

const unsupported = (param: string, message: string): ApiError => apiError('unsupported_field', { param, message });
const steersMessage = (param: string): string =>
  `\`${param}\` is not supported: it would steer how the provider handles the call, which is the gateway's to decide. Leave it out.`;

/** Returns the refusal of the first field that steers a provider, or null. The schema has to have accepted `body`. */
export function steeringField(endpoint: string, body: JsonObject): ApiError | null {
  const fields = defined(own.get(endpoint), `The API ${endpoint}`);
  for (const [written, value] of Object.entries(body)) {
    const name = written.trim();
    const known = fields.get(foldedName(name));
    if (known === undefined && steers(name)) return unsupported(name, steersMessage(name));
    // A server to which `Model` is `model` would serve another model than the one that was checked.
    if (known !== undefined && known !== written)
      return unsupported(name, `\`${name}\` is not supported: the name of the field is \`${known}\`.`);
    const inside = insideOf(name, value);
    if (inside !== null) return unsupported(name + inside, steersMessage(name + inside));
  }
  return null;
}
