/** Chooses an account by its name or id. What is written counts as it is, too. */
import { Autocomplete, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, must } from '../../api/client.ts';

export interface AccountFieldProps {
  readonly label: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function AccountField(props: AccountFieldProps) {
  const [search] = useDebouncedValue(props.value.trim(), 300);
  const found = useQuery({
    queryKey: ['accounts like', search],
    queryFn: () =>
      must(api.GET('/operator/v1/accounts', { params: { query: { limit: 20, ...(search !== '' && { search }) } } })),
    placeholderData: keepPreviousData,
  });
  const names = new Map(found.data?.data.map(({ id, name }) => [id, name]));
  return (
    <Autocomplete
      {...props}
      maw={420}
      data={[...names.keys()]}
      // The gateway has searched already, names too.
      filter={({ options }) => options}
      renderOption={({ option }) => (
        <div>
          <Text size="sm">{option.value}</Text>
          <Text size="xs" c="dimmed">
            {names.get(option.value)}
          </Text>
        </div>
      )}
    />
  );
}
