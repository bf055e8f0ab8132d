/** Why Envoy got no reply of a provider, for the operator who has to mend it. */
import { jsonIn } from '@gw/contract/internal/json-in';
import { z } from 'zod';

/** Envoy's flag for a cluster that it does not have. */
export const notThereYet = 'NC';

interface Failure {
  /** Envoy's response flags. */
  readonly flags: string;
  /** The JSON that probe-listener.ts makes. */
  readonly body: string;
  /** The address that was asked. */
  readonly url: string;
  /** The id of the provider. */
  readonly provider: string;
}

const told = z.object({ details: z.string().nullish(), transport: z.string().nullish() });

/** Texts of BoringSSL and of Envoy's own checks, as Envoy gives them, with spaces in place of underscores. */
const certificateFaults: readonly (readonly [RegExp, (host: string, provider: string) => string])[] = [
  [/certificate has expired/, () => 'its certificate has expired'],
  [/not yet valid/, () => 'its certificate is not valid yet, or the clock of the machine that runs Envoy is wrong'],
  [/SAN/, (host) => `its certificate does not name ${host}`],
  [
    /local issuer|self.signed|unable to get issuer|unable to verify/,
    (_, provider) =>
      `no trusted authority signed its certificate: add its CA with ./gw admin providers set ${provider} --ca FILE, or to the file that SSL_CERT_FILE names for Envoy`,
  ],
  [/CERTIFICATE VERIFY FAILED/, () => 'Envoy rejected its certificate'],
  [
    /WRONG VERSION NUMBER|HTTP REQUEST/,
    (host) => `${host} does not speak TLS at this port: use http:// instead of https://`,
  ],
  [/CERTIFICATE REQUIRED|HANDSHAKE FAILURE/, () => 'it rejected the TLS handshake'],
];

/** Returns one sentence or two. */
export function envoyFailure({ body, flags, provider, url }: Failure): string {
  const { details = '', transport = '' } = told.safeParse(jsonIn(body)).data ?? {};
  const text = (transport || details || '').replaceAll('_', ' ');
  const { hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const seen = text === '' ? flags : `${flags}: ${text.replace(/[^\x20-\x7e]/g, '').slice(0, 300)}`;
  const certificate = certificateFaults.find(([pattern]) => pattern.test(text));
  const reason = certificate?.[1](host, provider) ?? connectionFault(flags, text, url);
  return `It could not be reached: ${reason} (Envoy says ${seen}).`;
}

function connectionFault(flags: string, text: string, url: string): string {
  const has = (flag: string) => flags.split(',').includes(flag);
  if (has(notThereYet))
    return 'Envoy has not loaded this provider. It may have no certificate bundle (./gw doctor), or cannot reach the control plane';
  if (has('UH') || has('DF')) return `Envoy cannot resolve ${new URL(url).hostname}`;
  if (/Connection refused/.test(text)) return 'nothing is listening at its address';
  if (/timeout/i.test(text) || has('UT')) return 'it did not answer in time';
  if (/No route|unreachable/i.test(text)) return 'there is no route to its address';
  if (has('UC') || has('UR'))
    return `it closed the connection without a reply${url.startsWith('http:') ? '; it may require https' : ''}`;
  if (has('UPE')) return 'it did not send a valid HTTP response';
  return 'the connection failed';
}
