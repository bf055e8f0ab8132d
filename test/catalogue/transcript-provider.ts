/** One server that stands for every known provider, each below a path of its own, and sends its transcript byte by byte. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type KnownProvider, knownProviders } from '@gw/contract/internal/catalogue/known-providers';
import { errorTextOf, failingOf, streamTextOf, type Transcript, textOf, transcripts } from '@gw/testing/transcripts';
import { z } from 'zod';

export const credential = 'TRANSCRIPTS';
export const embeddingsOf = ({ provider }: Transcript) => `transcripts/${provider}-embed`;
export const modelOf = ({ provider }: Transcript) => `transcripts/${provider}`;

/** The last request that the provider got. */
export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** A prompt of `error 1` asks for the second error, `fail` for a stream that fails. */
const question = z.looseObject({
  stream: z.boolean().optional(),
  messages: z.tuple([z.object({ content: z.string() })]),
});

function answer({ body, path }: ProviderRequest, response: ServerResponse): void {
  const [, provider] = path.split('/');
  const transcript = transcripts.find((each) => each.provider === provider);
  const send = (status: number, text: string, type = 'application/json') =>
    void response.writeHead(status, { 'content-type': type }).end(text);
  if (!transcript) return send(500, '{}');
  if (path.includes('/embeddings')) return send(200, transcript.embeddings ? textOf(transcript.embeddings) : '{}');
  const { messages, stream } = question.parse(body);
  const prompt = messages[0].content;
  const error = transcript.errors[Number(/^error (\d)$/.exec(prompt)?.[1] ?? Number.NaN)];
  if (error) return send(error.status, errorTextOf(error));
  if (!stream) return send(200, textOf(transcript.json));
  const sent = (prompt === 'fail' && failingOf(transcript)) || transcript;
  send(200, streamTextOf(sent), 'text/event-stream; charset=utf-8');
}

export async function startTranscriptProvider() {
  const asked: ProviderRequest[] = [];
  const server = createServer((request, response) => {
    // As its health path.
    if (request.method === 'GET') return void response.writeHead(200).end();
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      const question = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) };
      asked.push(question);
      answer(question, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export function known(provider: string): KnownProvider {
  const settings = knownProviders[provider];
  if (settings === undefined) throw new Error(`${provider} is not in the list.`);
  return settings;
}

/** The entries of one transcript, by the settings of the list. */
export function entriesOf(transcript: Transcript, origin: string) {
  const { embedding_model, model, provider } = transcript;
  const { base_url: _address, example: _example, name, source: _source, ...settings } = known(provider);
  const id = `transcripts-${provider}`;
  const base_url = `${origin}/${provider}`;
  const models = {
    [modelOf(transcript)]: model,
    ...(embedding_model && { [embeddingsOf(transcript)]: embedding_model }),
  };
  const common = { owned_by: 'test', active_parameters_b: 8, total_parameters_b: 8 };
  return {
    provider: { id, name, base_url, credential_ref: credential, ...settings },
    models: [
      { id: modelOf(transcript), kind: 'chat', ...common },
      ...(embedding_model ? [{ id: embeddingsOf(transcript), kind: 'embedding', ...common }] : []),
    ],
    deployment: { id, provider: id, region: 'us-east', pue: 1.1, models },
  };
}
