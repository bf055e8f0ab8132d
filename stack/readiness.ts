/** Whether a request passes through the whole gateway. */
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from './problem.ts';
import type { Part } from './supervise.ts';

export interface HttpReply {
  readonly status: number;
  readonly body: string;
}

/** One request to our own listener, whose certificate may be self-signed; rejects if there is no answer. */
export function ask(url: string, key: string, body?: unknown): Promise<HttpReply> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
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
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
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
  return lines.at(-1)?.slice(0, 500) ?? '';
}

/**
 * Waits until a request passes, and returns a model that it can name. With `complete` that request is a completion,
 * which reaches every part (and leaves a receipt); else the list of models, since a completion could cost money.
 */
export async function firstRequest(
  target: { readonly publicUrl: string; readonly key: string; readonly complete: boolean },
  patience: Patience,
): Promise<string | null> {
  const { publicUrl, key, complete } = target;
  let model: string | null = null;
  let last = '';
  const passes = async (url: string, body?: unknown): Promise<string | null> => {
    try {
      const answer = await ask(`${publicUrl}${url}`, key, body);
      last = `The last answer was ${answer.status}: ${answer.body.slice(0, 300)}`;
      return answer.status === 200 ? answer.body : null;
    } catch (cause) {
      last = `The last request failed: ${errorText(cause)}`;
      return null;
    }
  };
  const attempt = async (): Promise<boolean> => {
    const list = await passes('/v1/models');
    if (list === null) return false;
    model = firstModel(list);
    if (!complete || model === null) return true;
    const call = { model, messages: [{ role: 'user', content: 'Are you there?' }], max_tokens: 1 };
    return (await passes('/v1/chat/completions', call)) !== null;
  };
  await until('a request to pass through the gateway', attempt, patience, () => last);
  return model;
}
