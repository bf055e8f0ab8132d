/**
 * Puts a snapshot into Redis unless a newer one is there, and tells the services.
 *
 * KEYS: snapshot, version. ARGV: version, snapshot as JSON, channel. Returns 1 if it published.
 */
export const publishScript = `
local have = redis.call('GET', KEYS[2])
if have and tonumber(have) >= tonumber(ARGV[1]) and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[1])
redis.call('PUBLISH', ARGV[3], ARGV[1])
return 1
`;
