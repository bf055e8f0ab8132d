/**
 * A filter between Envoy's router and a provider, as WebAssembly, written in AssemblyScript. It holds the head of a reply with status 200:
 * of a stream until its first event that says anything, of a JSON object until a list that is not empty, or to its end. A failure there,
 * and a reply without an answer, get the status of that failure before the router sees it. So the router tries the next deployment, as it
 * does for any reply with that status, and the sidecar learns of it by the same ways. Filters in Lua cannot do this: they cannot hold a
 * head for one piece of the body.
 *
 * Invariants: no byte of a body is changed or lost. A head is held until the time that the sidecar names in the request, and for
 * `mostBytes` at most, of which one event, or one object, can have `mostOfOne`. Each byte is read a few times at most, in however many
 * pieces it comes. A reply that can be none of any API (a page of HTML, `null`, a list, a redirect) is a failure as well. What else the
 * filter does not understand passes, and so does everything if it fails (fail-open: the sidecar reads the same events again). Four
 * statuses below 429 that mean a failure of the server become those that mean it everywhere, and two with which servers answer as well become 200.
 *
 * It knows no field of an answer: anything is one that has a list which is not empty, or any text besides names and the results of content
 * filters; an object whose list is empty needs that text at its top. It does know how servers write failures, and the words that give a
 * failure without a status one. Words that the sidecar looks for as well come from contract/: compile.mjs puts them in the places of
 * `__firstEventHeader__`, `__headPatienceHeader__`, `__unreadableReply__` and `__isSafety__`.
 */

// The host: https://github.com/proxy-wasm/spec, version 0.2.1.
@external("env", "proxy_get_header_map_value")
declare function getHeader(map: i32, name: usize, nameBytes: i32, value: usize, valueBytes: usize): i32;
@external("env", "proxy_replace_header_map_value")
declare function setHeader(map: i32, name: usize, nameBytes: i32, value: usize, valueBytes: i32): i32;
@external("env", "proxy_get_buffer_bytes")
declare function getBody(kind: i32, from: i32, most: i32, bytes: usize, length: usize): i32;
@external("wasi_snapshot_preview1", "clock_time_get")
declare function getTime(clock: i32, precision: i64, time: usize): i32;
@external("env", "proxy_set_tick_period_milliseconds")
declare function setTick(periodMs: i32): i32;
@external("env", "proxy_set_effective_context")
declare function enter(context: i32): i32;
@external("env", "proxy_continue_stream")
declare function continueStream(kind: i32): i32;

const ofRequest = 0;
const ofResponse = 2;
const responseBody = 1;
const responseStream = 1;
const monotonicClock = 1;

const tickMs: i32 = 100;
/** How much earlier than the router's time-out a head goes on: it must not be late by a tick, nor by what the worker does meanwhile. */
const earlyMs: i64 = 200;
/** Envoy buffers it, and allows 65 MiB. */
const mostBytes = 4 * 1024 * 1024;
/** It is read as a whole, while nothing else happens in the worker, which keeps as much memory from then on. */
const mostOfOne = 1024 * 1024;
/** How much is handed over at once, since the beginning of a body mostly tells. */
const mostAtOnce = 32 * 1024;
/** The longest text of a failure that the sidecar gets, in bytes. */
const mostWords = 4 * 1024;
/** The longest text within it. */
const mostText = 1024;
const noDepth = i32.MAX_VALUE;
/** The length of the longest name of a field of events, with its colon. */
const longestField = 6;

// Answers to the host.
const goOn = 0;
const stop = 1;

// Verdicts that are no status.
const pass = 0;
const hold = 1;

// Kinds of bodies.
const unknown = 0;
const events = 1;
const object = 2;

// What an object is found to be.
const unfinished = 0;
const list = 1;
const error = 2;
const whole = 3;
/** It ends, and has an empty list and no text at its top. */
const empty = 4;

