/** The rules that requests are screened by: what holds and held, a draft, who is exempt, and what was found. */
import { Tabs } from '@mantine/core';
import type { ComponentType } from 'react';
import { useLocation } from 'wouter';
import type { OperatorSession } from '../../../api/types.ts';
import { PageTitle } from '../../../parts/shell.tsx';
import { Empty } from '../../../parts/table.tsx';
import { words } from '../../../words/operator-words.ts';
import { NotFound } from '../../not-found.tsx';
import { Draft } from './draft.tsx';
import { Exemptions } from './exemptions.tsx';
import { Findings } from './findings.tsx';
import { Rules } from './rules.tsx';
import { Versions } from './versions.tsx';

type View = keyof typeof words.policy.views;
const pages: Readonly<Record<View, ComponentType<{ readonly mayChange: boolean }>>> = {
  rules: Rules,
  versions: Versions,
  draft: Draft,
  exemptions: Exemptions,
  findings: Findings,
};
const views = Object.keys(pages) as View[];

export interface PolicyProps {
  readonly view: string | undefined;
  readonly role: OperatorSession['role'];
}

export function Policy({ view = 'rules', role }: PolicyProps) {
  const [, navigate] = useLocation();
  const chosen = views.find((each) => each === view);
  if (chosen === undefined) return <NotFound />;
  if (role === 'viewer')
    return (
      <>
        <PageTitle>{words.pages.policy}</PageTitle>
        <Empty title="The rules are not shown to viewers">
          Who knows the words can get past them. Ask an admin for the role support.
        </Empty>
      </>
    );
  const Page = pages[chosen];
  return (
    <>
      <PageTitle>{words.pages.policy}</PageTitle>
      <Tabs value={chosen} onChange={(next) => navigate(`/policy/${next}`)}>
        <Tabs.List mb="md" aria-label={words.pages.policy}>
          {views.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {words.policy.views[each]}
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
