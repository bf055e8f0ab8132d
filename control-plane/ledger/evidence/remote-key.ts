/**
 * A key of evidence that stays in a key service: Transit of OpenBao or HashiCorp Vault, which can keep it in an HSM.
 *
 * Invariants: a signature is handed on only if it fits the public key that is published, whatever version of the key the service has used.
 * Each request ends within `timeoutMs`, which is shorter than the transactions that checkpoints are signed in. Closed: while the service does
 * not answer nothing is signed, and its callers try again. The token is read for each request, so that it can be renewed; it is in no message.
 */
import { createPublicKey, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { errorText } from '@gw/contract/internal/error-text';
import { KeyAwayError, type SigningKey } from '@gw/contract/internal/evidence-keys';
import type { PublicJwk } from '@gw/contract/internal/public-jwk';
import { z } from 'zod';

export interface RemoteKeySettings {
  /** The address of the key in the API, `https://bao.example/v1/transit/keys/gw-evidence`, and its version: `?version=2`; 1 by default. */
  readonly url: string;
  readonly tokenFile: string;
}

/** The mount and the name of a key. */
export const remoteKeyForm = /^(https?:\/\/[^?#]+\/v1\/[^?#]+)\/keys\/([A-Za-z0-9._-]+)(?:\?version=([1-9]\d*))?$/;

const replySchema = z.object({ data: z.object({ signature: z.string() }) });

/** `publicJwk`: the public part of that version of the key. */
export function remoteKey({ tokenFile, url }: RemoteKeySettings, publicJwk: PublicJwk, timeoutMs = 3000): SigningKey {
  const [, mount = '', name = '', version = '1'] = remoteKeyForm.exec(url) ?? [];
  const at = `version ${version} of ${name} at ${URL.parse(url)?.origin}`;
  const publicKey = createPublicKey({ key: { ...publicJwk }, format: 'jwk' });
  const request = async (bytes: Uint8Array): Promise<unknown> => {
    const token = (await readFile(tokenFile, 'utf8')).trim();
    const response = await fetch(`${mount}/sign/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-vault-token': token },
      body: JSON.stringify({ input: Buffer.from(bytes).toString('base64'), key_version: Number(version) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.ok) return response.json();
    // These say that the service is not ready (503: it is sealed), or that it is busy.
    const isTemporary = response.status >= 500 || response.status === 429;
    throw new KeyAwayError(`The key service answered ${response.status} for ${at}.`, { isTemporary });
  };
  return {
    publicJwk,
    sign: async (bytes) => {
      const reply = await request(bytes).catch((cause: unknown) => {
        if (cause instanceof KeyAwayError) throw cause;
        throw new KeyAwayError(`The key service does not answer for ${at}: ${errorText(cause)}.`, {
          isTemporary: true,
        });
      });
      const { data: stated } = replySchema.safeParse(reply);
      // It stands behind the name of the service and the version: `vault:v1:…`.
      const text = stated === undefined ? '' : stated.data.signature.replace(/^.*:/, '');
      const signature = Buffer.from(text, 'base64');
      if (signature.length === 64 && verify(null, bytes, publicKey, signature)) return signature;
      throw new KeyAwayError(
        `The key service has signed with another key than GW_EVIDENCE_PUBLIC_KEYS begins with, ${at}.`,
        { isTemporary: false },
      );
    },
  };
}