const streamType = "text/event-stream";
const statusHeader = String.UTF8.encode(":status");
const typeHeader = String.UTF8.encode("content-type");
const encodingHeader = String.UTF8.encode("content-encoding");
const wordsHeader = String.UTF8.encode(__firstEventHeader__);
const unreadableWords = String.UTF8.encode(__unreadableReply__);
const patienceHeader = String.UTF8.encode(__headPatienceHeader__);

/** What the host hands over is read before it hands over more, so one block is enough. */
const handed = memory.data(mostOfOne + mostAtOnce);
/** The part of the body that is there. */
let handedFrom = 0;
let handedTo = 0;
const out = memory.data(16);
/** The words of the failure that was found. */
let wordsAt: usize = 0;
let wordsLength: i32 = 0;

/** The head of a reply, which is awaited or held, and how far its body is read. */
class Head {
  isHeld: bool = false;
  isStream: bool = false;
  body: i32 = unknown;
  /** Whether a list has begun in front of the object. */
  isInList: bool = false;
  /** The length of what has been read, and says nothing. */
  read: i32 = 0;
  /** The length of what has been searched for the end of the event, or of the object, that begins at `read`. */
  seen: i32 = 0;

  // The state of the search for the end of an event.
  isInLine: bool = false;
  isAfterReturn: bool = false;

  // The state of the search for the end of an object, and the length at which it is looked through again.
  nextLook: i32 = 0;
  depth: i32 = 0;
  isInText: bool = false;
  isEscaped: bool = false;

  constructor(
    /** How long it may be held, ms. */
    public patience: i64,
    /** When it has to go on; 0 until it has come, if nothing counts the time before that. */
    public until: i64,
  ) {}
}

const heads = new Map<i32, Head>();
/** How many of them are held. */
let held = 0;

export function proxy_abi_version_0_2_1(): void {}

export function proxy_on_memory_allocate(bytes: i32): usize {
  return bytes <= mostOfOne + mostAtOnce ? handed : 0;
}

export function proxy_on_vm_start(context: i32, bytes: i32): i32 {
  return 1;
}

export function proxy_on_configure(context: i32, bytes: i32): i32 {
  setTick(tickMs);
  return 1;
}

export function proxy_on_context_create(context: i32, parent: i32): void {}

/** Learns how long the head of the reply may be held. Without that it is not held. */
export function proxy_on_request_headers(context: i32, headers: i32, end: i32): i32 {
  if (!has(ofRequest, patienceHeader)) return goOn;
  const at = load<usize>(out);
  const length = load<i32>(out + 4);
  const isSinceRequest = beginsWith(at, length, "request+");
  let patience: i64 = 0;
  for (let from = 0; from < length; from++) {
    const byte = load<u8>(at + from);
    if (byte >= 0x30 && byte <= 0x39) patience = patience * 10 + (byte - 0x30);
  }
  heads.set(context, new Head(patience, isSinceRequest ? nowMs() + patience - earlyMs : 0));
  return goOn;
}

export function proxy_on_response_headers(context: i32, headers: i32, end: i32): i32 {
  if (!heads.has(context)) return goOn;
  const head = heads.get(context);
  // Frameworks answer a POST with 201 unless they are told otherwise, and proxies that change a reply with 203.
  if (isHeader(statusHeader, "201") || isHeader(statusHeader, "203")) putHeader(statusHeader, "200");
  if (isHeader(statusHeader, "200")) {
    if (end) fail(502);
    // Compressed, a body is none that can be read here.
    else if (!has(ofResponse, encodingHeader) || isHeader(encodingHeader, "identity")) {
      const now = nowMs();
      if (head.until == 0) head.until = now + head.patience;
      if (now < head.until) {
        head.isStream = isHeader(typeHeader, "text/event-stream");
        head.isHeld = true;
        held++;
        return stop;
      }
    }
  } else if (isHeader(statusHeader, "2") || isHeader(statusHeader, "3")) fail(unreadable());
  // Failures of the server that stand among those of its client: a time-out, TGI's failed generation, a server that is not ready, nginx's
  // client that has left.
  else if (isHeader(statusHeader, "408")) putHeader(statusHeader, "504");
  else if (isHeader(statusHeader, "424") || isHeader(statusHeader, "499")) putHeader(statusHeader, "500");
  else if (isHeader(statusHeader, "425")) putHeader(statusHeader, "503");
  heads.delete(context);
  return goOn;
}

