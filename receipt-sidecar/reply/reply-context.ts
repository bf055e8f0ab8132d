/** The call that a reply belongs to, and what every kind of reply does. */
import type { Addresses } from '@gw/contract/errors';
import type { ProcessorCall } from '@gw/grpc/service';
import type { KeptReply } from '../guards/idempotency/kept-reply.ts';
import type { CallRecord } from '../receipt/call-record.ts';
import type { Encoding } from '../wire/compressed.ts';
import type { Room } from '../wire/room.ts';
import type { EnergyReader } from './energy-reader.ts';
import type { StreamFacts } from './stream-options.ts';

export interface ReplyContext {
  readonly record: CallRecord;
  readonly addresses: Addresses;
  readonly call: ProcessorCall;
  /** Null if the deployment that answered reports no energy. */
  readonly energyReader: EnergyReader | null;
  readonly room: Room;
  /** How the body is compressed; null: it is not. */
  readonly encoding: Encoding | null;
  /** Keeps what the client gets, if the call has a claim of its idempotency key. */
  readonly kept: KeptReply | null;
}

export interface Reply {
  chunk(bytes: Buffer, end: boolean): void;
  /** The facts of a stream so far; null if nothing can be counted. */
  readonly seen: StreamFacts | null;
  /** Ends the reading, because the call is over. */
  close(): void;
}
