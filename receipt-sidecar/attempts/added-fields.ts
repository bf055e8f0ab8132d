/**
 * Remembers which of the fields that the gateway adds to a body each deployment takes. Until a deployment has taken one, a call goes through
 * its listener, which asks again without a field that the provider refuses (envoy/added-fields.lua.ts).
 *
 * Invariant: a deployment is judged by calls of the same form alone, since a provider may take a field only without another. A refusal is
 * forgotten after an hour, because providers change. The memory is bounded; a call that finds nothing there is sent as a first one is.
 */
import type { Logger } from '@gw/service/log';
import { registering } from '@gw/service/metric';
import { Counter, type Registry } from 'prom-client';

/** The fields that a deployment has taken and refused in calls of one form. */
interface Shown {
  readonly taken: readonly string[];
  readonly refused: readonly string[];
  /** When the refusals are forgotten. */
  readonly until: number;
}

/** The same for all deployments, by their ids. */
export type FieldsShown = ReadonlyMap<string, Shown>;

export interface AnsweredFields {
  readonly form: string;
  readonly deployment: string;
  /** The fields that the gateway has added. */
  readonly added: readonly string[];
  /** The fields without which the listener has asked again. */
  readonly refused: readonly string[];
  readonly status: number;
}

export interface AddedFields {
  shownBy(form: string): FieldsShown;
  answered(reply: AnsweredFields): void;
  register(registry: Registry): void;
}

const keptMs = 3_600_000;
const mostForms = 2000;
/** Each field of a deployment is logged once; past that many deployments none is. */
const mostLogged = 1000;
const nothing: FieldsShown = new Map();
const none: readonly string[] = [];

/** Fields that the gateway need not add. */
export const refusedBy = (shown: FieldsShown, deployment: string): readonly string[] =>
  shown.get(deployment)?.refused ?? none;

/** Returns those that the deployment has not taken yet. */
export function untriedBy(shown: FieldsShown, deployment: string, added: readonly string[]): readonly string[] {
  const taken = shown.get(deployment)?.taken ?? none;
  return added.every((name) => taken.includes(name)) ? none : added.filter((name) => !taken.includes(name));
}

/** `now`: a monotonic clock, ms. */
export function createAddedFields(now: () => number, log: Pick<Logger, 'warn'>): AddedFields {
  const forms = new Map<string, Map<string, Shown>>();
  const logged = new Set<string>();
  const refusals = new Counter({
    name: 'gw_added_fields_refused_total',
    help: 'Calls that were sent again without a field that the gateway had added, because the provider refused it',
    labelNames: ['deployment', 'field'],
    registers: [],
  });

  const shownIn = (form: string): Map<string, Shown> => {
    const known = forms.get(form);
    if (known) return known;
    const [oldest] = forms.keys();
    if (forms.size >= mostForms && oldest !== undefined) forms.delete(oldest);
    const made = new Map<string, Shown>();
    forms.set(form, made);
    return made;
  };

  const tell = (deployment: string, field: string): void => {
    refusals.inc({ deployment, field });
    const key = `${deployment} ${field}`;
    if (logged.has(key) || logged.size >= mostLogged) return;
    logged.add(key);
    log.warn(
      { deployment, field },
      'a provider refuses a field that the gateway adds; calls continue without it. Run `./gw admin providers test` for the command that records this.',
    );
  };

  return {
    shownBy: (form) => {
      const shown = forms.get(form);
      if (!shown) return nothing;
      for (const [deployment, { refused, until }] of shown)
        if (refused.length > 0 && until <= now()) shown.delete(deployment);
      return shown;
    },
    answered: ({ added, deployment, form, refused, status }) => {
      const known = forms.get(form)?.get(deployment);
      if (status >= 400) {
        // It may refuse now what it took before. The next call finds out, and can be asked again.
        if (known && known.taken.length > 0) shownIn(form).set(deployment, { ...known, taken: none });
        return;
      }
      for (const field of refused) tell(deployment, field);
      const taken = added.filter((name) => !refused.includes(name));
      if (refused.length === 0 && taken.every((name) => known?.taken.includes(name))) return;
      shownIn(form).set(deployment, {
        taken: [...new Set([...(known?.taken ?? none), ...taken])],
        refused: [...new Set([...(known?.refused ?? none), ...refused])],
        until: now() + keptMs,
      });
    },
    register: registering(refusals),
  };
}
