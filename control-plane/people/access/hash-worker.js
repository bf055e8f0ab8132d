/**
 * Computes argon2id on a thread of its own, one job after the other. Plain JavaScript, since Node starts it as a file
 * both from the sources and from the bundles. A job is `{hash: options}` or `{verify: options}` of hash-wasm.
 */
import { parentPort } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';

const port = parentPort;
if (port === null) throw new Error('This file has to run on a thread.');

port.on('message', async ({ hash, verify }) => {
  try {
    port.postMessage({ result: hash ? await argon2id(hash) : await argon2Verify(verify) });
  } catch (error) {
    // Only the text: it names what was wrong with the form, never the credential.
    port.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
