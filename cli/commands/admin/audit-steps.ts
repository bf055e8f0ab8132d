/**
 * Compares the steps of applications with the hashes of them in the audit log.
 *
 * Invariant: each step is hashed again here. A step whose entry has another hash was altered or taken out; a step of which
 * no entry tells was put in.
 */
import { type AuditEntry, type ChainFault, operatorChain } from '@gw/contract/internal/audit-chain';
import { type OnboardingStep, stepHash } from '@gw/contract/internal/onboarding-step';
import type { Page } from './accounts.ts';
import type { OperatorApi } from './api.ts';

const path = '/operator/v1/applications';
const subject = 'application:';

interface NamedStep {
  readonly seq: number;
  readonly sha256: string;
}

export class StepCheck {
  readonly #api: OperatorApi;
  /** Hashes of the steps that there are, by account. */
  readonly #there = new Map<string, Set<string>>();
  /** The steps that the entries name, by account. */
  readonly #named = new Map<string, NamedStep[]>();

  private constructor(api: OperatorApi) {
    this.#api = api;
  }

  /** Reads the steps before the chains: so each of them has its entry in what is read of the log afterwards. */
  static async begin(api: OperatorApi): Promise<StepCheck> {
    const check = new StepCheck(api);
    for (const account of await check.#accounts()) check.#there.set(account, await check.#hashesOf(account));
    return check;
  }

  note({ chain, target, after, seq }: AuditEntry): void {
    if (chain !== operatorChain || !target.startsWith(subject)) return;
    const sha256 = (after as { readonly step_sha256?: unknown } | null)?.step_sha256;
    if (typeof sha256 !== 'string') return;
    const account = target.slice(subject.length);
    this.#named.set(account, [...(this.#named.get(account) ?? []), { seq, sha256 }]);
  }

  /** Faults of the operators' chain, of which `seq` is the last entry that was noted. */
  async end(seq: number): Promise<readonly ChainFault[]> {
    const faults: ChainFault[] = [];
    for (const account of new Set([...this.#there.keys(), ...this.#named.keys()])) {
      const there = this.#there.get(account) ?? new Set();
      const named = this.#named.get(account) ?? [];
      const lost = await this.#lost(account, there, named);
      for (const step of lost) faults.push({ seq: step.seq, fault: 'altered' });
      const untold = [...there].filter((hash) => !named.some(({ sha256 }) => sha256 === hash));
      // An altered step is not told of either; it is one fault.
      if (untold.length > lost.length) faults.push({ seq: seq + 1, fault: 'missing' });
    }
    return faults;
  }

  /** Returns the steps that are named but missing, after a second look for those taken since the check began. */
  async #lost(account: string, there: ReadonlySet<string>, named: readonly NamedStep[]): Promise<readonly NamedStep[]> {
    const lost = named.filter(({ sha256 }) => !there.has(sha256));
    if (lost.length === 0) return lost;
    const exists = this.#there.has(account) || (await this.#accounts()).includes(account);
    const now = exists ? await this.#hashesOf(account) : new Set();
    return lost.filter(({ sha256 }) => !now.has(sha256));
  }

  async #accounts(): Promise<readonly string[]> {
    const accounts: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = (await this.#api.get(path, { after, limit: 100 })) as Page;
      accounts.push(...page.data.map(({ account_id }) => String(account_id)));
      if (page.has_more !== true) return accounts;
      after = page.last_id ?? undefined;
    }
  }

  async #hashesOf(account: string): Promise<Set<string>> {
    const { steps } = (await this.#api.get(`${path}/${encodeURIComponent(account)}`)) as {
      readonly steps: readonly OnboardingStep[];
    };
    return new Set(steps.map((step) => stepHash({ ...step, account_id: account })));
  }
}
