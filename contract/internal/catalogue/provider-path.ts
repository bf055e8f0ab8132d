/** Paths of endpoints below a provider's base URL. */

/** OpenAI's path. */
export const usualPath = '{endpoint}';

/** A template: `{endpoint}` is `chat/completions`, `completions` or `embeddings`, `{model}` the provider's name of the model. */
export const pathPattern =
  /^(?!(?:.*\/)?\.{1,2}(?:[/?]|$))(?=[^?]*\{endpoint\})(?!.*\{endpoint\}.*\{endpoint\})(?!.*\{model\}.*\{model\})(?:[A-Za-z0-9._~-]|\/(?!\/)|\{endpoint\}|\{model\}){1,200}(?:\?[A-Za-z0-9._~=&%-]{1,200})?$/;

export const namesModel = (path: string | null): boolean => path?.includes('{model}') ?? false;

/** Encodes a model's name for a path. */
export const modelInPath = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

interface Addressed {
  readonly base_url: string;
  readonly path: string | null;
}

export function endpointUrl({ base_url, path }: Addressed, endpoint: string, model: string): string {
  const filled = (path ?? usualPath).replace('{endpoint}', endpoint).replace('{model}', () => modelInPath(model));
  return `${base_url}/${filled}`;
}
