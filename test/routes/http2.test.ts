/** Tries some routes over HTTP/2; the long run tries all. */
import './http2-suite.ts';
