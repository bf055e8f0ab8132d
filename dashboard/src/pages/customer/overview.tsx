import { api, must } from '../../api/client.ts';
import { FirstCall } from '../../parts/first-call.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { groups } from '../../usage/series.ts';
import { UsageView } from '../../usage/usage-view.tsx';
import { words } from '../../words/words.ts';

export function Overview() {
  return (
    <>
      <PageTitle>{words.pages.overview}</PageTitle>
      <UsageView
        name="organisation"
        groups={groups}
        read={(query) => must(api.GET('/organisation/v1/usage', { params: { query } }))}
        csvPath="/organisation/v1/usage?"
        empty={<FirstCall />}
      />
    </>
  );
}
