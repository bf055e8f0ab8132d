/**
 * TLS of the operators' port, from certificate files that are read again when they change.
 *
 * Invariant: what is served is always a certificate with its key. Files that do not fit together, or cannot be read, change nothing; the
 * log says so, and the former certificate stays.
 */
import { readFileSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { errorText } from '@gw/contract/internal/error-text';
import type { Logger } from '@gw/service/log';
import type { OperatorTls } from './people/access/config.ts';
import { serverLimits } from './shared/bare-app.ts';

/** How often the files are looked at, ms. */
const everyMs = 2000;

interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Throws if a file cannot be read, or if the key is not that of the certificate. */
function readPair({ certFile, keyFile }: OperatorTls): Pair {
  const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  createSecureContext(pair);
  return pair;
}

/** Makes the server of the operators' port. Throws where the files are no good: at start somebody is there to mend them. */
export function operatorServer(
  tls: OperatorTls,
  log: Pick<Logger, 'info' | 'warn'>,
): (handle: RequestListener) => Server {
  return (handle) => {
    let pair = firstPair(tls);
    const server = createServer({ ...pair, minVersion: 'TLSv1.2', maxHeaderSize: serverLimits.maxHeaderSize }, handle);
    server.keepAliveTimeout = serverLimits.keepAliveTimeout;
    server.requestTimeout = serverLimits.requestTimeout;
    let told = '';
    const again = () => {
      try {
        const next = readPair(tls);
        told = '';
        if (next.cert.equals(pair.cert) && next.key.equals(pair.key)) return;
        server.setSecureContext({ ...next, minVersion: 'TLSv1.2' });
        pair = next;
        log.info({ file: tls.certFile }, "the operators' port has a new certificate");
      } catch (error) {
        const reason = errorText(error);
        if (reason !== told)
          log.warn(
            { file: tls.certFile, reason },
            "the files of the operators' certificate cannot be used; the former certificate stays: move both new files into place",
          );
        told = reason;
      }
    };
    const timer = setInterval(again, everyMs).unref();
    server.on('close', () => clearInterval(timer));
    // The same for Fastify: it only listens and closes.
    return server as unknown as Server;
  };
}

function firstPair(tls: OperatorTls): Pair {
  try {
    return readPair(tls);
  } catch (cause) {
    throw new Error(
      `GW_CONTROL_TLS_CERT_FILE and GW_CONTROL_TLS_KEY_FILE have to be a certificate and its key, in PEM: ${errorText(cause)}`,
    );
  }
}