export function proxy_on_response_body(context: i32, bytes: i32, end: i32): i32 {
  if (heads.size == 0 || !heads.has(context)) return goOn;
  const head = heads.get(context);
  const verdict = readBody(head, bytes, end != 0);
  if (verdict == hold) return stop;
  conclude(context, head, verdict);
  return goOn;
}

export function proxy_on_response_trailers(context: i32, trailers: i32): i32 {
  if (!heads.has(context)) return goOn;
  const head = heads.get(context);
  conclude(context, head, readBody(head, head.seen, true));
  return goOn;
}

/** Lets heads go that have waited for too long, since nothing else comes that would. */
export function proxy_on_tick(root: i32): void {
  if (held == 0) return;
  const now = nowMs();
  const contexts = heads.keys();
  for (let at = 0; at < contexts.length; at++) {
    const context = contexts[at];
    const head = heads.get(context);
    if (!head.isHeld || now < head.until) continue;
    enter(context);
    conclude(context, head, pass);
    continueStream(responseStream);
  }
}

export function proxy_on_done(context: i32): i32 {
  return 1;
}

export function proxy_on_delete(context: i32): void {
  if (heads.has(context)) forget(context, heads.get(context));
}

function forget(context: i32, head: Head): void {
  if (head.isHeld) held--;
  heads.delete(context);
}

/** Ends the wait. A body that passes has the type of what it is. */
function conclude(context: i32, head: Head, verdict: i32): void {
  forget(context, head);
  if (verdict != pass) fail(verdict);
  else if (head.body == events && !isTypeOfStream()) putHeader(typeHeader, "text/event-stream");
  else if (head.body == object && head.isStream) putHeader(typeHeader, "application/json");
}

/** Whether the type is that of streams as it is mostly written, since some clients compare it letter by letter. */
function isTypeOfStream(): bool {
  if (!has(ofResponse, typeHeader)) return false;
  const at = load<usize>(out);
  const length = load<i32>(out + 4);
  if (length < streamType.length) return false;
  for (let index = 0; index < streamType.length; index++) if (load<u8>(at + index) != streamType.charCodeAt(index)) return false;
  return length == streamType.length || load<u8>(at + streamType.length) == 0x3b;
}

/** Returns the status of a reply that no API has. */
function unreadable(): i32 {
  wordsAt = changetype<usize>(unreadableWords);
  wordsLength = unreadableWords.byteLength;
  return 502;
}

/** Gives the reply a status, and the words of the failure to the sidecar. */
function fail(status: i32): void {
  putHeader(statusHeader, status.toString());
  for (let at = 0; at < wordsLength; at++) if (load<u8>(wordsAt + at) < 0x20 || load<u8>(wordsAt + at) == 0x7f) store<u8>(wordsAt + at, 0x20);
  setHeader(ofResponse, changetype<usize>(wordsHeader), wordsHeader.byteLength, wordsAt, wordsLength);
  wordsLength = 0;
}

function putHeader(name: ArrayBuffer, value: string): void {
  const bytes = String.UTF8.encode(value);
  setHeader(ofResponse, changetype<usize>(name), name.byteLength, changetype<usize>(bytes), bytes.byteLength);
}

function has(map: i32, name: ArrayBuffer): bool {
  return getHeader(map, changetype<usize>(name), name.byteLength, out, out + 4) == 0;
}

/** Whether a header of the reply begins with a value in lower case. */
function isHeader(name: ArrayBuffer, value: string): bool {
  return has(ofResponse, name) && beginsWith(load<usize>(out), load<i32>(out + 4), value);
}

/** A clock that nobody sets, as the router's. */
function nowMs(): i64 {
  getTime(monotonicClock, 0, out);
  return load<i64>(out) / 1_000_000;
}

