/** An Envoy, and services that answer just enough to show which calls it lets in by a lease, and which it asks about. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callerAttribute, callerField } from '@gw/contract/internal/identity';
import { type Lease, leaseBusyMs, leaseLifeMs, leasePauseMs } from '@gw/contract/internal/lease';
import { serveEnvoy } from '@gw/grpc/server';
import type { EnvoyServices, ProcessingRequest, RpcServer } from '@gw/grpc/service';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type EnvoyAlone, startEnvoyAlone } from './alone.ts';

/** Longer than a machine stands still, ms. */
export const leaseTimes = { lifeMs: 3000, busyMs: 60_000, pauseMs: 3000, patienceMs: 10_000 };

/** Replaces the times in the script. */
export const withTimes = (changed: Partial<typeof leaseTimes> = {}): Readonly<Record<string, string>> => ({
  [`= ${leaseLifeMs}, ${leaseBusyMs}, ${leasePauseMs}, 300`]: `= ${Object.values({ ...leaseTimes, ...changed }).join(', ')}`,
});

export const leaseOf = (calls: number): Lease => ({
  calls,
  accountId: 'acct',
  keyId: 'key',
  limits: 'x-ratelimit-limit-requests=7 x-ratelimit-remaining-day=3',
  caller: JSON.stringify({ who: 'leased' }),
});

export const leasedBody = JSON.stringify({ model: 'm' });
let keys = 0;
export const newKey = (): string => `Bearer key-${++keys}`;

export interface Told {
  readonly status: number;
  /** The text of the limits. */
  readonly shown: readonly (string | null)[];
  /** `checked`: by ext-authz; `leased`: by a lease. */
  readonly caller?: string | null;
  /** The headers that the sidecar got. */
  readonly names?: readonly string[];
}

/** Answers each call with what it was told of it. */
const sidecar: EnvoyServices = {
  openProcessor: ({ answer, fail }) => ({
    message: ({ attributes, requestHeaders }: ProcessingRequest) => {
      const told = Object.values(attributes ?? {}).flatMap(
        ({ fields }) => fields?.[callerAttribute]?.stringValue ?? [],
      );
      const names = (requestHeaders?.headers?.headers ?? []).map(({ key }) => key ?? '');
      if (names.includes('x-sidecar-fails')) return fail(new Error('fails'));
      const body = JSON.stringify({ caller: JSON.parse(told[0] ?? '{}').who, names });
      answer({ immediateResponse: { status: { code: 200 }, body: Buffer.from(body), details: 'gw_test' } });
    },
    close: () => undefined,
  }),
};

/** To be called once by a file of tests, which has it to itself. */
export function leasingEnvoy(): LeasingEnvoy {
  const envoy = new LeasingEnvoy();
  beforeAll(() => envoy.start(), 60_000);
  beforeEach(() => {
    envoy.asked = [];
  });
  afterAll(async () => {
    // A script that fails writes a line, and the check decides: nobody would notice otherwise.
    expect(envoy.log).not.toContain('[lua]');
    await envoy.stop();
  });
  return envoy;
}

class LeasingEnvoy {
  /** The questions to ext-authz in their order. */
  asked: string[] = [];
  /** Its answer to a request for a lease. */
  lease: (authorization: string) => Promise<Lease | null> = async () => null;
  readonly #token = 'a-token-of-the-tests-that-is-long-enough';
  readonly #dir = mkdtempSync(join(tmpdir(), 'gw-lease-'));
  #services: RpcServer[] = [];
  #envoy: EnvoyAlone | null = null;

  async start(): Promise<void> {
    const serve = (name: string, offered: EnvoyServices) =>
      serveEnvoy({ listen: this.#listen(name), internalToken: this.#token }, offered, () => undefined);
    this.#services = await Promise.all([serve('a', this.#extAuthz()), serve('r', sidecar)]);
    this.#envoy = await this.another();
  }

  async stop(): Promise<void> {
    await this.#envoy?.stop();
    await Promise.all(this.#services.map((service) => service.close(100)));
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Another Envoy of these services; with other times, or without leases. */
  another(replace: Readonly<Record<string, string>> = withTimes(), leases = true): Promise<EnvoyAlone> {
    const where = { extAuthz: [this.#listen('a')], receiptSidecar: [this.#listen('r')], leases };
    return startEnvoyAlone(where, replace, { GW_INTERNAL_TOKEN: this.#token });
  }

  /** Calls go to another Envoy meanwhile, which is stopped then. */
  async on(other: EnvoyAlone, calls: () => Promise<void>): Promise<void> {
    const usual = this.#envoy;
    this.#envoy = other;
    try {
      await calls();
    } finally {
      this.#envoy = usual;
      await other.stop();
    }
  }

  get port(): number {
    return this.#envoy?.port ?? 0;
  }

  get log(): string {
    return this.#envoy?.log() ?? '';
  }

  async call(
    key: string,
    headers: Readonly<Record<string, string>> = {},
    sent: string | ReadableStream = leasedBody,
  ): Promise<Told> {
    const reply = await fetch(`http://127.0.0.1:${this.port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: key, 'content-type': 'application/json', ...headers },
      body: sent,
      ...(typeof sent !== 'string' && { duplex: 'half' as const }),
    });
    const told = reply.status === 200 ? await reply.json() : {};
    const shown = ['limit-requests', 'remaining-day'].map((name) => reply.headers.get(`x-ratelimit-${name}`));
    return { status: reply.status, shown, ...(told as Pick<Told, 'caller' | 'names'>) };
  }

  /** Calls one after the other. */
  async inTurn(count: number, key: string): Promise<unknown[]> {
    const callers: unknown[] = [];
    for (let each = 0; each < count; each += 1) callers.push((await this.call(key)).caller);
    return callers;
  }

  get leasesAsked(): number {
    return this.asked.filter((each) => each.startsWith('lease')).length;
  }

  /** From now on who asks for a lease waits for it; returns what gives it. */
  holdLease(): (granted: Lease) => void {
    let grant: (granted: Lease) => void = () => undefined;
    const held = new Promise<Lease>((resolve) => {
      grant = resolve;
    });
    this.lease = () => held;
    return grant;
  }

  #listen(name: string): string {
    return `unix:${join(this.#dir, `${name}.sock`)}`;
  }

  #extAuthz(): EnvoyServices {
    return {
      check: async ({ attributes }) => {
        const key = attributes?.request?.http?.headers?.authorization ?? '';
        this.asked.push(`check ${key}`);
        if (key.includes('bad')) return { status: { code: 7 }, deniedResponse: { status: { code: 401 as const } } };
        const decided = { header: { key: 'x-gw-limits-decided', value: '1' } };
        return {
          status: { code: 0 },
          okResponse: { headersToRemove: ['authorization'], headers: [decided] },
          dynamicMetadata: { [callerField]: '{"who":"checked"}' },
        };
      },
      grantLease: async ({ authorization, scope }) => {
        this.asked.push(`lease ${scope} ${authorization}`);
        return this.lease(authorization);
      },
    };
  }
}
