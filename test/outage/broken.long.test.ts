/** The whole of what broken.test.ts has a part of: more moments, and every end of a call with each part that can cause it. */
import { startGatewayToBreak } from './broken-gateway.ts';
import './services-suite.ts';
import './ends-suite.ts';
import './stores-suite.ts';
import './degraded-receipts-suite.ts';

startGatewayToBreak();
