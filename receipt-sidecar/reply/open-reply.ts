/** Begins to read the body of a provider's reply: a stream piece by piece, any other whole. */

import { defined } from '@gw/contract/internal/defined';
import type { ProcessingRequest } from '@gw/grpc/service';
import { shapeOf } from '../api/shapes.ts';
import { encodingOf } from '../wire/compressed.ts';
import { type Headers, joinedHeaders } from '../wire/ext-proc.ts';
import { createEnergyReader } from './energy-reader.ts';
import { JsonReply, type JsonReplyContext } from './json-reply.ts';
import { type Reply, type ReplyContext, StreamReply } from './reply.ts';

interface Opened
  extends Omit<ReplyContext, 'encoding' | 'energyReader'>,
    Pick<JsonReplyContext, 'added' | 'attempts' | 'judged' | 'overhead' | 'readReply'> {
  readonly message: ProcessingRequest['responseHeaders'];
  readonly headers: Headers;
  readonly stream: boolean;
  /** Called when the last that the client gets of a stream was read, perhaps more than once. */
  readonly onOver: () => void;
}

export function openReply({ message, headers, stream, onOver, ...context }: Opened): Reply {
  const { record } = context;
  const energyReader = createEnergyReader(record.telemetryShape, () => joinedHeaders(message));
  const encoding = encodingOf(headers);
  if (!stream) return new JsonReply({ ...context, encoding, energyReader });
  const contentType = headers.get('content-type') ?? '';
  const { request, requestId } = record.identity;
  const reader = defined(shapeOf(request.endpoint).reply.stream, 'A shape of streams').open(request, requestId);
  return new StreamReply({ ...context, encoding, energyReader, reader, contentType, onOver });
}
