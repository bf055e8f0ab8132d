/** The types of the pages are those of the OpenAPI document. After a change of it: `npx vitest run --project stores dashboard -u` */
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp();
}, 120_000);
afterAll(() => running?.stop());

test('the types are made of the document', async () => {
  const document = (await running.operator.inject('/openapi.json')).json();
  const types = astToString(await openapiTS(document));
  await expect(types).toMatchFileSnapshot('./src/api/operator-api.d.ts');
});
