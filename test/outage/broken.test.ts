/** Suites that break a gateway and mend it again. They share one, since to start a gateway takes longer than most tests. */
import './services-suite.ts';
import './ends-suite.ts';
import './stores-suite.ts';
import './degraded-receipts-suite.ts';
import './load-suite.ts';
import './idempotency-suite.ts';
import './idempotent-changes-suite.ts';
import '../access/slow-bodies-suite.ts';
import '../access/story-suite.ts';
