/** A provider of a test that holds its calls until it is told to answer them, and what its health endpoint says. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerChat } from '../chat-reply.ts';
import { apiOf, type OperatorPlace, removeEntries } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';

export async function startHeldProvider() {
  let isHeld = false;
  let health = 200;
  let asked = 0;
  let fault: { readonly status: number; readonly headers: Record<string, string>; readonly body: string } | null = null;
  let checks: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      checks.push({ url: request.url, ...request.headers });
      return void response.writeHead(health).end();
    }
    asked += 1;
    request.resume().on('end', () => {
      const answer = () => {
        waiting.delete(answer);
        if (fault) response.writeHead(fault.status, fault.headers).end(fault.body);
        else if (request.url?.endsWith('/embeddings')) answerEmbedding(response);
        else answerChat(response, { model: 'm' }, 'Sunny.');
      };
      response.on('close', () => waiting.delete(answer));
      if (isHeld) waiting.add(answer);
      else answer();
    });
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: () => {
      isHeld = true;
    },
    /** Answers what waits, and from now on at once. */
    release: () => {
      isHeld = false;
      for (const answer of [...waiting]) answer();
    },
    /** Sets the status of its answers; null: it answers that the sun shines. */
    failWith: (
      status: number | null,
      headers: Record<string, string> = {},
      body: object = { error: { message: 'broken' } },
    ) => {
      const json = { 'content-type': 'application/json' };
      fault = status === null ? null : { status, headers: { ...json, ...headers }, body: JSON.stringify(body) };
    },
    waiting: () => waiting.size,
    asked: () => asked,
    connections: () => connections,
    say: (status: number) => {
      health = status;
    },
    checks: () => checks,
    forget: () => {
      checks = [];
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answerEmbedding(response: ServerResponse): void {
  const data = [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }];
  const usage = { prompt_tokens: 3, total_tokens: 3 };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', model: 'm', data, usage }));
}

/** One deployment of `model` in each region, at a provider of the same name; the first one comes first. `place`: another gateway. */
export async function offerIn(
  model: string,
  places: readonly { readonly region: string; readonly provider: object; readonly deployment: object }[],
  place: OperatorPlace = stack,
): Promise<void> {
  const operator = apiOf(place);
  await operator.send('POST', '/operator/v1/models', {
    id: model,
    owned_by: 'test',
    kind: 'chat',
    model_class: 'small',
  });
  for (const [preference, { deployment, provider, region }] of places.entries()) {
    await operator.send('POST', '/operator/v1/providers', { id: region, name: region, ...provider });
    const where = { name: region, country: 'FR', grid_zone: 'FRA', preference };
    await operator.send('POST', '/operator/v1/regions', { code: region, ...where });
    const models = { [model]: 'm' };
    await operator.send('POST', '/operator/v1/deployments', {
      id: region,
      provider: region,
      region,
      pue: 1.1,
      models,
      ...deployment,
    });
  }
}

export const withdraw = (model: string, regions: readonly string[]): Promise<void> => {
  const each = (kind: string) => regions.map((region) => `${kind}/${region}`);
  return removeEntries(
    apiOf(stack),
    ...each('deployments'),
    `models/${model}`,
    ...each('regions'),
    ...each('providers'),
  );
};
