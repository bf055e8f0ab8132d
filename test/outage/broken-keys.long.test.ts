/** API keys and idempotency keys survive broken parts. The suites share a gateway as those of broken.test.ts do. */
import { startGatewayToBreak } from './broken-gateway.ts';
import './idempotency-suite.ts';
import './idempotent-changes-suite.ts';
import '../access/slow-bodies-suite.ts';
import '../access/story-suite.ts';

startGatewayToBreak();
