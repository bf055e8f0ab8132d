/** The page about errors (`docs/errors.md`), made from the catalogues: one anchor per code, grouped by type. */

import { patienceS } from '../error-definition.ts';
import { errorBody } from '../errors.ts';
import { exampleAddresses } from '../example-addresses.ts';
import { messagesErrorBody } from '../messages-errors.ts';
import { classRows } from './client-classes.ts';
import {
  type Entry,
  type ErrorGroup,
  errorGroups,
  factsOf,
  fieldExample,
  operatorEntries,
  statusOf,
} from './error-facts.ts';

function section(entry: Entry): string {
  const [code, definition] = entry;
  const facts = factsOf(entry).map(([name, text]) => `- ${name}: ${text}`);
  return `### ${code}\n\n**${statusOf(definition)}.** ${definition.message}\n\n${facts.join('\n')}\n`;
}

const group = ({ title, type, entries }: ErrorGroup): string =>
  `## ${title}\n\nType \`${type}\`.\n\n${entries.map(section).join('\n')}`;

const example = JSON.stringify(JSON.parse(errorBody(fieldExample, exampleAddresses)), null, 2);

const messagesExample = JSON.stringify(
  JSON.parse(messagesErrorBody(fieldExample, exampleAddresses, 'ddabf0be-613b-4d02-a1d3-dcbeb187c841')),
  null,
  2,
);

export function errorsPage(): string {
  return `# Errors

Every error of the public port has this shape, whatever part made it, with \`Content-Type: application/json\` and
\`x-request-id\` (of the pages for people under \`/errors\`, one that there is not is a page too):

\`\`\`json
${example}
\`\`\`

\`code\` and \`type\` are stable; \`message\` may change. \`param\` is the JSON path of the field at fault (\`messages[0].role\`,
\`gw.tier\`), or null. \`doc_url\` leads to a page about the code: on this one where the operator has published it (\`GW_DOCS_URL\`), else
on the gateway's own, \`/errors/<code>\`, which needs no key; \`/errors\` lists them all. Programs find the same list as
\`x-error-catalogue\` in \`/openapi.json\`.

On the paths of Anthropic's API, \`/v1/messages\` and what begins with it, the same error has the shape that its SDKs read. \`error.type\` is
Anthropic's word there, by the status; \`overloaded\` and \`region_saturated\` are \`overloaded_error\`, and so is a provider's own 529, whatever the status.
The statuses are those below, so that the SDKs throw the class of the status. \`request_id\` is also in the headers \`request-id\` and \`x-request-id\`.

\`\`\`json
${messagesExample}
\`\`\`

The official clients, for Node and Python, throw a class by the status (Python's say \`APIStatusError\` for \`APIError\`), by each API:

| Status | OpenAI's | Anthropic's |
|---|---|---|
${classRows().join('\n')}

Besides the codes below there is one \`invalid_<field>\` for each request field (\`invalid_temperature\`, \`invalid_top_p\`, …),
see [invalid_field](#invalid_field). A look-up by path of a thing that does not exist answers 404 with the code that the same
thing has in a body (\`invalid_model\`, \`invalid_region\`): the one deliberate deviation from the specification, which gives
\`validation_error\` 400.

## Retrying

At most four attempts in all. On \`rate_limit_error\` and \`overloaded\` wait for the seconds in \`Retry-After\`; on any other \`inference_error\`,
\`methodology_error\` and \`internal_error\` wait 2^attempt seconds plus a random fraction of a second; never send an
\`auth_error\`, \`validation_error\` or \`policy_error\` again. A \`region_unavailable\` says by its code.

The official SDKs do this by themselves with \`max_retries=3\` (Node: \`maxRetries: 3\`); by default they make three attempts.
They go by the status (408, 409, 429 and all from 500) and wait for \`Retry-After\`. Where that would be wrong the reply has
\`x-should-retry: false\`, which they obey: where nothing but a change of the request helps, and where \`Retry-After\` is more
than ${patienceS} seconds. An error inside a stream that has begun is never sent again by them.

${errorGroups().map(group).join('\n')}
## The operators’ port

The same object. These codes occur there alone, beside those above.

${operatorEntries.map(section).join('\n')}`;
}
