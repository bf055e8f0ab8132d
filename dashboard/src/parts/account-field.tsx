/** Chooses an account by its name or id. What is written counts as it is, too. */
import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { api, must } from '../api/client.ts';

export interface AccountFieldProps {
  readonly label: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The browser shows what it offers: a list of our own would load a library into the first page of everybody. */
export function AccountField({ onChange, ...field }: AccountFieldProps) {
  const list = useId();
  const [search] = useDebouncedValue(field.value.trim(), 300);
  const found = useQuery({
    queryKey: ['accounts like', search],
    queryFn: () =>
      must(api.GET('/operator/v1/accounts', { params: { query: { limit: 20, ...(search !== '' && { search }) } } })),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <TextInput
        {...field}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        maw={420}
        list={list}
        autoComplete="off"
        spellCheck={false}
      />
      <datalist id={list}>
        {found.data?.data.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  );
}
