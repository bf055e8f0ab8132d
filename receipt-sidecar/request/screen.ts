/**
 * Screens the text of a request by the rules in force, before anything is spent on it.
 *
 * Invariants: fails closed: a text that can not be read is refused, and a fault ends the call before any provider. What a
 * rule finds is recorded, for blocked and for flagged calls; the client is told which screen it was and never which words
 * it was that matched, so that nobody learns the rules by trying.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { type PolicyEvent, screenedSha256 } from '@gw/contract/internal/policy-event';
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import { findRules } from '@gw/policy/find-rules';
import { requestText } from '@gw/policy/request-text';
import { type Verdict, verdictOf } from '@gw/policy/verdict';
import type { PolicyEvents } from '../policy-events.ts';
import type { ScreenCounts } from '../screen-counts.ts';
import { type Asked, andThen, type Check, type Soon } from './admission.ts';
import type { ParsedRequest } from './parse.ts';
import { readTokenLists } from './token-lists.ts';
import type { TokenThread } from './token-thread.ts';

export interface ScreenOptions {
  readonly events: Pick<PolicyEvents, 'record'>;
  readonly counts: Pick<ScreenCounts, 'screened'>;
  readonly thread: Pick<TokenThread, 'decode'>;
  /** ms since 1970. */
  readonly now: () => number;
  /** Monotonic, ms. */
  readonly clock: () => number;
  readonly newId: () => string;
  readonly randomBytes: (length: number) => Uint8Array;
}

const saltBytes = 16;
const messages = {
  dual_use_screen_block:
    'The request was blocked by dual-use screening, and the audit log of the account has an entry of it.',
  acceptable_use_violation:
    'The request matches a published pattern of unacceptable use. It was blocked, and the audit log of the account has an entry of it.',
} as const;

export function makeScreen(options: ScreenOptions): Check {
  const { counts, clock, thread } = options;
  return (request, asked) => {
    const { catalogue, caller } = asked;
    const start = clock();
    const decide = (matched: readonly PolicyRule[]): Soon<ApiError | null> => {
      const verdict = verdictOf(matched, catalogue.policy.exemptOf(caller.accountId));
      counts.screened(verdict?.action ?? 'pass', (clock() - start) / 1000);
      return verdict ? record(options, request, asked, verdict) : null;
    };
    return andThen(readTokenLists(request, asked, thread), (lists) => {
      if (lists && !lists.ok) return lists.error;
      const { texts } = requestText(request.body, lists?.texts);
      return andThen(findRules(catalogue.policy.compiled, texts), decide);
    });
  };
}

/** The client's answer waits for the entry, so that it is there when the message speaks of it. */
async function record(
  { events, now, newId, randomBytes }: ScreenOptions,
  request: ParsedRequest,
  { caller, catalogue, requestId }: Asked,
  { action, code, ruleIds }: Verdict,
): Promise<ApiError | null> {
  const salt = randomBytes(saltBytes);
  const event: PolicyEvent = {
    id: newId(),
    at: new Date(now()).toISOString(),
    account_id: caller.accountId,
    key_id: caller.keyId,
    request_id: requestId,
    action,
    code,
    rule_ids: [...ruleIds],
    policy_version: catalogue.policy.version,
    policy_sha256: catalogue.policy.sha256,
    text_salt: Buffer.from(salt).toString('hex'),
    text_sha256: screenedSha256(salt, request.body),
  };
  await events.record(event);
  return action === 'block' ? apiError(code, { message: messages[code] }) : null;
}