/** Returns the address of a part of the body; 0 if the host does not hand it over. */
function take(from: i32, to: i32): usize {
  if (from < handedFrom || to > handedTo) {
    if (from < to && (getBody(responseBody, from, to - from, out, out + 4) != 0 || load<i32>(out + 4) != to - from)) return 0;
    handedFrom = from;
    handedTo = to;
  }
  return handed + (from - handedFrom);
}

/** Reads what has come of a body. */
function readBody(head: Head, length: i32, end: bool): i32 {
  const most = min(length, mostBytes);
  handedTo = 0;
  while (true) {
    const to = min(most, head.seen + mostAtOnce);
    const isEnd = end && to == length;
    const verdict =
      head.body == unknown ? recognise(head, to, isEnd) : head.body == events ? readEvents(head, to, isEnd) : readObject(head, to, isEnd);
    if (verdict != hold) return verdict;
    if (head.seen - head.read > mostOfOne) return pass;
    if (head.seen == most) return length > mostBytes ? pass : hold;
  }
}

/** Looks for the first byte that says what the body is. Some servers put the object of a failure into a list. */
function recognise(head: Head, to: i32, end: bool): i32 {
  const at = take(head.read, to);
  if (at == 0) return pass;
  const length = to - head.read;
  let from = head.read == 0 && length >= 3 && load<u8>(at) == 0xef && load<u8>(at + 1) == 0xbb && load<u8>(at + 2) == 0xbf ? 3 : 0;
  for (; from < length; from++) {
    if (load<u8>(at + from) == 0x5b && !head.isInList) head.isInList = true;
    else if (!isBlank(load<u8>(at + from))) break;
  }
  head.read += from;
  head.seen = to;
  // A stream of blank lines is one as well.
  if (from == length) return !end ? hold : head.isInList ? unreadable() : 502;
  const first = load<u8>(at + from);
  if (first == 0x7b) head.body = object;
  else if (head.isInList) return unreadable();
  else {
    // Lines of unknown fields are no events, but events can follow.
    const isEvents = (head.isStream && isLetter(first)) || isField(at + from, length - from);
    if (!isEvents) return length - from < longestField && !end ? hold : unreadable();
    head.body = events;
  }
  head.seen = head.read;
  return hold;
}

/**
 * One object is held until a list shows that it is an answer, or else to its end. If it says nothing then, it is a failure. If its list is
 * empty, nothing that lies deeper counts as an answer, since some servers describe themselves there. It is looked through at its end, and
 * whenever twice as much of it is there.
 */
function readObject(head: Head, to: i32, end: bool): i32 {
  const length = to - head.read;
  if (length < head.nextLook && !end) {
    const more = take(head.seen, to);
    if (more == 0) return pass;
    if (!passObject(head, more, to)) return hold;
  }
  const at = take(head.read, to);
  if (at == 0) return pass;
  const found = lookForList(at, length);
  if (found == list) return head.isInList ? unreadable() : pass;
  if (found == error && end) return readData(at, length, true);
  if (found == whole || found == empty) {
    const verdict = readData(at, length, found == empty);
    if (verdict == pass && head.isInList) return unreadable();
    return verdict == hold ? failure(at, length, 0) : verdict;
  }
  if (end) return unreadable();
  head.nextLook = 2 * length;
  passObject(head, at + (head.seen - head.read), to);
  return hold;
}

/** Searches for the end of an object from `seen` on, which stands at `at`. */
function passObject(head: Head, at: usize, to: i32): bool {
  const length = to - head.seen;
  let depth = head.depth;
  let isInText = head.isInText;
  let isEscaped = head.isEscaped;
  let from = 0;
  while (from < length) {
    const byte = load<u8>(at + from++);
    if (isEscaped) isEscaped = false;
    else if (isInText) {
      if (byte == 0x5c) isEscaped = true;
      else if (byte == 0x22) isInText = false;
    } else if (byte == 0x22) isInText = true;
    else if (byte == 0x7b || byte == 0x5b) depth++;
    else if ((byte == 0x7d || byte == 0x5d) && --depth == 0) break;
  }
  head.depth = depth;
  head.isInText = isInText;
  head.isEscaped = isEscaped;
  head.seen += from;
  return depth == 0;
}

