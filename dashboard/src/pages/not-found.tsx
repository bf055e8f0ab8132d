import { Go } from '../parts/go.tsx';
import { PageTitle } from '../parts/shell.tsx';
import { words } from '../words/words.ts';

export function NotFound() {
  return (
    <>
      <PageTitle>{words.notFound}</PageTitle>
      <Go to="/">{words.product}</Go>
    </>
  );
}
