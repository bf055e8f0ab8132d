/**
 * Which API a provider is called by, and the body for it: the API of the client where the provider speaks it, else one into which the
 * call can be translated.
 */
import { apisOf, usualApis } from '@gw/contract/internal/catalogue/apis';
import { defined } from '@gw/contract/internal/defined';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { SnapshotDeployment } from '@gw/contract/internal/snapshot';
import type { ParsedBody } from './parse.ts';
import type { ParsedRequest } from './port/parsed-request.ts';
import type { HostedTool, StreamReader } from './port/shape.ts';
import type { NoCounterpart, StreamTranslator, Terms, Translator } from './port/translator.ts';
import { type Outgoing, outgoing } from './provider-body.ts';
import { shapeOf, shapes } from './shapes.ts';
import { translate } from './translate/translate.ts';

type Spoken = Pick<SnapshotDeployment, 'calls'>;

/** The APIs that calls are translated into, the first that a provider speaks. */
const translatedInto: readonly string[] = ['chat', 'messages', 'responses'];

function behind(endpoint: string, apis: readonly string[]): string | null {
  // Who speaks an API counts its prompts as well.
  if (apis.includes(shapeOf(endpoint).counts ?? endpoint)) return endpoint;
  const known = translatedInto.filter((api) => apis.includes(api) && shapes.some(({ name }) => name === api));
  return known.find((api) => translate(endpoint, api) !== null) ?? null;
}

/** Returns the API by which calls of the API `endpoint` are sent to a deployment; null if they cannot be sent there. */
export const apiBehind = (endpoint: string, deployment: Spoken): string | null => behind(endpoint, apisOf(deployment));

/** Whether the replies of a deployment to calls of the API `endpoint` are translated. */
export const speaksAnother = (endpoint: string, deployment: Spoken): boolean =>
  (apiBehind(endpoint, deployment) ?? endpoint) !== endpoint;

/** Whether a deployment can be sent this call, as it is or translated. */
export function takes(request: ParsedRequest, deployment: Spoken): boolean {
  const api = apiBehind(request.endpoint, deployment);
  return api !== null && request.untranslatable?.[api] === undefined && notAllowed(request, deployment) === null;
}

/** Returns the first tool that the provider of a deployment would run and may not. */
const notAllowed = ({ hostedTools = [] }: ParsedRequest, { calls }: Spoken): HostedTool | null =>
  hostedTools.find(({ kind }) => !calls?.hostedTools?.includes(kind)) ?? null;

/** Returns a tool that none of these, which speak the API of the call, may run by itself. */
export function toolWithoutLeave(request: ParsedRequest, deployments: readonly Spoken[]): HostedTool | null {
  const [first = null] = request.hostedTools ?? [];
  const speaking = deployments.filter((each) => !speaksAnother(request.endpoint, each));
  return speaking.map((each) => notAllowed(request, each)).find((tool) => tool !== null) ?? first;
}

/** How the reply of a deployment comes back: plain data, since it is sent to threads. */
export interface Returning {
  /** The API that the provider speaks. */
  readonly api: string;
  readonly terms: Terms;
}

/** Returns how the reply of a deployment is translated; null: it is in the API of the client. */
export function returningFrom(
  { endpoint, terms }: Pick<ParsedRequest, 'endpoint' | 'terms'>,
  deployment: Spoken | null,
): Returning | null {
  const api = terms === undefined || deployment === null ? null : apiBehind(endpoint, deployment);
  const its = api === null ? undefined : terms?.[api];
  return api === null || its === undefined ? null : { api, terms: its };
}

const translatorOf = (endpoint: string, api: string): Translator =>
  defined(translate(endpoint, api), `A translation from ${endpoint} to ${api}`);

/** Returns a whole reply in the API of the client; null if it is no reply of the provider's. */
export const replyFrom = ({ api, terms }: Returning, endpoint: string, json: string): string | null =>
  translatorOf(endpoint, api).reply(json, terms);

/** Reads the events of a provider, which become those of another API. */
export interface ForeignStream {
  readonly reader: StreamReader;
  readonly translator: StreamTranslator;
}

