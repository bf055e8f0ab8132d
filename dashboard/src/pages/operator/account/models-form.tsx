/** The models and aliases that an account can call: every one, or those that are named. */
import { MultiSelect, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { useAliases, useModels } from '../../../api/catalogue.ts';
import { Failed } from '../../../parts/failure.tsx';
import { words } from '../../../words/operator-words.ts';
import { type FormOfAccountProps, SettingForm } from './setting-form.tsx';

const [every, named] = ['every', 'named'] as const;

export function ModelsForm({ account, onClose }: FormOfAccountProps) {
  const [choice, setChoice] = useState<string>(account.models === null ? every : named);
  const [chosen, setChosen] = useState(account.models ?? []);
  const models = useModels();
  const aliases = useAliases();
  const ids = [...(models.data?.data ?? []), ...(aliases.data?.data ?? [])].map(({ id }) => id);
  return (
    <SettingForm
      setting="models"
      account={account}
      wanted={{ models: choice === named ? chosen : null }}
      onClose={onClose}
    >
      <Failed of={models} />
      <Failed of={aliases} />
      <Radio.Group label={words.settings.names.models} value={choice} onChange={setChoice}>
        <Stack gap={4} mt={4}>
          <Radio value={every} label={words.settings.everyModelChoice} />
          <Radio value={named} label={words.settings.theseAlone} />
        </Stack>
      </Radio.Group>
      {choice === named && (
        <MultiSelect
          label={words.settings.modelsField}
          // Also what the catalogue no longer has.
          data={[...new Set([...ids, ...chosen])].sort()}
          value={chosen}
          onChange={setChosen}
          limit={50}
          nothingFoundMessage={words.settings.noneMatches}
          searchable
        />
      )}
    </SettingForm>
  );
}
