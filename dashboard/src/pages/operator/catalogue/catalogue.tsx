/** The catalogue by kinds of entries, each at an address of its own. What an incident asks for is done here; all else in the shell or in git. */
import { Tabs } from '@mantine/core';
import type { ComponentType } from 'react';
import { useLocation } from 'wouter';
import type { OperatorSession } from '../../../api/types.ts';
import { PageTitle } from '../../../parts/shell.tsx';
import { words } from '../../../words/operator-words.ts';
import { NotFound } from '../../not-found.tsx';
import { Deployments } from './deployments.tsx';
import type { KindProps } from './entries.tsx';
import { Models } from './models.tsx';
import { Prices } from './prices.tsx';
import { Providers } from './providers.tsx';
import { Regions } from './regions.tsx';

type Kind = keyof typeof words.catalogue.kinds;
const pages: Readonly<Record<Kind, ComponentType<KindProps>>> = {
  regions: Regions,
  deployments: Deployments,
  models: Models,
  providers: Providers,
  prices: Prices,
};
const kinds = Object.keys(pages) as Kind[];

export interface CatalogueProps {
  readonly kind: string | undefined;
  readonly role: OperatorSession['role'];
}

export function Catalogue({ kind = 'regions', role }: CatalogueProps) {
  const [, navigate] = useLocation();
  const chosen = kinds.find((each) => each === kind);
  if (chosen === undefined) return <NotFound />;
  const Page = pages[chosen];
  return (
    <>
      <PageTitle>{words.pages.catalogue}</PageTitle>
      <Tabs value={chosen} onChange={(next) => navigate(`/catalogue/${next}`)}>
        <Tabs.List mb="md" aria-label={words.pages.catalogue}>
          {kinds.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {words.catalogue.kinds[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={chosen}>
          <Page mayChange={role === 'admin'} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
