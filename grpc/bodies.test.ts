/** The body that goes beside an answer of ext_proc, read by the codec that knows nothing of that. */
import { expect, test } from 'vitest';
import { bodyOpening, codec } from './messages.ts';
import type { IProcessingResponse } from './service.ts';

const { decode } = codec<IProcessingResponse, IProcessingResponse>(
  'envoy.service.ext_proc.v3',
  'ProcessingResponse',
  'ProcessingResponse',
);
const parts = [Buffer.from('one '), Buffer.alloc(300_000, 'x'), Buffer.from(' two')];
const body = Buffer.concat(parts);
/** Envoy merges what stands twice; protobufjs takes the last one, so both are read by themselves. */
const behind = (answer: IProcessingResponse) => decode(Buffer.concat([bodyOpening(answer, body.length), ...parts]));

test('behind an immediate response it stands as its body, and alone', () => {
  const setHeaders = [{ header: { key: 'content-type', rawValue: Buffer.from('x') } }];
  const { immediateResponse, ...others } = behind({
    immediateResponse: { status: { code: 200 }, headers: { setHeaders } },
    dynamicMetadata: {},
  });
  expect(Object.keys(immediateResponse ?? {})).toEqual(['body']);
  expect(Object.keys(others)).toEqual([]);
  expect(body.equals(immediateResponse?.body as Buffer)).toBe(true);
});

test.each(['requestBody', 'responseBody'] as const)('behind a %s it stands as its mutation', (name) => {
  const read = behind({ [name]: { response: { clearRouteCache: true } } });
  expect(Object.keys(read)).toEqual([name]);
  expect(body.equals(read[name]?.response?.bodyMutation?.body as Buffer)).toBe(true);
});
