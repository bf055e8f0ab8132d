/**
 * Writes failed logins into the audit log, one entry per person, kind and minute.
 *
 * Invariant: a flood of guesses makes the log grow by one entry per person that exists, kind and minute, and by one for all
 * those that do not. A process that is killed loses what it counted in the last minute.
 */
import type { Actor } from '@gw/contract/internal/audit-chain';
import { minuteMs } from '@gw/contract/internal/durations';
import type { Context } from '../../shared/context.ts';
import { appendAudit } from '../audit/append.ts';
import type { Person } from './sessions.ts';

const maxAddresses = 10;
const actor: Actor = { kind: 'system', id: 'login', name: null };

/** `second_factor_missed`: e-mail and credential were right, and no code, a wrong one, or one too soon came with them. */
export type MissedLogin = 'login.failed' | 'login.second_factor_missed';

/** Whose login failed; null if there is no such person. */
export type Target = (Person & { readonly accountId: string | null }) | null;

interface Count {
  readonly action: MissedLogin;
  readonly target: Target;
  readonly from: Date;
  failures: number;
  readonly addresses: Set<string>;
}

/** Collects failed logins in memory, and writes them when `write` is called. */
export class FailedLogins {
  #counts = new Map<string, Count>();
  readonly #context: Pick<Context, 'db' | 'now'>;

  constructor(context: Pick<Context, 'db' | 'now'>) {
    this.#context = context;
  }

  /** Counts a failed login, in memory alone. An entry names only the first ten addresses. */
  note(target: Target, address: string, action: MissedLogin = 'login.failed'): void {
    const minute = Math.floor(this.#context.now().getTime() / minuteMs);
    const key = `${minute} ${action} ${targetOf(target)}`;
    const count = this.#counts.get(key) ?? {
      action,
      target,
      from: new Date(minute * minuteMs),
      failures: 0,
      addresses: new Set<string>(),
    };
    count.failures += 1;
    if (count.addresses.size < maxAddresses) count.addresses.add(address);
    this.#counts.set(key, count);
  }

  /**
   * Writes the minutes that are over, or with `all` every one. What cannot be written stays for the next time and does
   * not delay the rest; the first error is thrown at the end.
   */
  async write(all = false): Promise<void> {
    const { db, now } = this.#context;
    const over = now().getTime() - minuteMs;
    const errors: unknown[] = [];
    for (const [key, count] of [...this.#counts]) {
      if (!all && count.from.getTime() > over) continue;
      // Taken out first: what fails meanwhile in the same minute makes an entry of its own.
      this.#counts.delete(key);
      try {
        await db.$transaction((tx) => appendAudit(tx, now(), factOf(count)));
      } catch (error) {
        this.#putBack(key, count);
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  #putBack(key: string, count: Count): void {
    const newer = this.#counts.get(key);
    if (newer) {
      newer.failures += count.failures;
      for (const address of count.addresses) if (newer.addresses.size < maxAddresses) newer.addresses.add(address);
    } else this.#counts.set(key, count);
  }
}

const targetOf = (target: Target): string => (target === null ? 'login:unknown' : `${target.kind}:${target.id}`);

const factOf = ({ action, target, from, failures, addresses }: Count) => ({
  accountId: target?.accountId ?? null,
  actor,
  action,
  target: targetOf(target),
  requestId: null,
  after: { minute: from.toISOString(), failures, addresses: [...addresses].sort() },
});
