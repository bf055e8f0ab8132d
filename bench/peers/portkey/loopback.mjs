/** Loaded before Portkey's gateway, which has no setting for its address and would listen on all of them. */
import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function (port, ...rest) {
  const done = rest.filter((each) => typeof each === 'function');
  return listen.call(this, { port, host: '127.0.0.1' }, ...done);
};
