/** A provider given on the command line: any server that speaks the OpenAI API. */
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from './problem.ts';

export interface CustomProvider {
  /** Up to and without the endpoint, for example `https://llm.example.com/v1`. */
  readonly url: string;
  /** From the environment, never from the command line; null if the provider takes none. */
  readonly key: string | null;
}

/** Asks the provider what it serves, so that nobody has to type it. */
export async function providerModels(provider: CustomProvider): Promise<string[]> {
  const url = `${provider.url.replace(/\/$/, '')}/models`;
  const headers = provider.key === null ? {} : { authorization: `Bearer ${provider.key}` };
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(15_000) });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    const list = (await response.json()) as { data?: { id?: unknown }[] };
    const ids = (list.data ?? []).map((model) => model.id).filter((id) => typeof id === 'string');
    if (ids.length === 0) throw new Error('it lists no models');
    return ids;
  } catch (cause) {
    throw new Problem(
      `The provider's models could not be read from ${url}: ${errorText(cause)}. Is GW_PROVIDER_KEY set?`,
    );
  }
}
