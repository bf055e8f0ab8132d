/** Calls on 32 connections as fast as they are answered, in a process of its own, so that nothing else delays its clock. */
import { Agent, request } from 'node:http';

const key = process.env.GW_TEST_KEY;
const { url, connections, headers, body } = JSON.parse(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: connections });
let took = [];
let failed = {};
/** Answered, with a receipt that could not be stored in time and gets its numbers later. */
let degraded = 0;
let isWanted = true;

function one() {
  const beganAt = performance.now();
  const ended = (outcome) => {
    took.push(performance.now() - beganAt);
    if (outcome !== '200') failed[outcome] = (failed[outcome] ?? 0) + 1;
    if (isWanted) one();
  };
  const options = { agent, method: 'POST', headers: { authorization: `Bearer ${key}`, ...headers } };
  const sent = request(`${url}/v1/chat/completions`, options, (reply) => {
    let text = '';
    reply.setEncoding('utf8');
    reply.on('data', (part) => {
      text += part;
    });
    reply.on('error', () => undefined);
    reply.on('close', () => {
      const reason = /"degraded_reason":"(\w+)"/.exec(text)?.[1];
      if (reason === 'receipt_not_stored') degraded++;
      const isReceipted = text.includes('"gw":{"id"') && (!reason || reason === 'receipt_not_stored');
      const isWhole = reply.statusCode === 200 && reply.complete && isReceipted;
      ended(isWhole ? '200' : `${reply.statusCode} ${reason ?? text.slice(0, 120)}`);
    });
  });
  sent.on('error', (fault) => ended(fault.message));
  sent.end(body);
}

/** Each message asks for what was seen since the last one. */
process.on('message', (what) => {
  const isEnd = what === 'end';
  if (isEnd) isWanted = false;
  // A message of many calls is not sent at once, and would be lost with the process.
  process.send({ took, failed, degraded }, () => isEnd && process.exit());
  [took, failed, degraded] = [[], {}, 0];
});
for (let at = 0; at < connections; at++) one();
