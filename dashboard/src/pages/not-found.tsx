import { Go } from '../parts/go.tsx';
import { PageTitle } from '../parts/shell.tsx';
import { words } from '../words/words.ts';

export function NotFound() {
  return (
    <>
      <PageTitle>There is no such page</PageTitle>
      <Go to="/">{words.product}</Go>
    </>
  );
}
