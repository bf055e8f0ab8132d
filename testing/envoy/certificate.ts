/** Certificates for 127.0.0.1, made with Node alone; X.509 in DER, as far as a test needs it. */
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
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
const basicConstraints = oid('551d13');
const yes = tlv(0x01, hex('ff'));

export interface TestCertificate {
  /** Its common name. */
  readonly name: string;
  /** In hexadecimal. */
  readonly serial: string;
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

interface CertificateOptions {
  /** Who signs it; default: itself. */
  readonly by?: TestCertificate;
  /** Unix time, ms; default: a day before and after now. */
  readonly from?: number;
  readonly until?: number;
}

const named = (name: string) => sequence(tlv(0x31, sequence(commonName, tlv(0x0c, Buffer.from(name)))));

/** `name` tells one certificate from another. One that signs itself can sign others. */
export function makeCertificate(name: string, options: CertificateOptions = {}): TestCertificate {
  const { by, from = Date.now() - dayMs, until = Date.now() + dayMs } = options;
  // A positive number.
  const serial = `01${randomBytes(8).toString('hex')}`;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const loopback = sequence(tlv(0x87, Buffer.from([127, 0, 0, 1])));
  const isAuthority = by === undefined ? [sequence(basicConstraints, yes, tlv(0x04, sequence(yes)))] : [];
  const extensions = tlv(0xa3, sequence(sequence(subjectAltName, tlv(0x04, loopback)), ...isAuthority));
  const body = sequence(
    tlv(0xa0, tlv(0x02, hex('02'))),
    tlv(0x02, hex(serial)),
    ecdsaWithSha256,
    named(by?.name ?? name),
    sequence(utcTime(new Date(from)), utcTime(new Date(until))),
    named(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signer = by === undefined ? privateKey : createPrivateKey(by.key);
  const signature = tlv(0x03, hex('00'), sign('sha256', body, signer));
  const der = sequence(body, ecdsaWithSha256, signature).toString('base64');
  const lines = der.match(/.{1,64}/g) ?? [];
  return {
    name,
    serial,
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
