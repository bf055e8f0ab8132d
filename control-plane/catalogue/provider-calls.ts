/**
 * Requests of the control plane to providers. They take the way of customers' calls, through Envoy, and so find what those would find: its
 * resolver, its addresses, its certificates.
 *
 * Invariant: an address that the guard refuses is never asked by what its name means here, and is told of as refused where Envoy was led
 * there by another name service.
 */
import { isUnixSocket, parseListen } from '@gw/contract/internal/listen';
import { probeClusterHeader, probeFailureHeader, probeUpstreamHeader } from '@gw/contract/internal/probe';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { probeCluster } from '@gw/envoy/clusters';
import { type AddressGuard, AddressRefused, targetOf } from '@gw/service/address-guard';
import type { InternalCertificates } from '@gw/service/certificates';
import { type GuardedReply, guardedRequest, type Via } from '@gw/service/guarded-request';
import type { ProviderEntry } from './entries/provider-entry.ts';
import { envoyFailure, notThereYet } from './envoy-failure.ts';

export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ProviderReply extends Pick<GuardedReply, 'body' | 'status'> {
  /** How long the provider took. */
  readonly durationMs: number;
}

export interface ProviderCalls {
  /** Returns the reply, or a sentence that says why there is none and what to do. */
  send(provider: ProviderEntry, request: ProviderRequest): Promise<Result<ProviderReply, string>>;
}

const limits = { timeoutMs: 20_000, maxBytes: 4 * 1024 * 1024 };
/** How long Envoy may take for a provider that was just added: it asks each second, and resolves the name before it uses it. */
const patienceMs = 12_000;
const pauseMs = 250;

export interface ProbeSettings {
  /** Where Envoy takes test calls. */
  readonly probeListen: string;
  readonly certificates: InternalCertificates | null;
}

export function openProviderCalls(guard: AddressGuard, { certificates, probeListen }: ProbeSettings): ProviderCalls {
  const via = (): Via => {
    const where = parseListen(probeListen);
    if ('path' in where) return { socketPath: where.path };
    if (certificates === null) throw new Error('GW_PROBE_LISTEN on the network needs the internal certificates.');
    return { ...where, tls: certificates.current() };
  };
  const scheme = isUnixSocket(probeListen) ? 'http' : 'https';

  return {
    send: async (provider, { url, ...request }) => {
      const refused = await guard.refusal(url);
      if (refused !== null) return err(`It could not be reached: its address is not allowed (${refused}).`);
      const { host, pathname, search } = new URL(url);
      const { base_url: baseUrl, ca, id } = provider;
      const headers = { ...request.headers, host, [probeClusterHeader]: probeCluster({ baseUrl, ca, id }) };
      const giveUpAt = performance.now() + patienceMs;
      for (;;) {
        const begun = performance.now();
        const sent = { ...request, ...limits, headers, url: `${scheme}://envoy${pathname}${search}`, via: via() };
        const reply = await guardedRequest(guard, sent);
        const durationMs = Math.round(performance.now() - begun);
        if (!reply.ok) return err(unreached(reply.error.reason, reply.error.text, probeListen));
        const { body, headers: told, status } = reply.value;
        const upstream = String(told[probeUpstreamHeader]);
        if (await isRefused(guard, upstream, url))
          return err(`It could not be reached: Envoy resolved it to ${upstream}, which is not allowed.`);
        const flags = told[probeFailureHeader];
        if (flags === undefined) return ok({ body, status, durationMs });
        if (String(flags) !== notThereYet || performance.now() > giveUpAt)
          return err(envoyFailure({ flags: String(flags), body, url, provider: id }));
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
  };
}

function unreached(reason: string, text: string, listen: string): string {
  if (reason === 'timeout' || reason === 'too_large') return `It could not be reached: ${text}.`;
  return `Envoy did not answer at ${listen} (GW_PROBE_LISTEN), so the provider could not be tested: ${text}.`;
}

/** `upstream`: address and port, or another text if there was no connection. */
async function isRefused(guard: AddressGuard, upstream: string, url: string): Promise<boolean> {
  const [, address] = /^\[?([0-9a-fA-F.:]+?)\]?:\d+$/.exec(upstream) ?? [];
  if (address === undefined) return false;
  try {
    await guard.admitted(address, targetOf(url).port);
    return false;
  } catch (error) {
    return error instanceof AddressRefused;
  }
}
