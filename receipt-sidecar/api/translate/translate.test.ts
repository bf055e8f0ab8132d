import { expect, it } from 'vitest';
import { translate } from './translate.ts';

it('knows no way between APIs that have no conversation', () => {
  expect(translate('chat', 'embeddings')).toBeNull();
  expect(translate('completions', 'chat')).toBeNull();
});
