/**
 * What a field of a catalogue entry says of itself. Everything else follows from the table of its kind: the bodies of the
 * operator API, the columns, the snapshot, the options of the shell, and the page of the documentation.
 */
import { z } from 'zod';

export interface CatalogueField {
  /** In the operator API. */
  readonly entry: z.ZodType;
  /** In a change, where that is not the same. */
  readonly change?: z.ZodType;
  /** In replies, where `entry` reads or refuses what is not stored like that. */
  readonly shown?: z.ZodType;
  /** What the services get: less strict, for parts of another release. Absent: they do not get the field. */
  readonly snapshot?: z.ZodType;
  /** Of the database client; two hold the ends of a range. Absent: the name in camel case. */
  readonly columns?: readonly [string] | readonly [min: string, max: string];
  /** An entry cannot be added without it. */
  readonly needed?: true;
  /** What it is if nobody has said. Absent: the kind decides by the other fields. */
  readonly otherwise?: unknown;
  /** Absent: the shell has commands of its own for it. */
  readonly option?: string;
  /** How it is typed in a shell, and shown there: as text unless said. */
  readonly form?:
    | 'number'
    | 'yes_or_no'
    | 'words'
    | 'range'
    | 'evidence'
    | 'accelerators'
    | 'offers'
    | 'pairs'
    | 'targets';
  /** For people in a shell. */
  readonly help: string;
  /** For readers of the documentation, where that says more. */
  readonly doc?: string;
}
export type FieldTable = Readonly<Record<string, CatalogueField>>;

type EntryValues<T extends FieldTable> = { [Name in keyof T]: z.infer<T[Name]['entry']> };
/** The fields of an entry, as the operator API shows them. */
export type EntryFields<T extends FieldTable> = Readonly<EntryValues<T>>;

/** `tokens_per_s` → `tokensPerS`. */
type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
export const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

type SnapshotShape<T extends FieldTable> = {
  [Name in keyof T & string as T[Name] extends { readonly snapshot: z.ZodType }
    ? Camel<Name>
    : never]: T[Name] extends {
    readonly snapshot: infer Schema;
  }
    ? Schema
    : never;
};
export function snapshotShape<T extends FieldTable>(table: T): SnapshotShape<T> {
  const shape = Object.entries(table).flatMap(([name, { snapshot }]) => (snapshot ? [[camel(name), snapshot]] : []));
  // The names and schemas are those of the type.
  return Object.fromEntries(shape) as SnapshotShape<T>;
}

/** One line of text, as it is shown in lists and in the audit log. */
export const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must be one line of text');

/** For fields that stand in names of Envoy's configuration and in headers. */
export const slugSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, 'must be at most 63 letters, digits, dashes and underscores');