export function streamFrom({ api, terms }: Returning, request: ParsedRequest, requestId: string | null): ForeignStream {
  const { endpoint, answers } = request;
  const stream = defined(shapeOf(api).reply.stream, 'A shape of streams');
  const translator = translatorOf(endpoint, api).stream(terms);
  return { reader: stream.open({ answers, wantsUsage: true }, requestId), translator };
}

/** The forms that a call can be sent in. */
export interface Bodies {
  readonly outgoing: Outgoing;
  /** Each by the name of its API; absent: every deployment of the model speaks the client's. */
  readonly translated?: ReadonlyMap<string, Outgoing>;
}

/** Returns the body for a deployment that `takes` the call. */
export function bodyFor({ outgoing: own, translated }: Bodies, endpoint: string, deployment: Spoken): Outgoing {
  const api = apiBehind(endpoint, deployment);
  return (api === null ? undefined : translated?.get(api)) ?? own;
}

/** Returns the same of each body. `change` is told the API of each. */
export function eachBody(bodies: Bodies, endpoint: string, change: (body: Outgoing, api: string) => Outgoing): Bodies {
  const { outgoing: own, translated } = bodies;
  if (translated === undefined) return { outgoing: change(own, endpoint) };
  const changed = [...translated].map(([api, body]) => [api, change(body, api)] as const);
  return { outgoing: change(own, endpoint), translated: new Map(changed) };
}

/** The bound of an answer where an API demands one and the client's has set none; Anthropic's models all take it. */
const usualMaxTokens = 8192;

/**
 * Makes the bodies of a call. `spoken` has the APIs of each provider of its model, `contextWindow` is that of the model.
 * The request says into which of them it cannot be translated.
 */
export function bodiesOf(
  parsed: ParsedBody,
  {
    contextWindow,
    spoken = [usualApis],
  }: { readonly contextWindow: number | null; readonly spoken?: readonly (readonly string[])[] },
): Bodies & { readonly request: ParsedRequest } {
  const { request } = parsed;
  const { endpoint } = request;
  const own = outgoing(parsed);
  const others = new Set(spoken.flatMap((apis) => behind(endpoint, apis) ?? []));
  others.delete(endpoint);
  if (others.size === 0) return { request, outgoing: own };
  const translated = new Map<string, Outgoing>();
  const terms: Record<string, Terms> = {};
  const untranslatable: Record<string, NoCounterpart> = {};
  const maxTokens = Math.min(usualMaxTokens, Math.ceil((contextWindow ?? Number.POSITIVE_INFINITY) / 2));
  for (const api of others) {
    const made = translatedBody(parsed, api, maxTokens);
    if (!made.ok) untranslatable[api] = made.error;
    else {
      translated.set(api, made.value.outgoing);
      terms[api] = made.value.terms;
    }
  }
  return { request: { ...request, terms, untranslatable }, outgoing: own, translated };
}

function translatedBody(
  { body, request, texts }: ParsedBody,
  api: string,
  maxTokens: number,
): Result<{ readonly outgoing: Outgoing; readonly terms: Terms }, NoCounterpart> {
  const translator = translate(request.endpoint, api);
  if (translator === null) return err({ field: 'model', why: 'There is no translation.' });
  const defaults = { now: Math.floor(Date.now() / 1000), maxTokens };
  const made = translator.request({ body, texts }, defaults);
  if (!made.ok) return made;
  const { terms, ...fields } = made.value;
  const model = { body: { model: request.model, ...fields.body }, texts: fields.texts };
  return ok({ outgoing: outgoing({ ...model, request: { ...request, endpoint: api } }), terms });
}

/** The refusal of a call that none of these can be sent, though it could be translated for them but for a field. */
export function lackOf(
  { endpoint, untranslatable = {} }: ParsedRequest,
  deployments: readonly Spoken[],
): NoCounterpart | null {
  const apis = deployments.map((each) => apiBehind(endpoint, each));
  return apis.map((api) => (api === null ? undefined : untranslatable[api])).find((lack) => lack !== undefined) ?? null;
}
