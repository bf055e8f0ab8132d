/** What becomes of keys, of API and of idempotency, where parts break: the suites share a gateway as those of broken.test.ts. */
import { startGatewayToBreak } from './broken-gateway.ts';
import './idempotency-suite.ts';
import './idempotent-changes-suite.ts';
import '../access/slow-bodies-suite.ts';
import '../access/story-suite.ts';

startGatewayToBreak();
