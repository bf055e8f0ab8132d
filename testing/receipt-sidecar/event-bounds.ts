import { maxEventParts } from '@gw/receipt-sidecar/internals/reply/event-stream';
import { Room } from '@gw/receipt-sidecar/internals/wire/room';

/** The bounds of a stream that is read alone. */
export const eventBounds = { room: new Room(1024 * 1024 * 1024), mostParts: maxEventParts };
