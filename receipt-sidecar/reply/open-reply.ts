/** Begins to read the body of a provider's reply: a stream piece by piece, any other whole. */
import type { ProcessingRequest } from '@gw/grpc/service';
import { chunkObjects } from '../call/handover.ts';
import { type Headers, joinedHeaders } from '../wire/messages.ts';
import { createEnergyReader } from './energy-reader.ts';
import { JsonReply, type JsonReplyContext } from './json-reply.ts';
import { type Reply, type ReplyContext, StreamReply } from './reply.ts';

interface Opened
  extends Omit<ReplyContext, 'energyReader'>,
    Pick<JsonReplyContext, 'account' | 'overhead' | 'readReply' | 'status'> {
  readonly message: ProcessingRequest['responseHeaders'];
  readonly headers: Headers;
  readonly stream: boolean;
  /** Called when the last that the client gets of a stream was read, perhaps more than once. */
  readonly onOver: () => void;
}

export function openReply({ message, headers, stream, onOver, ...context }: Opened): Reply {
  const { record } = context;
  const energyReader = createEnergyReader(record.telemetryShape, () => joinedHeaders(message));
  if (!stream) return new JsonReply({ ...context, energyReader });
  const contentType = headers.get('content-type') ?? '';
  const chunkObject = chunkObjects[record.identity.request.endpoint];
  return new StreamReply({ ...context, energyReader, chunkObject, contentType, onOver });
}
