import { Text } from '@mantine/core';
import { api, must } from '../../api/client.ts';
import { PageTitle } from '../../parts/shell.tsx';
import { UsageView } from '../../usage/usage-view.tsx';
import { words } from '../../words/operator-words.ts';

/** Who used what, over all accounts. */
export function Fleet() {
  return (
    <>
      <PageTitle>{words.pages.fleet}</PageTitle>
      <UsageView
        name="fleet"
        groups={['account_id', 'model', 'region', 'project']}
        read={(query) => must(api.GET('/operator/v1/usage', { params: { query } }))}
        csvPath="/operator/v1/usage?"
        empty={<Text>{words.fleet.empty}</Text>}
      />
    </>
  );
}