/** Looks through the members of an object. Returns `unfinished` if what is there of it does not tell. */
function lookForList(at: usize, length: i32): i32 {
  let depth = 0;
  let from = 0;
  let isFailure = false;
  let isEmpty = false;
  let isText = false;
  let key: usize = 0;
  let keyLength = 0;
  while (from < length) {
    const byte = load<u8>(at + from);
    if (byte == 0x7b || byte == 0x5b) depth++;
    else if (byte == 0x7d || byte == 0x5d) {
      if (--depth == 0) return isEmpty && !isText ? empty : whole;
    } else if (byte == 0x22) {
      const text = at + from + 1;
      const to = endOfText(at, length, from);
      if (to >= length) break;
      const textLength = to - from - 1;
      from = to + 1;
      while (from < length && isBlank(load<u8>(at + from))) from++;
      if (depth != 1) continue;
      if (from < length && load<u8>(at + from) == 0x3a) {
        key = text;
        keyLength = textLength;
        from++;
        while (from < length && isBlank(load<u8>(at + from))) from++;
        if (is(key, keyLength, "error") && isTrue(at + from, length - from)) isFailure = true;
        else if (!isOfFailure(key, keyLength) && from < length && load<u8>(at + from) == 0x5b) {
          if (!isFilledList(at + from, length - from)) isEmpty = true;
          else if (!isFailure) return list;
        }
      } else if (isErrorKind(key, keyLength, text, textLength)) isFailure = true;
      else if (textLength > 0 && !isName(key, keyLength)) isText = true;
      continue;
    }
    from++;
  }
  return isFailure ? error : unfinished;
}

/** Whether a list has something in it: neither null nor an object without members comes first. */
function isFilledList(at: usize, length: i32): bool {
  if (length == 0 || load<u8>(at) != 0x5b) return false;
  let from = skipBlanks(at, length, 1);
  if (from < length && load<u8>(at + from) == 0x7b) {
    from = skipBlanks(at, length, from + 1);
    return from < length && load<u8>(at + from) != 0x7d;
  }
  return from < length && load<u8>(at + from) != 0x5d && load<u8>(at + from) != 0x6e;
}

function skipBlanks(at: usize, length: i32, from: i32): i32 {
  while (from < length && isBlank(load<u8>(at + from))) from++;
  return from;
}

/** Members that a failure can have, or a reply without an answer, and whose lists are none of answers. */
function isOfFailure(key: usize, length: i32): bool {
  return beginsWith(key, length, "error") || beginsWith(key, length, "detail") || isApart(key, length);
}

/** The results of content filters, and what MiniMax says of each reply. */
function isApart(key: usize, length: i32): bool {
  return contains(key, length, "filter") || is(key, length, "base_resp");
}

/** Names of the words of a failure. */
function isMessage(key: usize, length: i32): bool {
  return (
    is(key, length, "message") ||
    is(key, length, "msg") ||
    is(key, length, "error_msg") ||
    is(key, length, "error_message") ||
    is(key, length, "errmsg")
  );
}

function isErrorKind(key: usize, keyLength: i32, value: usize, valueLength: i32): bool {
  return is(value, valueLength, "error") && (is(key, keyLength, "object") || is(key, keyLength, "type"));
}

/** Returns the place of the quote that ends the text which begins at `from`. */
function endOfText(at: usize, length: i32, from: i32): i32 {
  let to = from + 1;
  while (to < length && load<u8>(at + to) != 0x22) to += load<u8>(at + to) == 0x5c ? 2 : 1;
  return to;
}

/** Whether a text begins as the lines of a stream do. */
function isField(at: usize, length: i32): bool {
  return (
    load<u8>(at) == 0x3a ||
    beginsWith(at, length, "data:") ||
    beginsWith(at, length, "event:") ||
    beginsWith(at, length, "id:") ||
    beginsWith(at, length, "retry:")
  );
}

