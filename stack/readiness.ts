/** Whether every part of the gateway answers. */
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '@gw/contract/internal/defined';
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from './machine/problem.ts';
import type { Part } from './supervise.ts';

export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

/** One request to our own listener, whose certificate may be self-signed; rejects if there is no answer. */
export function ask(url: string, key: string | null, body?: unknown): Promise<HttpReply> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
      rejectUnauthorized: false,
      agent: false,
      timeout: 10_000,
    });
    request.once('timeout', () => request.destroy(new Error('no answer within 10 s')));
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve({ status: defined(response.statusCode, 'The status'), body: text }));
      response.once('error', reject);
    });
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The first model that can chat, as the gateway lists it; embedding models have no text output. */
function firstModel(list: string): string | null {
  const parsed = JSON.parse(list) as { data?: { id?: unknown }[] };
  const ids = (parsed.data ?? []).map((model) => model.id).filter((id) => typeof id === 'string');
  return ids.find((id) => !/embed/i.test(id)) ?? ids[0] ?? null;
}

/** How long to wait, and what ends the wait early. */
export interface Patience {
  /** A part that ends again and again ends the wait, with the reason from its log. */
  readonly parts: ReadonlyMap<string, Part>;
  readonly signal?: AbortSignal;
}

const limitMs = 60_000;
const tooManyCrashes = 3;

/** Polls `condition`. Throws a Problem that says what is missing. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { parts, signal }: Patience,
  reason: () => string = () => '',
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    signal?.throwIfAborted();
    const broken = [...parts.values()].find((part) => part.crashes >= tooManyCrashes);
    if (broken) throw new Problem(`${broken.name} does not start: ${lastLine(broken.logFile)} (${broken.logFile})`);
    if (Date.now() > deadline) throw new Problem(`Waited ${limitMs / 1000} s for ${what}. ${reason()}`.trim());
    await delay(30);
  }
}

function lastLine(file: string): string {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return defined(lines.at(-1), 'The last line').slice(0, 500);
}

/** A model that nobody serves: who asks for it is told so by the sidecar, and no provider is asked. */
const unknownModel = 'gateway-readiness';

/**
 * Waits until every part of ours answers, and returns a model that a client can name; null if there is none. No provider is
 * asked: what it answers says nothing of the gateway, and a completion could cost money and would stand in a ledger.
 */
export async function everyPartAnswers(
  target: {
    /** One for each Envoy. */
    readonly publicUrls: readonly string[];
    readonly key: string;
    readonly healthUrls: readonly string[];
    readonly simulatorUrl?: string;
  },
  patience: Patience,
): Promise<string | null> {
  const { publicUrls, key, healthUrls, simulatorUrl } = target;
  let model: string | null = null;
  let last = '';
  const answers = async (asked: Promise<HttpReply>, ...expected: readonly number[]): Promise<HttpReply | null> => {
    try {
      const reply = await asked;
      last = `The last answer was ${reply.status}: ${reply.body.slice(0, 300)}`;
      return expected.includes(reply.status) ? reply : null;
    } catch (cause) {
      last = `The last request failed: ${errorText(cause)}`;
      return null;
    }
  };
  const isWhole = async (): Promise<boolean> => {
    // Each instance; Envoy asks one of them alone.
    for (const url of healthUrls) if ((await answers(ask(`${url}/healthz`, null), 200)) === null) return false;
    for (const url of publicUrls) {
      // Envoy, ext-authz and the control plane with its stores. Of a key that an operator has barred ext-authz says so.
      const list = await answers(ask(`${url}/v1/models`, key), 200, 403, 429);
      if (list === null) return false;
      model = list.status === 200 ? firstModel(list.body) : null;
      // The sidecar, once it has the catalogue.
      const call = { model: unknownModel, messages: [{ role: 'user', content: 'Are you there?' }] };
      if ((await answers(ask(`${url}/v1/chat/completions`, key, call), 400, 403, 429)) === null) return false;
    }
    return simulatorUrl === undefined || (await answers(ask(`${simulatorUrl}/v1/models`, null), 200)) !== null;
  };
  await until('every part to answer', isWhole, patience, () => last);
  return model;
}
