/** Whoever holds ext-authz changes no number of the ledger, adds none and hides none unnamed. */
import { type Attempt, answerTo, examine } from '@gw/testing/control-plane/forgeries/exam';

const zeros = '0'.repeat(64);

/** Returns what Postgres says to it. */
const refused =
  (statement: string): Attempt =>
  async ({ as, store }) => {
    await store(1);
    return () => answerTo(as('ext_authz', statement));
  };

examine('extAuthz', {
  'make oneself a token of an operator': refused(
    `INSERT INTO operator_tokens (id, operator_id, name, token_hash, created_at)
     VALUES ('optk_x', 'op_first', 'x', sha256('x'), now())`,
  ),
  'chain an audit entry': refused(
    `INSERT INTO audit (chain, account_id, seq, at, actor_kind, actor_id, action, target, prev_hash, hash, seal, seal_key)
     VALUES ('acct_x', 'acct_x', 1, now(), 'operator', 'op_first', 'account.suspended', 'x', '${zeros}', '${zeros}', '${zeros}', 1)`,
  ),
  'settle a receipt': refused(`SELECT * FROM settle_receipts('[]')`),
  'plant a row of a log': refused(
    `INSERT INTO receipt_log (account_id, index, receipt_id, version, created_at, leaf_hash, content_sha256)
     VALUES ('acct_demo_audit', 0, 'r', 1, now(), sha256('x'), 'd')`,
  ),
  'store a version of a receipt': refused(
    `INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, tier, status, body, content_sha256, seal, seal_key)
     VALUES ('r', 2, now(), 'acct_demo_audit', 'k', '/v1/embeddings', 'm', 'proxy', 'complete', '{}', '${zeros}', '${zeros}', 1)`,
  ),
  'state calls without the key': async ({ state }) => {
    await state(1, 0);
    return () => state(2, 0, Buffer.alloc(32, 1));
  },
  'state with the key that no call was made': async ({ app, state, witnessed }) => {
    await state(1, 0);
    return async () => {
      await app.store(witnessed());
      await state(2, 0);
    };
  },
});
