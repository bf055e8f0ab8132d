import { Go } from '../parts/go.tsx';
import { Empty } from '../parts/table.tsx';
import { words } from '../words/words.ts';

export function NotFound() {
  return (
    <Empty title={words.notFound}>
      <Go to="/">{words.product}</Go>
    </Empty>
  );
}
