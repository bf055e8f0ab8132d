/** Counts the TLS handshakes that a server refused, and logs why: at most one line per second and reason. */
import type { Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import type { Logger } from '../log.ts';

/** The reasons, as OpenSSL names them, and the cure of each. */
const advice: readonly (readonly [reason: RegExp, text: string])[] = [
  [/^CERT_HAS_EXPIRED$/, 'the peer shows an expired certificate; renew it there'],
  [/^CERT_NOT_YET_VALID$/, 'the peer shows a certificate that is not valid yet; compare the clocks'],
  [
    /ALERT_CERTIFICATE_EXPIRED$/,
    'the peer reports that our certificate has expired; renew it here (GW_INTERNAL_TLS_CERT_FILE)',
  ],
  [
    /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE)$/,
    'the peer does not trust the authority of our certificate; add it to GW_INTERNAL_TLS_CA_FILE there',
  ],
  [
    /ISSUER|SELF_SIGNED|VERIFY_LEAF|CERT_UNTRUSTED|INVALID_CA|SIGNATURE/,
    'the peer shows a certificate of an unknown authority; add the authority to GW_INTERNAL_TLS_CA_FILE here',
  ],
  [/PEER_DID_NOT_RETURN_A_CERTIFICATE/, 'the peer shows no certificate; set GW_INTERNAL_TLS_CERT_FILE there'],
  [/HTTP_REQUEST|WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL/, 'the peer does not speak TLS, or only an old version'],
];
const otherAdvice = 'the TLS handshake failed';

const intervalMs = 1000;
/** Whoever reaches the port causes the reasons, so their number is bounded. */
const mostReasons = 50;

export interface RefusedHandshakes {
  watch(server: Server): void;
  register(registry: Registry): void;
}

export function openRefusedHandshakes(log: Logger, now: () => number): RefusedHandshakes {
  const counted = new Counter({
    name: 'gw_tls_handshakes_refused_total',
    help: 'TLS handshakes between parts of the gateway that failed',
    labelNames: ['reason'],
    registers: [],
  });
  /** When each reason was logged, and how many there were since. */
  const told = new Map<string, { at: number; unsaid: number }>();
  const refused = (error: Error & { code?: string }, socket: TLSSocket): void => {
    const found = reasonOf(error, socket);
    if (found === null) return;
    const reason = told.has(found) || told.size < mostReasons ? found : 'other';
    counted.inc({ reason });
    const before = told.get(reason);
    if (before !== undefined && now() - before.at < intervalMs) {
      before.unsaid += 1;
      return;
    }
    const text = advice.find(([pattern]) => pattern.test(reason))?.[1] ?? otherAdvice;
    const unsaid = before?.unsaid;
    told.set(reason, { at: now(), unsaid: 0 });
    log.warn({ reason, address: socket.remoteAddress, ...(unsaid && { more_since: unsaid }) }, `refused TLS: ${text}`);
  };
  return {
    watch: (server) => void server.on('tlsClientError', refused),
    register: (registry) => registry.registerMetric(counted),
  };
}

/** Returns null for a connection that was only closed, as by a probe of the port. */
function reasonOf({ code }: { code?: string }, { authorizationError }: TLSSocket): string | null {
  // A refusal of ours is told as a hang-up, and its reason stands at the socket. The type of Node says Error; it is a code.
  if (authorizationError) return String(authorizationError);
  return code === undefined || code === 'ECONNRESET' || code === 'EPIPE' ? null : code;
}
