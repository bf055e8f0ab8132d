/** How routes match the methods and paths of the public API. */
/** HEAD is GET without a body, for probes and caches. */
export const methodsOf = (method: string): string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);
export const methodMatch = (method: string) => {
  const [only = method, ...others] = methodsOf(method);
  const match = others.length > 0 ? { safe_regex: { regex: [only, ...others].join('|') } } : { exact: only };
  return { headers: [{ name: ':method', string_match: match }] };
};

// A model id may contain slashes, and a hash a colon, raw or encoded; no other name may contain a percent sign.
export const patternOf = (path: string): string =>
  path
    .replace('{model_id}', '.+')
    .replace('{methodology_hash}', '(?:[A-Za-z0-9._~:-]|%3[Aa])+')
    .replace(/\{[a-z_]+\}/, '[A-Za-z0-9._~-]+');

export const pathMatch = (path: string): object =>
  path.includes('{') ? { safe_regex: { regex: patternOf(path) } } : { path };
