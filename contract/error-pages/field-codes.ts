/** The codes of the family `invalid_<field>`: one for each request field in the OpenAPI document. */
import { fieldError } from '../errors.ts';
import { openApiDocument } from '../openapi/openapi.ts';

type Tree = Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** Returns the codes in alphabetical order. */
export function fieldCodes(): string[] {
  const document = openApiDocument('');
  const asked = operations(document).flatMap(({ requestBody, parameters = [] }) => [
    ...fieldsOf(requestBody, document, new Set()),
    ...parameters.filter((each) => each.in === 'query').map(({ name }) => name),
  ]);
  return [...new Set(asked.map((name) => fieldError(name, '').code))].sort();
}

interface Operation {
  readonly requestBody?: unknown;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}
const operations = ({ paths }: Tree): Operation[] =>
  Object.values(paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>).flatMap((item) =>
    Object.values(item),
  );

/** Returns the names of properties at any depth. `seen` has the references that were followed. */
function fieldsOf(node: unknown, document: Tree, seen: Set<string>): string[] {
  if (!isTree(node)) return [];
  const { $ref: reference, properties, examples: _, ...others } = node;
  const within = [...Object.values(others), ...(isTree(properties) ? Object.values(properties) : [])];
  const own = isTree(properties) ? Object.keys(properties) : [];
  if (typeof reference === 'string' && !seen.has(reference)) {
    seen.add(reference);
    within.push(
      reference
        .split('/')
        .slice(1)
        .reduce<unknown>((at, key) => (isTree(at) ? at[key] : undefined), document),
    );
  }
  return [...own, ...within.flatMap((each) => fieldsOf(each, document, seen))];
}
