/**
 * Which API a provider is called by, and the body for it: the API of the client where the provider speaks it, else one into which the
 * call can be translated.
 */
import { apisOf, usualApis } from '@gw/contract/internal/catalogue/apis';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { SnapshotDeployment } from '@gw/contract/internal/snapshot';
import type { ParsedBody } from './parse.ts';
import type { ParsedRequest } from './port/parsed-request.ts';
import { type Outgoing, outgoing } from './provider-body.ts';
import { shapes } from './shapes.ts';
import { translate } from './translate/translate.ts';
import type { NoCounterpart, Terms } from './translate/translator.ts';

type Spoken = Pick<SnapshotDeployment, 'calls'>;

/** The APIs that calls are translated into, the first that a provider speaks. */
const translatedInto: readonly string[] = ['chat', 'messages', 'responses'];

function behind(endpoint: string, apis: readonly string[]): string | null {
  if (apis.includes(endpoint)) return endpoint;
  const known = translatedInto.filter((api) => apis.includes(api) && shapes.some(({ name }) => name === api));
  return known.find((api) => translate(endpoint, api) !== null) ?? null;
}

/** Returns the API by which calls of the API `endpoint` are sent to a deployment; null if they cannot be sent there. */
export const apiBehind = (endpoint: string, deployment: Spoken): string | null => behind(endpoint, apisOf(deployment));

/** Whether a deployment can be sent this call, as it is or translated. */
export function takes({ endpoint, untranslatable }: ParsedRequest, deployment: Spoken): boolean {
  const api = apiBehind(endpoint, deployment);
  return api !== null && untranslatable?.[api] === undefined;
}

/** A call in the words of another API than the client's. */
export interface Translated {
  readonly outgoing: Outgoing;
  /** By these the reply is translated back. */
  readonly terms: Terms;
}

/** What a call can be sent as. */
export interface Bodies {
  readonly outgoing: Outgoing;
  /** By the name of the API; absent: every deployment of the model speaks the client's. */
  readonly translated?: ReadonlyMap<string, Translated>;
}

/** Returns the body for a deployment that `takes` the call. */
export function bodyFor({ outgoing: own, translated }: Bodies, endpoint: string, deployment: Spoken): Outgoing {
  const api = apiBehind(endpoint, deployment);
  return (api === null ? undefined : translated?.get(api)?.outgoing) ?? own;
}

/** Returns the same of each body. `change` is told the API of each. */
export function eachBody(bodies: Bodies, endpoint: string, change: (body: Outgoing, api: string) => Outgoing): Bodies {
  const { outgoing: own, translated } = bodies;
  if (translated === undefined) return { outgoing: change(own, endpoint) };
  const changed = [...translated].map(
    ([api, { terms, outgoing: body }]) => [api, { terms, outgoing: change(body, api) }] as const,
  );
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
  const translated = new Map<string, Translated>();
  const untranslatable: Record<string, NoCounterpart> = {};
  const maxTokens = Math.min(usualMaxTokens, Math.ceil((contextWindow ?? Number.POSITIVE_INFINITY) / 2));
  for (const api of others) {
    const made = translatedBody(parsed, api, maxTokens);
    if (made.ok) translated.set(api, made.value);
    else untranslatable[api] = made.error;
  }
  const isWhole = Object.keys(untranslatable).length === 0;
  return { request: isWhole ? request : { ...request, untranslatable }, outgoing: own, translated };
}

function translatedBody(
  { body, request, texts }: ParsedBody,
  api: string,
  maxTokens: number,
): Result<Translated, NoCounterpart> {
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
