/**
 * A message with a large body behind it, which is never copied.
 *
 * Invariant: what stands twice in a message of protobuf is merged: the answer comes first, without its body, and then the
 * same fields again with nothing but the body in them.
 */

/** What answers a message of ext_proc, whose body takes the place of the one that it shows. */
interface WithBody {
  readonly requestBody?: object | null;
  readonly responseBody?: object | null;
}

/** Numbers of fields of ProcessingResponse, BodyResponse, CommonResponse and BodyMutation; each is a message or bytes. */
const fieldNumber = { requestBody: 3, responseBody: 4, response: 1, bodyMutation: 3, body: 1 } as const;
const lengthDelimited = 2;

function opening(field: number, length: number): number[] {
  const bytes = [(field << 3) | lengthDelimited];
  let left = length;
  for (; left > 0x7f; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
  bytes.push(left);
  return bytes;
}

/** What stands between the encoded answer and the bytes of its body. */
export function bodyOpening(answer: WithBody, length: number): Buffer {
  let bytes = opening(fieldNumber.body, length);
  const outer = answer.requestBody ? fieldNumber.requestBody : fieldNumber.responseBody;
  for (const field of [fieldNumber.bodyMutation, fieldNumber.response, outer])
    bytes = [...opening(field, bytes.length + length), ...bytes];
  return Buffer.from(bytes);
}
