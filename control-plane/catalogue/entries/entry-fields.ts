/**
 * Derives from the table of a kind's fields the bodies of requests, the replies, the columns, and the part that the
 * services get.
 */
import { type CatalogueField, camel, type EntryFields, type FieldTable } from '@gw/contract/internal/catalogue/field';
import { z } from 'zod';

/** The fields that a request has given. */
export type Given<T extends FieldTable> = { readonly [Name in keyof T]?: EntryFields<T>[Name] | undefined };

type Values = Readonly<Record<string, unknown>>;
const rangeSchema = z.object({ min: z.number(), max: z.number() }).nullable();

/**
 * Makes the schemas of a kind. `id` is the field that names an entry: it is given when it is added and never changes.
 */
export function entryBodies<T extends FieldTable>(table: T, id: Readonly<Record<string, z.ZodType<string>>>) {
  const shapeOf = (schemaOf: (field: CatalogueField) => z.ZodType): Record<string, z.ZodType> =>
    Object.fromEntries(Object.entries(table).map(([name, field]) => [name, schemaOf(field)]));
  return {
    addBody: z.strictObject({ ...shapeOf(({ entry, needed }) => (needed ? entry : entry.optional())), ...id }),
    changeBody: z.strictObject(shapeOf(({ change, entry }) => (change ?? entry).optional())),
    /** The schema of replies, without what is no field of the table. */
    shown: z.strictObject({ ...id, ...shapeOf(({ entry, shown }) => shown ?? entry) }),
  };
}

/**
 * Returns the fields of a new entry in the order of their table. `body` has to be what `addBody` has accepted;
 * `byOthers` holds defaults that follow from other fields.
 */
export function newFields<T extends FieldTable>(table: T, body: Values, byOthers: Given<T> = {}): EntryFields<T> {
  const derived: Values = byOthers;
  const ownOf = (row: Values, name: string) => (Object.hasOwn(row, name) ? row[name] : undefined);
  const values = Object.entries(table).map(([name, { otherwise }]) => {
    // A null that is given means none.
    const given = [ownOf(body, name), ownOf(derived, name), otherwise].find((value) => value !== undefined);
    return [name, given];
  });
  // Each is of its schema, or of the table.
  return Object.fromEntries(values) as EntryFields<T>;
}

const columnsNamed = (name: string, { columns }: CatalogueField): readonly [string, string?] =>
  columns ?? [camel(name)];

/** Returns the columns of an entry's fields. A range is in two columns, both null if it is not known. */
export function columnsOf(table: FieldTable, entry: object): Record<string, unknown> {
  const values: Values = { ...entry };
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, field]) => {
      const [column, max] = columnsNamed(name, field);
      if (max === undefined) return [[column, values[name]]];
      const range = rangeSchema.parse(values[name]);
      return [
        [column, range?.min ?? null],
        [max, range?.max ?? null],
      ];
    }),
  );
}

function valueIn(row: Values, name: string, field: CatalogueField): unknown {
  const [column, max] = columnsNamed(name, field);
  if (max === undefined) return row[column];
  return row[column] === null || row[max] === null ? null : { min: row[column], max: row[max] };
}

/** Returns the fields of an entry from its columns. */
export function fieldsIn<T extends FieldTable>(table: T, row: Values): EntryFields<T> {
  const values = Object.entries(table).map(([name, field]) => [name, valueIn(row, name, field)]);
  // Only what was of these schemas is ever stored.
  return Object.fromEntries(values) as EntryFields<T>;
}

/** Returns the fields as the services get them, under camel-case names and not yet validated. */
export const snapshotFieldsIn = (table: FieldTable, row: Values): object =>
  Object.fromEntries(Object.entries(table).map(([name, field]) => [camel(name), valueIn(row, name, field)]));
