/** Tries all routes over HTTP/2. */
import './http2-suite.ts';
