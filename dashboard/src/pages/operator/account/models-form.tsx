/** The models and aliases that an account can call: every one, or those that are named. */
import { Checkbox, Radio, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
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
          <Radio value={every} label="Every model, also those that are added later" />
          <Radio value={named} label="These alone" />
        </Stack>
      </Radio.Group>
      {choice === named && (
        // Also what the catalogue no longer has.
        <Choice all={[...new Set([...ids, ...chosen])].sort()} chosen={chosen} onChange={setChosen} />
      )}
    </SettingForm>
  );
}

interface ChoiceProps {
  readonly all: readonly string[];
  readonly chosen: string[];
  readonly onChange: (chosen: string[]) => void;
}

/** Boxes to tick, and a field that leaves those that hold a text. */
function Choice({ all, chosen, onChange }: ChoiceProps) {
  const [part, setPart] = useState('');
  const shown = all.filter((id) => id.includes(part.trim()));
  return (
    <>
      <TextInput
        label="Show those whose name holds"
        value={part}
        onChange={({ currentTarget }) => setPart(currentTarget.value)}
      />
      <Checkbox.Group label="Models and aliases" value={chosen} onChange={onChange}>
        <ScrollArea.Autosize mah={220} type="auto" mt={4}>
          <Stack gap={6}>
            {shown.map((id) => (
              <Checkbox key={id} value={id} label={id} />
            ))}
            {shown.length === 0 && <Text size="sm">The catalogue has none of this name.</Text>}
          </Stack>
        </ScrollArea.Autosize>
      </Checkbox.Group>
    </>
  );
}
