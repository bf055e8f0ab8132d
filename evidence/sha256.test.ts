import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as browsers from './sha256.browser.ts';
import * as nodes from './sha256.ts';

test('browsers have the digest that Node has, of texts and bytes in any pieces', () => {
  const part = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array());
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const [node, browser] = [new nodes.Sha256(), new browsers.Sha256()];
      for (const each of parts) {
        node.update(each);
        browser.update(each);
      }
      const hex = node.hex();
      expect(browser.hex()).toBe(hex);
      expect([...browsers.bytesOfHex(hex)]).toEqual([...nodes.bytesOfHex(hex)]);
    }),
  );
  // Half of a pair is the same bytes in both.
  expect(new browsers.Sha256().update('\ud800').hex()).toBe(new nodes.Sha256().update('\ud800').hex());
});
