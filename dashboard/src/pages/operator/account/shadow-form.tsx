import { Checkbox, Stack } from '@mantine/core';
import { useState } from 'react';
import type { OperatorAccount } from '../../../api/types.ts';
import { words } from '../../../words/operator-words.ts';
import { type FormOfAccountProps, SettingForm } from './setting-form.tsx';

type Shadow = OperatorAccount['shadow'][number];
const limits = Object.keys(words.settings.shadows) as Shadow[];

/** The limits that refuse nothing. */
export function ShadowForm({ account, onClose }: FormOfAccountProps) {
  const [chosen, setChosen] = useState<string[]>(account.shadow);
  const shadow = limits.filter((limit) => chosen.includes(limit));
  return (
    <SettingForm setting="shadow" account={account} wanted={{ shadow }} onClose={onClose}>
      <Checkbox.Group label={words.settings.names.shadow} value={chosen} onChange={setChosen}>
        <Stack gap={4} mt={4}>
          {limits.map((limit) => (
            <Checkbox key={limit} value={limit} label={words.settings.shadows[limit]} />
          ))}
        </Stack>
      </Checkbox.Group>
    </SettingForm>
  );
}
