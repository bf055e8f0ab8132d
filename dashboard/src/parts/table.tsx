/** A table of rows: head, empty state, waiting and failing, and on narrow screens its own scrolling. */
import { Card, Center, Loader, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { words } from '../words/words.ts';
import { Failed, type Reading } from './failure.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Aligns numbers so that their digits line up. */
  readonly isNumber?: boolean;
}

export interface RowsProps<Row> {
  /** Describes the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** `undefined` while they are not there. */
  readonly rows: readonly Row[] | undefined;
  readonly idOf: (row: Row) => string;
  /** Where the rows come from, if they are read. */
  readonly query?: Reading;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
}

export function Rows<Row>({ caption, columns, rows, idOf, query, empty }: RowsProps<Row>) {
  const failure = query?.error ? <Failed of={query} /> : null;
  if (rows === undefined && failure) return failure;
  if (rows === undefined)
    return (
      <Center p="xl">
        <Loader aria-label={words.loading} />
      </Center>
    );
  if (rows.length === 0) return failure ?? <>{empty}</>;
  const alignment = ({ isNumber }: Column<Row>) => (isNumber ? 'right' : 'left');
  return (
    <>
      {failure}
      <Table.ScrollContainer minWidth={columns.length * 110} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table striped highlightOnHover verticalSpacing="xs" aria-label={caption}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column.title} ta={alignment(column)}>
                  {column.title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={idOf(row)}>
                {columns.map((column) => (
                  <Table.Td key={column.title} ta={alignment(column)}>
                    {column.cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

/** Says that there is nothing, and the next step. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <Card withBorder padding="lg">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {typeof children === 'string' ? <Text>{children}</Text> : children}
      </Stack>
    </Card>
  );
}