function readEvents(head: Head, to: i32, end: bool): i32 {
  let origin = head.seen;
  let at = take(origin, to);
  while (at != 0) {
    const isWhole = passEvent(head, at + (head.seen - origin), to);
    if (!isWhole && !end) return hold;
    if (head.read < origin) {
      origin = head.read;
      at = take(origin, to);
      if (at == 0) break;
    }
    const verdict = readEvent(at + (head.read - origin), head.seen - head.read);
    if (verdict != hold) return verdict;
    if (!isWhole) return 502;
    head.read = head.seen;
  }
  return pass;
}

/** Searches for the blank line behind an event from `seen` on, which stands at `at`. */
function passEvent(head: Head, at: usize, to: i32): bool {
  const length = to - head.seen;
  let isInLine = head.isInLine;
  let isAfterReturn = head.isAfterReturn;
  let isWhole = false;
  let from = 0;
  while (from < length && !isWhole) {
    const byte = load<u8>(at + from++);
    const isRest = byte == 0x0a && isAfterReturn;
    isAfterReturn = byte == 0x0d;
    if (isRest) continue;
    if (byte != 0x0a && byte != 0x0d) isInLine = true;
    else if (isInLine) isInLine = false;
    else isWhole = true;
  }
  head.isInLine = isInLine;
  head.isAfterReturn = isAfterReturn;
  head.seen += from;
  return isWhole;
}

/** Reads the lines of one event. */
function readEvent(at: usize, length: i32): i32 {
  let isNamedError = false;
  // The data of several lines are joined in place.
  let data: usize = 0;
  let dataLength = 0;
  let from = 0;
  while (from < length) {
    let to = from;
    while (to < length && load<u8>(at + to) != 0x0a && load<u8>(at + to) != 0x0d) to++;
    const line = at + from;
    const bytes = to - from;
    from = to + 1;
    if (beginsWith(line, bytes, "data:")) {
      const blank = bytes > 5 && load<u8>(line + 5) == 0x20 ? 6 : 5;
      if (dataLength == 0) data = line + blank;
      else {
        store<u8>(data + dataLength++, 0x0a);
        memory.copy(data + dataLength, line + blank, bytes - blank);
      }
      dataLength += bytes - blank;
    } else if (beginsWith(line, bytes, "event:")) isNamedError = contains(line, bytes, "error");
  }
  return dataLength == 0 ? hold : readData(data, dataLength, isNamedError);
}

