/** A provider given on the command line: any server that speaks the OpenAI API. */
import { join } from 'node:path';
import { guessModel } from '@gw/contract/internal/catalogue/model-guess';
import { errorText } from '@gw/contract/internal/error-text';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { z } from 'zod';
import { readJson, writePrivateJson } from './private-file.ts';
import { Problem } from './problem.ts';

export interface CustomProvider {
  /** Up to and without the endpoint, for example `https://llm.example.com/v1`. */
  readonly url: string;
  /** From the environment, never from the command line; null if the provider takes none. */
  readonly key: string | null;
}

const listSchema = z.object({ data: z.array(z.unknown()) });
const modelSchema = z.object({ id: z.string() });
const knownSchema = z.object({ url: z.string(), models: z.array(z.string()) });

/**
 * Asks the provider what it serves, so that nobody has to type it. If it does not say, those of the last start are
 * served: a gateway starts even if a provider is away. Throws a Problem only if there was no such start.
 */
export async function providerModels(
  provider: CustomProvider,
  dir: string,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const file = join(dir, 'provider-models.json');
  const url = provider.url.replace(/\/$/, '');
  const listed = await listModels(url, provider.key);
  if (listed.ok) {
    writePrivateJson(file, { url, models: listed.value });
    tellGuesses(listed.value, log);
    return listed.value;
  }
  const known = knownSchema.safeParse(readJson(file)).data;
  if (known?.url !== url) throw new Problem(listed.error);
  log(`${listed.error} Its models of the last start are served.`);
  return known.models;
}

const mostTold = 8;

/** What receipts are computed with until somebody says more. */
function tellGuesses(models: readonly string[], log: (line: string) => void): void {
  log('The provider says only the names of its models. What follows from them, until ./gw admin models set says more:');
  for (const id of models.slice(0, mostTold)) log(`  ${id}: ${guessModel(id).because}.`);
  if (models.length > mostTold) log(`  and ${models.length - mostTold} more: ./gw admin models list`);
}

/** Its models, or a sentence that says why they could not be had and what to do. */
async function listModels(baseUrl: string, key: string | null): Promise<Result<readonly string[], string>> {
  const url = `${baseUrl}/models`;
  const problem = (reason: string) => err(`The provider's models could not be read from ${url}: ${reason}.`);
  try {
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(15_000) });
    if (!response.ok) return problem(reasonOfStatus(response.status, key !== null));
    const list = listSchema.safeParse(await response.json().catch(unlessCutOff));
    if (!list.success) return problem('what it answers is no list of models. Is the API elsewhere, for example at /v1');
    // What has no name cannot be asked for.
    const models = list.data.data.flatMap((each) => modelSchema.safeParse(each).data?.id ?? []);
    if (models.length === 0) return problem('it lists no models. Load one there, and start again');
    return ok(models);
  } catch (cause) {
    return problem(reasonOfFailure(cause));
  }
}

/** What is no JSON is no list; that it did not come is another reason. */
function unlessCutOff(thrown: unknown): null {
  if (thrown instanceof SyntaxError) return null;
  throw thrown;
}

function reasonOfStatus(status: number, hasKey: boolean): string {
  if (status === 401 || status === 403)
    return hasKey
      ? `it refuses the key in GW_PROVIDER_KEY (${status})`
      : `it asks for a key (${status}): set GW_PROVIDER_KEY`;
  if (status === 404) return 'it has no list of models there (404). Is the API elsewhere, for example at /v1';
  return `it answers ${status}`;
}

/** What `fetch` throws says only that it failed; its cause says why. */
function reasonOfFailure(thrown: unknown): string {
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') return 'it did not answer within 15 s';
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens at this address';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'nobody knows the name of its host';
  return errorText(cause);
}
