/** Begins to read the body of a provider's reply: a stream piece by piece, any other whole. */

import { defined } from '@gw/contract/internal/defined';
import type { ProcessingRequest } from '@gw/grpc/service';
import { returningFrom, streamFrom } from '../api/behind.ts';
import { shapeOf } from '../api/shapes.ts';
import { encodingOf } from '../wire/compressed.ts';
import { type Headers, joinedHeaders } from '../wire/ext-proc.ts';
import { createEnergyReader } from './energy-reader.ts';
import { maxEventParts } from './event-stream.ts';
import { ForeignEvents } from './foreign-events.ts';
import { JsonReply, type JsonReplyContext } from './json-reply.ts';
import { StreamReply } from './reply.ts';
import type { Reply, ReplyContext } from './reply-context.ts';

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
  const energyReader = createEnergyReader(record.servedBy?.telemetry ?? null, () => joinedHeaders(message));
  const encoding = encodingOf(headers);
  if (!stream) return new JsonReply({ ...context, encoding, energyReader });
  const contentType = headers.get('content-type') ?? '';
  const { request, requestId } = record.identity;
  const reader = defined(shapeOf(request.endpoint).reply.stream, 'A shape of streams').open(request, requestId);
  const returning = returningFrom(request, record.servedBy);
  const foreign =
    returning &&
    new ForeignEvents({
      foreign: streamFrom(returning, request, requestId),
      endEvent: reader.endEvent,
      energyReader,
      room: context.room,
      mostParts: maxEventParts,
    });
  return new StreamReply({ ...context, encoding, energyReader, reader, foreign, contentType, onOver });
}