/** Reads the data of one event, or one object. `hold`: it says nothing yet. */
function readData(at: usize, length: i32, isNamedError: bool): i32 {
  let from = 0;
  while (from < length && isBlank(load<u8>(at + from))) from++;
  if (from == length) return hold;
  if (load<u8>(at + from) == 0x5b) {
    let inner = from + 1;
    while (inner < length && isBlank(load<u8>(at + inner))) inner++;
    // The mark of the end of a stream is in brackets; some servers put a failure into a list.
    if (inner == length || load<u8>(at + inner) != 0x7b) return 502;
    from = inner;
  }
  if (is(at + from, length - from, "null") && !isNamedError) return hold;
  if (load<u8>(at + from) != 0x7b) return isNamedError ? failure(at, length, 0) : unreadable();
  const begin = from;
  let depth = 0;
  let status = 0;
  let isError = isNamedError;
  let isBlocked = false;
  let isText = false;
  /** Whether it is an event by which a response begins. */
  let isBegun = false;
  /** Whether words stand at the top that are those of a failure where there is no answer. */
  let isTold = false;
  /** Whether a choice has failed, which matters where nothing was said. */
  let isChoiceError = false;
  /** The depth of the key whose value is no part of an answer. */
  let apart = noDepth;
  let key: usize = 0;
  let keyLength = 0;
  while (from < length) {
    const byte = load<u8>(at + from);
    if (byte == 0x7b || byte == 0x5b) depth++;
    else if (byte == 0x7d || byte == 0x5d) depth--;
    else if (byte == 0x22) {
      const text = at + from + 1;
      const to = endOfText(at, length, from);
      if (to >= length) return pass;
      const textLength = to - from - 1;
      from = to + 1;
      while (from < length && isBlank(load<u8>(at + from))) from++;
      if (from < length && load<u8>(at + from) == 0x3a) {
        key = text;
        keyLength = textLength;
        from++;
        while (from < length && isBlank(load<u8>(at + from))) from++;
        if (depth <= apart) apart = isApart(key, keyLength) ? depth : noDepth;
        if (depth == 1 && is(key, keyLength, "error")) isError = isError || isTrue(at + from, length - from);
        if (depth == 1 && is(key, keyLength, "detail")) isTold = isTold || isTrue(at + from, length - from);
        if (depth == 1 && is(key, keyLength, "errors")) isTold = isTold || isFilledList(at + from, length - from);
        // Gemini names the reason in place of an answer.
        if (depth == 2 && (is(key, keyLength, "blockreason") || is(key, keyLength, "block_reason")))
          isBlocked = isBlocked || isTrue(at + from, length - from);
        if (depth == 2 && apart == 1 && is(key, keyLength, "status_code")) isTold = isTold || isTrue(at + from, length - from);
        // OpenRouter has the failure of a choice within it.
        if (depth == 3 && apart == noDepth && is(key, keyLength, "error") && from < length && load<u8>(at + from) == 0x7b) {
          isChoiceError = true;
          apart = depth;
        }
        if ((depth <= 2 || (isChoiceError && depth == 4)) && isStatusKey(key, keyLength)) status = status || statusAt(at + from, length - from);
      } else {
        if (depth == 1 && isErrorKind(key, keyLength, text, textLength)) isError = true;
        if (depth == 1 && is(key, keyLength, "type")) {
          isBegun = isBeginning(text, textLength);
          isError = isError || is(text, textLength, "response.failed");
        }
        if (depth == 1 && textLength > 0 && isMessage(key, keyLength)) isTold = true;
        // How a choice ended that has failed, `error`, says nothing by itself.
        if (textLength > 0 && apart == noDepth && !isName(key, keyLength) && !is(text, textLength, "error")) isText = true;
      }
      continue;
    }
    from++;
  }
  if (isBlocked) return failure(at, length, 400);
  if (isError || (isChoiceError && !isText) || (isTold && lookForList(at + begin, length - begin) != list)) return failure(at, length, status);
  return isText && !isBegun ? pass : hold;
}

/** Whether an event only repeats the request, before anything is written. */
function isBeginning(type: usize, length: i32): bool {
  return is(type, length, "response.created") || is(type, length, "response.in_progress") || is(type, length, "response.queued");
}

/** Whether a value is one that a failure can have: not null, false, 0 or an empty text. */
function isTrue(at: usize, length: i32): bool {
  if (length < 2) return false;
  const first = load<u8>(at);
  return first != 0x6e && first != 0x66 && first != 0x30 && !(first == 0x22 && load<u8>(at + 1) == 0x22);
}

function isStatusKey(key: usize, length: i32): bool {
  return is(key, length, "code") || is(key, length, "status") || is(key, length, "status_code") || is(key, length, "http_code");
}

/** The status of a failure, as a number or a text; 0 if it is none. */
function statusAt(at: usize, length: i32): i32 {
  const from: usize = length > 0 && load<u8>(at) == 0x22 ? 1 : 0;
  if (length < <i32>from + 4) return 0;
  let status = 0;
  for (let digit: usize = 0; digit < 3; digit++) {
    const byte = load<u8>(at + from + digit);
    if (byte < 0x30 || byte > 0x39) return 0;
    status = status * 10 + (byte - 0x30);
  }
  const next = load<u8>(at + from + 3);
  return status >= 400 && status < 600 && (next < 0x30 || next > 0x39) ? status : 0;
}

/** Names and kinds, which a provider fills in before there is anything of an answer. */
function isName(key: usize, length: i32): bool {
  return (
    is(key, length, "id") ||
    is(key, length, "object") ||
    is(key, length, "model") ||
    is(key, length, "role") ||
    is(key, length, "type") ||
    is(key, length, "created") ||
    is(key, length, "provider") ||
    is(key, length, "service_tier") ||
    is(key, length, "system_fingerprint") ||
    is(key, length, "obfuscation") ||
    is(key, length, "status")
  );
}

