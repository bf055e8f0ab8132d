/** The pages for the admins of an organisation. */
import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import type { CustomerSession } from '../../api/types.ts';
import { type PagePlace, Shell } from '../../parts/shell.tsx';
import { words } from '../../words/words.ts';
import { NotFound } from '../not-found.tsx';

const Overview = lazy(async () => ({ default: (await import('./overview.tsx')).Overview }));
const Keys = lazy(async () => ({ default: (await import('./keys/keys.tsx')).Keys }));
const Receipts = lazy(async () => ({ default: (await import('./receipts.tsx')).Receipts }));
const ReceiptPage = lazy(async () => ({ default: (await import('./receipt/receipt-page.tsx')).ReceiptPage }));
const Budgets = lazy(async () => ({ default: (await import('./budgets.tsx')).Budgets }));
const Packs = lazy(async () => ({ default: (await import('./packs.tsx')).Packs }));
const Audit = lazy(async () => ({ default: (await import('../audit.tsx')).Audit }));

const places: readonly PagePlace[] = [
  { path: '/', label: words.pages.overview },
  { path: '/keys', label: words.pages.keys },
  { path: '/receipts', label: words.pages.receipts },
  { path: '/budgets', label: words.pages.budgets },
  { path: '/evidence', label: words.pages.packs },
  { path: '/audit', label: words.pages.audit },
];

export default function Customer({ session }: { readonly session: CustomerSession }) {
  return (
    <Shell places={places} who={`${session.name} · ${session.account_id}`}>
      <Suspense fallback={null}>
        <Switch>
          <Route path="/" component={Overview} />
          <Route path="/keys" component={Keys} />
          <Route path="/receipts" component={Receipts} />
          <Route path="/receipts/:id">{({ id }) => <ReceiptPage id={id} />}</Route>
          <Route path="/budgets" component={Budgets} />
          <Route path="/evidence" component={Packs} />
          <Route path="/audit" component={Audit} />
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </Shell>
  );
}
