import type { ParsedBody } from '@gw/receipt-sidecar/internals/api/parse';

/** Returns a chat body as if it had been parsed, without the checks. */
export const parsedBody = (body: Record<string, unknown>): ParsedBody => ({
  request: { endpoint: 'chat', stream: body.stream === true } as ParsedBody['request'],
  body,
  texts: new Map(Object.entries(body).map(([name, value]) => [name, JSON.stringify(value)])),
});
