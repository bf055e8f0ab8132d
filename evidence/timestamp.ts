/**
 * Time-stamps (RFC 3161) over the signature of a pack. The module is loaded only where there is one, because the parser is long.
 *
 * Invariant: what a token says counts only if its service has signed it with a certificate for time-stamps, which the token brings along and
 * names in what is signed. Whether that service is one to trust is left to its chain.
 */
import { Integer, OctetString, type Sequence } from 'asn1js';
import {
  AlgorithmIdentifier,
  Certificate,
  ContentInfo,
  MessageImprint,
  SignedData,
  type SignerInfo,
  TimeStampReq,
  TimeStampResp,
  TSTInfo,
} from 'pkijs';
import { isForTimestamps } from './certificates.ts';

const sha256 = '2.16.840.1.101.3.4.2.1';
/** A token may use these digests. */
const hashes: Readonly<Record<string, string>> = {
  [sha256]: 'SHA-256',
  '2.16.840.1.101.3.4.2.2': 'SHA-384',
  '2.16.840.1.101.3.4.2.3': 'SHA-512',
};
const signedDataType = '1.2.840.113549.1.7.2';
const infoType = '1.2.840.113549.1.9.16.1.4';

const digestOf = async (name: string, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest(name, bytes));
const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);
const textBytes = (text: string) => new TextEncoder().encode(text);

/** The body of a request, DER. `nonce`: bytes of a positive number, without a zero in front. */
export async function stampRequest(jws: string, nonce: Uint8Array): Promise<Uint8Array> {
  const imprint = new MessageImprint({
    hashAlgorithm: new AlgorithmIdentifier({ algorithmId: sha256 }),
    hashedMessage: new OctetString({ valueHex: await digestOf('SHA-256', textBytes(jws)) }),
  });
  const request = new TimeStampReq({
    version: 1,
    messageImprint: imprint,
    nonce: new Integer({ valueHex: nonce }),
    certReq: true,
  });
  return new Uint8Array(request.toSchema().toBER());
}

type Fault = { readonly fault: string };

/** Returns the token of a reply, DER in base64, if it answers the request. */
export async function tokenIn(
  reply: Uint8Array<ArrayBuffer>,
  jws: string,
  nonce: Uint8Array,
): Promise<{ readonly token: string } | Fault> {
  const response = read(() => TimeStampResp.fromBER(reply));
  if (response === null) return { fault: 'what is no reply of a time-stamp service' };
  const { status, timeStampToken } = response;
  // 0 is granted, 1 granted with changes.
  if (Number(status.status) > 1 || timeStampToken === undefined)
    return { fault: `a refusal, with status ${Number(status.status)}` };
  const token = btoa(String.fromCharCode(...new Uint8Array(timeStampToken.toSchema().toBER())));
  const stamp = await stampIn(token, jws);
  if ('fault' in stamp) return stamp;
  return stamp.nonce !== null && isSame(stamp.nonce, nonce)
    ? { token }
    : { fault: 'a time-stamp of another request: its nonce is another' };
}

export interface Stamp {
  readonly at: Date;
  /** The certificate of the service, then what else the token brings along. */
  readonly chain: readonly [Certificate, ...Certificate[]];
  readonly nonce: Uint8Array | null;
}

function read<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** Reads a token, DER in base64, over `jws`. A fault is in words that follow "found". */
export async function stampIn(token: string, jws: string): Promise<Stamp | Fault> {
  const parsed = read(() => parts(Uint8Array.from(atob(token), (each) => each.charCodeAt(0))));
  if (parsed === null) return { fault: 'what is no time-stamp' };
  const { certificates, data, info, signer } = parsed;
  const { hashAlgorithm, hashedMessage } = info.messageImprint;
  const imprint = await digestOf('SHA-256', textBytes(jws));
  if (hashAlgorithm.algorithmId !== sha256 || !isSame(hashedMessage.valueBlock.valueHexView, imprint))
    return { fault: 'a time-stamp over something else' };
  const leaf = await signerOf(data, jws);
  if (leaf === null) return { fault: 'a time-stamp whose own signature does not fit' };
  if (!isForTimestamps(leaf) || !(await isNamed(leaf, signer)))
    return { fault: 'a time-stamp by a certificate that is not for time-stamps, or is another than it names' };
  const others = certificates.filter((each) => each !== leaf);
  const nonce = info.nonce?.valueBlock.valueHexView ?? null;
  return { at: info.genTime, chain: [leaf, ...others], nonce: nonce && new Uint8Array(nonce) };
}

/** Throws if it is in another form. */
function parts(der: Uint8Array<ArrayBuffer>) {
  const content = ContentInfo.fromBER(der);
  if (content.contentType !== signedDataType) throw new TypeError('It is not signed.');
  const data = new SignedData({ schema: content.content });
  const { encapContentInfo, signerInfos } = data;
  const [signer] = signerInfos;
  if (encapContentInfo.eContentType !== infoType || encapContentInfo.eContent === undefined || signer === undefined)
    throw new TypeError('It is no time-stamp.');
  if (signerInfos.length !== 1 || !(signer.digestAlgorithm.algorithmId in hashes) || signer.signedAttrs === undefined)
    throw new TypeError('It is not signed as time-stamps are.');
  const info = TSTInfo.fromBER(encapContentInfo.eContent.getValue());
  const certificates = (data.certificates ?? []).filter((each) => each instanceof Certificate);
  return { data, info, certificates, signer };
}

/** Returns the certificate whose key has signed the token; null: none has. */
async function signerOf(data: SignedData, jws: string): Promise<Certificate | null> {
  try {
    const found = await data.verify({ signer: 0, data: textBytes(jws).buffer, extendedMode: true });
    return found.signatureVerified === true ? (found.signerCertificate ?? null) : null;
  } catch {
    return null;
  }
}

/** The attributes that name the certificate of the signer (RFC 2634, RFC 5035), and the digest of the certificate that they have by default. */
const namings: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.9.16.2.12': 'SHA-1',
  '1.2.840.113549.1.9.16.2.47': 'SHA-256',
};

/** Whether it is the certificate that the signed attributes name, so that no other of the same key stands for it. */
async function isNamed(certificate: Certificate, { signedAttrs }: SignerInfo): Promise<boolean> {
  const der = new Uint8Array(certificate.toSchema().toBER());
  for (const { type, values } of signedAttrs?.attributes ?? []) {
    const usual = namings[type];
    if (usual === undefined) continue;
    const [first, second] = read(() => membersOf(membersOf(membersOf(values[0])[0])[0])) ?? [];
    const isOther = !(first instanceof OctetString);
    const named = isOther ? second : first;
    const hash = isOther ? hashes[String(membersOf(first)[0])] : usual;
    return (
      named instanceof OctetString &&
      hash !== undefined &&
      isSame(named.valueBlock.valueHexView, await digestOf(hash, der))
    );
  }
  return false;
}

const membersOf = (value: unknown): readonly unknown[] => (value as Sequence).valueBlock.value;
