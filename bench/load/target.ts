/** Something that answers chat completions, and the processes that work for it. */

export type PeerName = 'envoy-ai-gateway' | 'portkey' | 'litellm';

export interface Target {
  /**
   * `budget`: the gateway too, with a key of the same account that has a budget. `bare`: another gateway, whose sidecar does no work
   * (bare-sidecar/).
   */
  readonly name: 'provider' | 'envoy' | 'gateway' | 'budget' | 'bare' | PeerName;
  /** Up to and with `/v1`. */
  readonly baseUrl: string;
  /** Secrets among them: they never go into arguments or output. */
  readonly headers: Readonly<Record<string, string>>;
  /** Part → process id, now. */
  pids(): Readonly<Record<string, number>>;
}

export interface Load {
  readonly requests: number;
  /** Replies other than 200, time-outs and broken connections. */
  readonly errors: number;
  readonly durationS: number;
  /** Over whole replies; for streams, up to their first token. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Stream events that arrived; 0 for JSON. */
  readonly events: number;
}

export interface Call {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The JSON call is small and answered at once, so that what is measured is the way and not the work. */
export function jsonCall(target: Target, model: string): Call {
  return {
    url: `${target.baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', 'x-sim-tokens-per-second': '0', ...target.headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello to the benchmark.' }] }),
  };
}

export function streamCall(target: Target, model: string, tokens: number, tokensPerSecond: number): Call {
  const call = jsonCall(target, model);
  return {
    ...call,
    headers: {
      ...call.headers,
      'x-sim-tokens': String(tokens),
      'x-sim-tokens-per-second': String(tokensPerSecond),
      'x-sim-delay-ms': '0',
    },
    body: JSON.stringify({ ...JSON.parse(call.body), stream: true }),
  };
}
