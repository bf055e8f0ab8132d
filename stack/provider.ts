/**
 * A provider given on the command line: any server that speaks the OpenAI API.
 *
 * Invariant: its key goes to that address alone; redirects are not followed.
 */
import { join } from 'node:path';
import { jsonIn } from '@gw/contract/internal/json-in';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { findCertificateBundle } from '@gw/envoy/certificate-bundle';
import { proposedModel } from '@gw/methodology/proposed-model';
import { type AddressGuard, openAddressGuard } from '@gw/service/address-guard';
import { type GuardedFailure, guardedRequest } from '@gw/service/guarded-request';
import { z } from 'zod';
import { Problem } from './machine/problem.ts';
import { readJson, writePrivateJson } from './private-file.ts';

export interface CustomProvider {
  /** Up to and without the endpoint, for example `https://llm.example.com/v1`. */
  readonly url: string;
  /** From the environment, never from the command line; null if the provider takes none. */
  readonly key: string | null;
}

interface Start {
  /** Where what it lists is kept for the next start. */
  readonly dir: string;
  readonly guard: AddressGuard;
  readonly log: (line: string) => void;
}

interface Ports {
  readonly public: number;
  readonly control: number;
  readonly health: Readonly<Partial<Record<string, number>>>;
}

/** Refuses what listens here itself; Postgres and Valkey have no port. */
export function guardOf({ control, health, public: edge }: Ports): AddressGuard {
  const at = (what: string, port = 0) => ({ what, host: '127.0.0.1', port });
  return openAddressGuard([
    at('public port: calls would come back to it, again and again', edge),
    at("operators' port", control),
    ...Object.values(health).map((port) => at('health port', port)),
  ]);
}

const maxBytes = 16 * 1024 * 1024;
const listSchema = z.object({ data: z.array(z.unknown()) });
const modelSchema = z.object({ id: z.string() });
const knownSchema = z.object({ url: z.string(), models: z.array(z.string()) });

/**
 * Asks the provider what it serves, so that nobody has to type it. If it does not say, those of the last start are
 * served: a gateway starts even if a provider is away. Throws a Problem if there was no such start, or if the address is one
 * that nobody is to be sent to.
 */
export async function providerModels(provider: CustomProvider, { dir, guard, log }: Start): Promise<readonly string[]> {
  const refused = await guard.refusal(provider.url);
  if (refused !== null) throw new Problem(`--provider names an address that the gateway never calls (${refused}).`);
  const file = join(dir, 'provider-models.json');
  const url = provider.url.replace(/\/$/, '');
  const listed = await listModels(url, provider.key, guard);
  if (listed.ok) {
    writePrivateJson(file, { url, models: listed.value });
    tellModels(listed.value, url, log);
    return listed.value;
  }
  const known = knownSchema.safeParse(readJson(file)).data;
  if (known?.url !== url) throw new Problem(listed.error);
  log(`${listed.error} The models found at the last start are served.`);
  return known.models;
}

const mostTold = 8;

/** Logs which assumptions receipts are computed with until somebody says more. */
function tellModels(models: readonly string[], url: string, log: (line: string) => void): void {
  log('Until you run ./gw admin models set, receipts are based on:');
  for (const id of models.slice(0, mostTold)) log(`  ${id}: ${proposedModel(id, url).because}.`);
  if (models.length > mostTold) log(`  and ${models.length - mostTold} more: ./gw admin models list`);
}

/** Its models, or a sentence that says why they could not be had and what to do. */
async function listModels(
  baseUrl: string,
  key: string | null,
  guard: AddressGuard,
): Promise<Result<readonly string[], string>> {
  const url = `${baseUrl}/models`;
  const problem = (reason: string) => err(`The provider's models could not be read from ${url}: ${reason}.`);
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  // Envoy will trust the same authorities.
  const { pem } = findCertificateBundle(process.env);
  const trusted = pem === null ? {} : { ca: pem };
  const reply = await guardedRequest(guard, { method: 'GET', url, headers, timeoutMs: 15_000, maxBytes, ...trusted });
  if (!reply.ok) return problem(reasonOfFailure(reply.error));
  const { body, status } = reply.value;
  if (status < 200 || status > 299) return problem(reasonOfStatus(status, key !== null));
  const list = listSchema.safeParse(jsonIn(body));
  if (!list.success) return problem('its reply is not a list of models. Is the API at another path, for example /v1');
  // Clients cannot ask for a model without a name.
  const models = list.data.data.flatMap((each) => modelSchema.safeParse(each).data?.id ?? []);
  if (models.length === 0) return problem('it lists no models. Load one there, and start again');
  return ok(models);
}

function reasonOfStatus(status: number, hasKey: boolean): string {
  if (status === 401 || status === 403)
    return hasKey
      ? `it refuses the key in GW_PROVIDER_KEY (${status})`
      : `it asks for a key (${status}): set GW_PROVIDER_KEY`;
  if (status === 404) return 'it has no list of models there (404). Is the API at another path, for example /v1';
  if (status >= 300 && status < 400)
    return `it redirects (${status}), and redirects are not followed: give the final address of its API`;
  return `it answers ${status}`;
}

function reasonOfFailure({ code, reason, text }: GuardedFailure): string {
  if (reason === 'timeout') return 'it did not answer within 15 s';
  if (code === 'ECONNREFUSED') return 'nothing is listening at this address';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name of its host cannot be resolved';
  if (code === 'ECONNRESET') return 'it closed the connection without an answer';
  return text;
}
