/** The names of Web Crypto that the types of pkijs use. Browsers have them as globals, Node as a namespace. */
import type { webcrypto } from 'node:crypto';

declare global {
  type AesCbcParams = webcrypto.AesCbcParams;
  type AesCtrParams = webcrypto.AesCtrParams;
  type AesDerivedKeyParams = webcrypto.AesDerivedKeyParams;
  type AesGcmParams = webcrypto.AesGcmParams;
  type AesKeyAlgorithm = webcrypto.AesKeyAlgorithm;
  type AesKeyGenParams = webcrypto.AesKeyGenParams;
  type Algorithm = webcrypto.Algorithm;
  type AlgorithmIdentifier = webcrypto.AlgorithmIdentifier;
  type BufferSource = webcrypto.BufferSource;
  type Crypto = webcrypto.Crypto;
  type CryptoKey = webcrypto.CryptoKey;
  type CryptoKeyPair = webcrypto.CryptoKeyPair;
  type EcKeyGenParams = webcrypto.EcKeyGenParams;
  type EcKeyImportParams = webcrypto.EcKeyImportParams;
  type EcdhKeyDeriveParams = webcrypto.EcdhKeyDeriveParams;
  type EcdsaParams = webcrypto.EcdsaParams;
  type HkdfParams = webcrypto.HkdfParams;
  type HmacImportParams = webcrypto.HmacImportParams;
  type HmacKeyGenParams = webcrypto.HmacKeyGenParams;
  type JsonWebKey = webcrypto.JsonWebKey;
  type KeyFormat = webcrypto.KeyFormat;
  type KeyUsage = webcrypto.KeyUsage;
  type Pbkdf2Params = webcrypto.Pbkdf2Params;
  type RsaHashedImportParams = webcrypto.RsaHashedImportParams;
  type RsaHashedKeyGenParams = webcrypto.RsaHashedKeyGenParams;
  type RsaOaepParams = webcrypto.RsaOaepParams;
  type RsaPssParams = webcrypto.RsaPssParams;
  type SubtleCrypto = webcrypto.SubtleCrypto;
}
