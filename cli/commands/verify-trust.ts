/** Whom the options of `./gw verify` trust. */
import type { SealTrust } from '@gw/evidence/verify';
import { Problem } from '@gw/stack/problem';
import { z } from 'zod';
import { bytesIn, read } from './verify-files.ts';

export interface TrustOptions {
  readonly receipt?: string;
  readonly jwks?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly signer?: string;
  readonly tsaCa?: string;
}

export function trustIn({ ca, jwks, key, receipt, signer, tsaCa }: TrustOptions): SealTrust {
  if (receipt !== undefined && [ca, signer, tsaCa].some((each) => each !== undefined))
    throw new Problem('A receipt has no certificates and no time-stamp: leave --ca, --signer and --tsa-ca out.');
  const organisation = signer?.match(/^O=(.+)$/)?.[1];
  if (signer !== undefined && (organisation === undefined || ca === undefined))
    throw new Problem("--signer names an organisation, as in --signer 'O=Example Cloud', and needs --ca.");
  return {
    ...(jwks !== undefined && { keys: keysIn(jwks) }),
    ...(key !== undefined && { thumbprint: key }),
    ...(ca !== undefined && { authorities: certificatesIn(ca) }),
    ...(organisation !== undefined && { organisation }),
    ...(tsaCa !== undefined && { timestampAuthorities: certificatesIn(tsaCa) }),
  };
}

function keysIn(file: string): unknown[] {
  const found = z.object({ keys: z.array(z.unknown()) }).safeParse(read(file));
  if (!found.success) throw new Problem(`${file} is no JSON Web Key Set: it has no list \`keys\`.`);
  return found.data.keys;
}

/** DER in base64, of PEM. */
function certificatesIn(file: string): string[] {
  const pem = bytesIn(file).toString();
  const found = pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g);
  const certificates = [...found].map(([, lines = '']) => lines.replaceAll(/\s/g, ''));
  if (certificates.length === 0) throw new Problem(`${file} contains no certificate in PEM.`);
  return certificates;
}
