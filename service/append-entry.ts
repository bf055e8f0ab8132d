/** How an entry comes into the ledger's stream: once, and found by the id of its receipt until Postgres has it. */
import { ledgerStream, pendingReceiptsKey, receiptKey, receiptTtlS } from '@gw/contract/internal/redis';

/**
 * KEYS: stream, where the receipt is found, pending set. ARGV: entry, lifetime of the second key (s), id of the receipt. Returns the
 * entry's id in the stream. The stream comes first: if a later command is refused, the receipt is there all the same.
 */
export const appendScript = `
local id = redis.call('XADD', KEYS[1], '*', 'entry', ARGV[1])
redis.call('SET', KEYS[2], id, 'EX', ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[3])
return id
`;

/** The keys and arguments of the script. */
export const appendingTo = (
  receiptId: string,
  entry: Buffer,
): [keys: [string, string, string], args: [Buffer, string, string]] => [
  [ledgerStream, receiptKey(receiptId), pendingReceiptsKey],
  [entry, String(receiptTtlS), receiptId],
];
