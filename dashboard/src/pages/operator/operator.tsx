/** The pages for operators. What a role may not do is not shown, and refused by the server all the same. */
import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import type { OperatorSession } from '../../api/types.ts';
import { type PagePlace, Shell } from '../../parts/shell.tsx';
import { words } from '../../words/operator-words.ts';
import { NotFound } from '../not-found.tsx';

const Fleet = lazy(async () => ({ default: (await import('./fleet.tsx')).Fleet }));
const Accounts = lazy(async () => ({ default: (await import('./accounts.tsx')).Accounts }));
const AccountPage = lazy(async () => ({ default: (await import('./account-page.tsx')).AccountPage }));
const Onboarding = lazy(async () => ({ default: (await import('./onboarding.tsx')).Onboarding }));
const Application = lazy(async () => ({ default: (await import('./application.tsx')).ApplicationPage }));
const Catalogue = lazy(async () => ({ default: (await import('./catalogue/catalogue.tsx')).Catalogue }));
const Grid = lazy(async () => ({ default: (await import('./grid.tsx')).Grid }));
const Policy = lazy(async () => ({ default: (await import('./policy/policy.tsx')).Policy }));
const Live = lazy(async () => ({ default: (await import('./live.tsx')).Live }));
const Chains = lazy(async () => ({ default: (await import('./chains.tsx')).Chains }));

const places: readonly PagePlace[] = [
  { path: '/', label: words.pages.fleet },
  { path: '/accounts', label: words.pages.accounts },
  { path: '/onboarding', label: words.pages.onboarding },
  { path: '/catalogue', label: words.pages.catalogue },
  { path: '/grid', label: words.pages.grid },
  { path: '/policy', label: words.pages.policy },
  { path: '/live', label: words.pages.live },
  { path: '/audit', label: words.pages.audit },
];

export default function Operator({ session }: { readonly session: OperatorSession }) {
  const { name, role } = session;
  // Who may not read the rules is not led to them.
  const shown = role === 'viewer' ? places.filter(({ path }) => path !== '/policy') : places;
  return (
    <Shell places={shown} who={`${name} · ${role}`}>
      <Suspense fallback={null}>
        <Switch>
          <Route path="/" component={Fleet} />
          <Route path="/accounts" component={Accounts} />
          <Route path="/accounts/:id">{({ id }) => <AccountPage id={id} role={role} />}</Route>
          <Route path="/onboarding" component={Onboarding} />
          <Route path="/onboarding/:id">{({ id }) => <Application id={id} role={role} />}</Route>
          <Route path="/catalogue/:kind?">{({ kind }) => <Catalogue kind={kind} role={role} />}</Route>
          <Route path="/grid" component={Grid} />
          <Route path="/policy/:view?">{({ view }) => <Policy view={view} role={role} />}</Route>
          <Route path="/live" component={Live} />
          <Route path="/audit" component={Chains} />
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </Shell>
  );
}
