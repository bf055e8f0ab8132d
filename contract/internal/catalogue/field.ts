/**
 * The definition of a field of a catalogue entry. Everything else follows from these tables: the bodies of the operator API, the
 * columns, the snapshot, the options of the shell, and the page of the documentation.
 */
import { z } from 'zod';

export interface CatalogueField {
  /** Schema in the operator API. */
  readonly entry: z.ZodType;
  /** Schema in a change, if it differs. */
  readonly change?: z.ZodType;
  /** Schema in replies, if `entry` transforms values or refuses some that may be stored. */
  readonly shown?: z.ZodType;
  /** Schema in the snapshot, less strict for parts of another release. Absent: the services do not get the field. */
  readonly snapshot?: z.ZodType;
  /** Columns of the database client; two hold the ends of a range. Absent: the name in camel case. */
  readonly columns?: readonly [string] | readonly [min: string, max: string];
  /** Required in a new entry. */
  readonly needed?: true;
  /** Default. Absent: it depends on the other fields. */
  readonly otherwise?: unknown;
  /** Name of the option in the shell. Absent: the shell has separate commands for it. */
  readonly option?: string;
  /** How the shell reads and shows it; text by default. */
  readonly form?:
    | 'number'
    | 'yes_or_no'
    | 'words'
    | 'range'
    | 'evidence'
    | 'accelerators'
    | 'offers'
    | 'pairs'
    | 'file'
    | 'targets';
  /** Text in the help of the shell. */
  readonly help: string;
  /** Text in the documentation, if it says more. */
  readonly doc?: string;
}
export type FieldTable = Readonly<Record<string, CatalogueField>>;

/** A number that may be unknown. */
export const optionalNumber = { otherwise: null, form: 'number' } as const satisfies Partial<CatalogueField>;

type EntryValues<T extends FieldTable> = { [Name in keyof T]: z.infer<T[Name]['entry']> };
/** The fields of an entry in the operator API. */
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
  return Object.fromEntries(shape) as SnapshotShape<T>;
}

export const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must be one line of text');

/** For values that become part of Envoy's resource names and of headers. */
export const slugSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, 'must be at most 63 letters, digits, dashes and underscores');
