/** One well-formed request for each public route. */
import { type Route, routes } from '@gw/contract/routes';
import { messages, type Sent } from '../input/ask.ts';

const named: Readonly<Record<string, string>> = {
  code: 'invalid_model',
  model_id: 'sim-small',
  region_code: 'eu-west',
  receipt_id: 'rcpt_01890a5d-ac96-774b-bcce-b302099a8057',
  key_id: '000000000000',
};
const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { model: 'sim-small', messages },
  '/v1/completions': { model: 'sim-small', prompt: 'hi' },
  '/v1/embeddings': { model: 'sim-embed', input: 'hi' },
  '/v1/responses': { model: 'sim-small', input: 'hi' },
  '/v1/messages': { model: 'sim-small', max_tokens: 16, messages },
  '/v1/messages/count_tokens': { model: 'sim-small', messages },
  '/v1/keys': { name: 'one' },
  '/v1/gw/evidence-pack': { receipt_ids: ['rcpt_01890a5d-ac96-774b-bcce-b302099a8057'] },
};

export interface RouteRequest extends Sent {
  readonly route: Route;
  readonly method: string;
  readonly path: string;
}

export const routeRequests: readonly RouteRequest[] = routes.map((route) => {
  const body = route.method === 'POST' ? bodies[route.path] : undefined;
  return {
    route,
    method: route.method,
    path: route.path.replace(/\{(\w+)\}/g, (_, name: string) => named[name] ?? 'x'),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
});
