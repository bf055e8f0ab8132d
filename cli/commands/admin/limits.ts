/** Limits as they are typed: per second/burst/per day, and streams behind them. */
import { Problem } from '@gw/stack/problem';

/** Reads the limits of an account. Without a number of streams, that limit stays as it is. */
export function accountLimits(text: string): object {
  const [, perS, burst, perDay, streams] = /^(\d+)\/(\d+)\/(\d+)(?:\/(\d+))?$/.exec(text) ?? [];
  if (perDay === undefined)
    throw new Problem(
      '--limits takes requests per second, burst and requests per day, and open streams if they change: --limits 100/400/200000 or 100/400/200000/50.',
    );
  return {
    per_s: Number(perS),
    burst: Number(burst),
    per_day: Number(perDay),
    ...(streams === undefined ? {} : { streams: Number(streams) }),
  };
}

/** Reads the limits of a key. An empty part means as much as the account has; "none" removes all limits. */
export function keyLimits(text: string): object | null {
  if (text === 'none') return null;
  const parts = /^(\d*)\/(\d*)\/(\d*)\/(\d*)(?:\/(\d*)\/(\d*))?$/.exec(text)?.slice(1);
  if (parts === undefined)
    throw new Problem(
      '--limits takes requests per second, burst, requests per day and open streams of a key, an empty part for as much as the account: --limits 10/20//5; tokens per minute and per day may follow: 10/20//5/60000/; or: none.',
    );
  const [per_s, burst, per_day, streams, tokens_per_minute, tokens_per_day] = parts.map(partOf);
  return { per_s, burst, per_day, streams, tokens_per_minute, tokens_per_day };
}

/** Reads the limits in tokens of an account. An empty part means as its tier has; "tier" means both. */
export function accountTokens(text: string): object {
  const parts = text === 'tier' ? ['', ''] : /^(\d*)\/(\d*)$/.exec(text)?.slice(1);
  if (parts === undefined)
    throw new Problem(
      '--tokens takes tokens per minute and per day, an empty part for what the tier has: --tokens 100000/5000000 or 100000/, or: tier.',
    );
  const [per_minute, per_day] = parts.map(partOf);
  return { per_minute, per_day };
}

const partOf = (part: string | undefined): number | null => (part ? Number(part) : null);
