/** A self-signed certificate for 127.0.0.1, made with Node alone; X.509 in DER, as far as a test needs it. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { dayMs } from '@gw/contract/internal/durations';

/** DER wants the shortest form of a length. */
function derLength(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  return bytes < 0x100 ? Buffer.from([0x81, bytes]) : Buffer.from([0x82, bytes >> 8, bytes & 0xff]);
}

function tlv(tag: number, ...parts: Uint8Array[]): Buffer {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), derLength(value.length), value]);
}

const sequence = (...parts: Uint8Array[]) => tlv(0x30, ...parts);
const hex = (text: string) => Buffer.from(text, 'hex');
const oid = (digits: string) => tlv(0x06, hex(digits));
const utcTime = (at: Date) => tlv(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const commonName = oid('550403');
const subjectAltName = oid('551d11');

export interface TestCertificate {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

/** `name` tells one certificate from another: its common name. */
export function makeCertificate(name: string): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(tlv(0x31, sequence(commonName, tlv(0x0c, Buffer.from(name)))));
  const now = Date.now();
  const loopback = sequence(tlv(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = tlv(0xa3, sequence(sequence(subjectAltName, tlv(0x04, loopback))));
  const body = sequence(
    tlv(0xa0, tlv(0x02, hex('02'))),
    tlv(0x02, hex('01')),
    ecdsaWithSha256,
    subject,
    sequence(utcTime(new Date(now - dayMs)), utcTime(new Date(now + dayMs))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signature = tlv(0x03, hex('00'), sign('sha256', body, privateKey));
  const der = sequence(body, ecdsaWithSha256, signature).toString('base64');
  const lines = der.match(/.{1,64}/g) ?? [];
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
