/** Bounds how many evidence packs are made, requested and read at a time. Each process has one set of places, for keys and people together. */
import { Places } from './places.ts';

export interface PackPlaces {
  /** For packs that are the reply, while they are made. */
  readonly builds: Places;
  /** For requests, from their first moment until their replies are read. */
  readonly requests: Places;
  /** For stored packs, while they are read. */
  readonly readers: Places;
}

export const openPackPlaces = (): PackPlaces => ({
  builds: new Places({ inAll: 4, ofAccount: 2, what: 'evidence packs being made', retryAfterS: 1 }),
  requests: new Places({ inAll: 16, ofAccount: 4, what: 'requests for evidence packs under way', retryAfterS: 5 }),
  readers: new Places({ inAll: 16, ofAccount: 4, what: 'evidence packs being read', retryAfterS: 5 }),
});
