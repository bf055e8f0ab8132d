/** `POST /v1/embeddings`: unit vectors from a hash of the input, as numbers or as base64 of little-endian float32. */
import { promptTexts, promptTokenCount } from './completions.ts';
import type { Directives } from './directives.ts';
import type { Echo } from './echo.ts';
import { reportEnergy } from './energy.ts';
import { errorReply, jsonReply, type Reply, withEnergy } from './reply.ts';
import { isReply, readCall } from './request.ts';
import { randomNumbers, seedOf } from './seed.ts';

const DEFAULT_DIMENSIONS = 256;
const MAX_DIMENSIONS = 4096;
const MAX_INPUTS = 2048;

/** The same vector for the same seed, regardless of the text's position in the list. */
function unitVector(seed: number, dimensions: number): Float32Array {
  const random = randomNumbers(seed);
  const vector = Float32Array.from({ length: dimensions }, () => random() * 2 - 1);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

export function embeddingReply(body: Buffer, directives: Directives, echo: Echo): Reply {
  const call = readCall(body, 'embedding');
  if (isReply(call)) return call;
  const { input, dimensions: wanted, encoding_format: format } = call.fields;
  const texts = promptTexts(input);
  if (texts === null || texts.length > MAX_INPUTS) {
    return errorReply(400, `input has to be a text or a list of at most ${MAX_INPUTS} texts.`, 'input');
  }
  const dimensions = typeof wanted === 'number' && wanted >= 1 ? Math.trunc(wanted) : DEFAULT_DIMENSIONS;
  if (dimensions > MAX_DIMENSIONS) return errorReply(400, `At most ${MAX_DIMENSIONS} dimensions.`, 'dimensions');
  const tokens = promptTokenCount(texts);
  const data = texts.map((text, index) => {
    const vector = unitVector(seedOf(call.model.id, text).number, dimensions);
    return { object: 'embedding', index, embedding: format === 'base64' ? base64(vector) : Array.from(vector) };
  });
  const usage = directives.faults.has('no-usage') ? undefined : { prompt_tokens: tokens, total_tokens: tokens };
  const reply = jsonReply({ object: 'list', data, model: call.model.id, usage, ...echo });
  return withEnergy(reply, reportEnergy(call.model, directives, tokens, 0));
}
