/** Which methods a route takes on the wire. */

/** HEAD is GET without the body of its reply: probes and caches ask so. */
export const methodsOf = (method: string): string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);
export const methodMatch = (method: string) => {
  const [only = method, ...others] = methodsOf(method);
  const match = others.length > 0 ? { safe_regex: { regex: [only, ...others].join('|') } } : { exact: only };
  return { headers: [{ name: ':method', string_match: match }] };
};
