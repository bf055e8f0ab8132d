/** The page about errors (`docs/errors.md`), made from the catalogue: one anchor per code. */
import { type ErrorDefinition, errorCatalogue } from './error-catalogue.ts';
import { errorBody, fieldError } from './errors.ts';
import { exampleAddresses } from './example-addresses.ts';

const entry = ([code, { type, status, message, action }]: [string, ErrorDefinition]): string =>
  `### ${code}\n\n\`${type}\`, HTTP ${status}. ${message}\n\n${action}\n`;

const wrongRole = fieldError('messages[0].role', '`messages[0].role` is not valid: Invalid input.');
const example = JSON.stringify(JSON.parse(errorBody(wrongRole, exampleAddresses)), null, 2);

export function errorsPage(): string {
  const entries = (Object.entries(errorCatalogue) as [string, ErrorDefinition][]).map(entry);
  return `# Errors

Every error of the public port has this shape, whatever part made it:

\`\`\`json
${example}
\`\`\`

\`code\` and \`type\` are stable; \`message\` may change. \`param\` is the JSON path of the field at fault (\`messages[0].role\`,
\`gw.tier\`), or null. Besides the codes below there is one \`invalid_<field>\` for each request field
(\`invalid_temperature\`, \`invalid_top_p\`, …): \`validation_error\`, HTTP 400, with \`param\`. The same list, for programs, is
\`x-error-catalogue\` in \`/openapi.json\`, where \`doc_url\` points.

A look-up by path of a thing that does not exist answers 404 with the code that the same thing has in a body
(\`invalid_model\`, \`invalid_region\`): the one deliberate deviation from the specification, which gives \`validation_error\` 400.

Retry at most four times: on \`rate_limit_error\` after \`Retry-After\`, on \`inference_error\` and \`internal_error\` after
2^attempt seconds plus a random fraction; never on \`auth_error\`, \`validation_error\` or \`policy_error\`.

${entries.join('\n')}`;
}
