/** The people of a customer who can log in. */
import { Badge, Button, Group, Modal, Stack, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, must } from '../../api/client.ts';
import type { OrganisationAdmin } from '../../api/types.ts';
import { Failure } from '../../parts/failure.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { type Column, Empty, Rows } from '../../parts/table.tsx';
import { useOnce } from '../../parts/use-once.ts';
import { words } from '../../words/operator-words.ts';

const path = '/operator/v1/accounts/{accountId}/admins';

const columns: readonly Column<OrganisationAdmin>[] = [
  { title: words.people.name, cell: ({ name }) => name },
  { title: words.login.email, cell: ({ email }) => email },
  {
    title: words.keys.state,
    cell: ({ state }) => (
      <Badge color={state === 'enabled' ? 'green' : 'gray'} variant="light">
        {words.people.states[state]}
      </Badge>
    ),
  },
  {
    title: 'Second factor',
    cell: ({ second_factor: isSet }) => (isSet ? 'asked for' : 'none'),
  },
];

export function People({ accountId, mayAdd }: { readonly accountId: string; readonly mayAdd: boolean }) {
  const [isAdding, setIsAdding] = useState(false);
  const people = useQuery({
    queryKey: ['people of', accountId],
    queryFn: () => must(api.GET(path, { params: { path: { accountId } } })),
  });
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {words.people.title}
        </Title>
        {mayAdd && (
          <Button variant="default" size="xs" onClick={() => setIsAdding(true)}>
            {words.people.add}
          </Button>
        )}
      </Group>
      <Rows
        caption={words.people.title}
        columns={columns}
        rows={people.data?.data}
        idOf={({ id }) => id}
        query={people}
        empty={
          <Empty title="Nobody can log in for this account">
            People of the customer manage keys and see usage, receipts and evidence of this account alone.
          </Empty>
        }
      />
      {isAdding && <Add accountId={accountId} onClose={() => setIsAdding(false)} />}
    </>
  );
}

function Add({ accountId, onClose }: { readonly accountId: string; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const once = useOnce();
  const add = useMutation({
    mutationFn: (body: { name: string; email: string }) =>
      once(body, (headers) => must(api.POST(path, { params: { path: { accountId } }, body, headers }))),
    // Not waited for: the credential is shown at once.
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['people of', accountId] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    add.mutate({ name: String(form.get('name')), email: String(form.get('email')) });
  };
  if (add.data)
    return (
      <ShownOnce
        title="The credential"
        hint="It is shown this once. Hand it to the person."
        label={words.login.credential}
        text={add.data.credential}
        done="I have handed it on"
        onClose={onClose}
      />
    );
  return (
    <Modal opened onClose={onClose} title={words.people.add} closeButtonProps={{ 'aria-label': words.close }}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput name="name" label={words.people.name} required data-autofocus />
          <TextInput name="email" type="email" label={words.login.email} required />
          <Failure error={add.error} />
          <Button type="submit" loading={add.isPending}>
            {words.people.add}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