/**
 * Returns the status of a failure: that of a refused request for a safety block, else the one that it states, or the one that its words
 * mean. A safety block is about what the client sent, so it must not be tried elsewhere, whatever status it states.
 */
function failure(at: usize, length: i32, stated: i32): i32 {
  wordsAt = at;
  wordsLength = length <= mostWords ? length : shorten(at, length);
  if (__isSafety__) return 400;
  if (stated != 0) return stated;
  if (
    says("rate limit") ||
    says("please wait") ||
    says("per second") ||
    says("per minute") ||
    says("per day") ||
    says("rate_limit") ||
    says("ratelimit") ||
    says("too many requests") ||
    says("too_many_requests") ||
    says("throttl") ||
    says("resource_exhausted") ||
    says("quota")
  )
    return 429;
  if (
    says("context length") ||
    says("context_length") ||
    says("context size") ||
    says("context_size") ||
    says("context window") ||
    says("contextwindow") ||
    says("maximum context") ||
    says("maximum model length") ||
    says("maximum prompt length") ||
    says("input length") ||
    says("input token") ||
    says("prompt token") ||
    says("length of prompt") ||
    says("message token") ||
    says("max tokens allowed") ||
    says("too many tokens") ||
    says("tokens_limit") ||
    says("prompt too long") ||
    says("prompt exceeds") ||
    says("length of the messages") ||
    says("token limit") ||
    says("number of tokens") ||
    says("must have less than") ||
    says("is too long") ||
    says("invalid_request") ||
    says("invalid_argument") ||
    says("badrequest")
  )
    return 400;
  if (says("authentication_error") || says("invalid_api_key")) return 401;
  if (says("permission")) return 403;
  if (says("overloaded") || says("unavailable")) return 503;
  if (says("timeout") || says("timed out")) return 504;
  return 500;
}

/** Takes the middle out of long texts, in place, so that a prompt which a failure quotes leaves room for its codes. Returns the length. */
function shorten(at: usize, length: i32): i32 {
  let to = 0;
  let from = 0;
  while (from < length && to < mostWords) {
    const begin = from;
    from = load<u8>(at + from) == 0x22 ? min(endOfText(at, length, from) + 1, length) : from + 1;
    let cut = from;
    let tail = from;
    if (from - begin > mostText) {
      cut = begin;
      while (cut < begin + mostText / 2) cut = nextLetter(at, cut);
      tail = cut;
      while (tail < from - mostText / 2) tail = nextLetter(at, tail);
    }
    memory.copy(at + to, at + begin, cut - begin);
    to += cut - begin;
    memory.copy(at + to, at + tail, from - tail);
    to += from - tail;
  }
  return min(to, mostWords);
}

/** Returns the place behind a letter, which may be escaped, or take several bytes. */
function nextLetter(at: usize, from: i32): i32 {
  const byte = load<u8>(at + from);
  let to = from + (byte != 0x5c ? 1 : load<u8>(at + from + 1) == 0x75 ? 6 : 2);
  while ((load<u8>(at + to) & 0xc0) == 0x80) to++;
  return to;
}

/** Whether a text in lower case is among the words of the failure. */
function says(text: string): bool {
  return contains(wordsAt, wordsLength, text);
}

function isLetter(byte: u8): bool {
  return (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

function isBlank(byte: u8): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

function is(at: usize, length: i32, text: string): bool {
  return length == text.length && beginsWith(at, length, text);
}

/** Whether bytes begin with a text in lower case, whatever their own case. */
function beginsWith(at: usize, length: i32, text: string): bool {
  if (length < text.length) return false;
  for (let index = 0; index < text.length; index++) {
    const byte = load<u8>(at + index);
    if ((byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte) != text.charCodeAt(index)) return false;
  }
  return true;
}

function contains(at: usize, length: i32, text: string): bool {
  for (let from = 0; from <= length - text.length; from++) if (beginsWith(at + from, length - from, text)) return true;
  return false;
}
