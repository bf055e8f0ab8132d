/*
 * A filter in front of the sidecar's that ends a reply in order whose provider does not. The sidecar says so with the last bytes that the
 * client gets (metadata gw.over). If the provider has not ended its reply some time later, the filter ends it as the router would: the end
 * takes its way through all filters, the sidecar's included, and then Envoy drops the provider's connection. No filter that Envoy ships
 * can do that, nor can the sidecar, Lua or WebAssembly.
 *
 * Invariants: no byte is changed, held or lost. A reply that comes to its end before costs one look-up for each piece, and a place in the
 * queue. Envoy lets a filter see nothing behind an end, so what the provider sends meanwhile cannot follow it.
 *
 * Envoy's interface of dynamic modules (version 0.2.0, Envoy 1.40) is in C, and declared here as far as it is used. Another version need
 * not load this: the stack and the image pair it with theirs.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  const char *bytes;
  size_t length;
} text;
typedef const void *headers;
/** Envoy's side of a filter. */
typedef void *host;

bool envoy_dynamic_module_callback_http_get_metadata_bool(host, int source, text namespace, text key, bool *value);
void envoy_dynamic_module_callback_http_send_response_data(host, text data, bool end);
void *envoy_dynamic_module_callback_http_filter_scheduler_new(host);
void envoy_dynamic_module_callback_http_filter_scheduler_commit(void *scheduler, uint64_t event);
void envoy_dynamic_module_callback_http_filter_scheduler_delete(void *scheduler);

enum { go_on = 0, dynamic_metadata = 0 };
static const text gw = {"gw", 2};
static const text over = {"over", 4};
static const text nothing = {"", 0};

typedef struct reply {
  struct reply *before, *next;
  /** Set once the reply is over; it calls the filter in its own thread. */
  void *scheduler;
  bool is_queued;
  /** The end has passed the filter, or was made here: a client that reads slowly keeps the reply alive behind it. */
  bool has_ended;
  struct timespec due;
} reply;

/** All wait for the same time, so the first one is always due first. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t is_filled;
  reply *first, *last;
  bool is_watched;
  /** Whether the thread waits for a reply, and not for the time of one. */
  bool is_idle;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};
static long patience_ms;

static void leave_queue(reply *self) {
  if (!self->is_queued) return;
  if (self->before) self->before->next = self->next;
  else queue.first = self->next;
  if (self->next) self->next->before = self->before;
  else queue.last = self->before;
  self->is_queued = false;
}

static bool is_before(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/** The timer of the module, for Envoy offers filters none. */
static void *watch(void *unused) {
  (void)unused;
  pthread_mutex_lock(&queue.lock);
  while (true) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    while (queue.first && !is_before(now, queue.first->due)) {
      reply *late = queue.first;
      leave_queue(late);
      // The reply cannot go away meanwhile: it has to take the lock for that.
      envoy_dynamic_module_callback_http_filter_scheduler_commit(late->scheduler, 0);
    }
    queue.is_idle = queue.first == NULL;
    if (queue.is_idle) pthread_cond_wait(&queue.is_filled, &queue.lock);
    else {
      struct timespec due = queue.first->due;
      pthread_cond_timedwait(&queue.is_filled, &queue.lock, &due);
    }
  }
  return NULL;
}

/** Returns whether there is a thread that looks after the queue. Without one a reply ends when its provider says so. */
static bool is_watched(void) {
  if (queue.is_watched) return true;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&queue.is_filled, &monotonic);
  pthread_t thread;
  queue.is_watched = pthread_create(&thread, NULL, watch, NULL) == 0;
  if (queue.is_watched) pthread_detach(thread);
  return queue.is_watched;
}

static void enter_queue(reply *self) {
  clock_gettime(CLOCK_MONOTONIC, &self->due);
  self->due.tv_nsec += patience_ms % 1000 * 1000000;
  self->due.tv_sec += patience_ms / 1000 + self->due.tv_nsec / 1000000000;
  self->due.tv_nsec %= 1000000000;
  pthread_mutex_lock(&queue.lock);
  if (is_watched()) {
    self->before = queue.last;
    if (queue.last) queue.last->next = self;
    else queue.first = self;
    queue.last = self;
    self->is_queued = true;
    if (queue.is_idle) pthread_cond_signal(&queue.is_filled);
  }
  pthread_mutex_unlock(&queue.lock);
}

const char *envoy_dynamic_module_on_program_init(void) { return "v0.2.0"; }

/** The configuration is the patience in milliseconds. */
const void *envoy_dynamic_module_on_http_filter_config_new(host host, text name, text value) {
  (void)host, (void)name;
  char digits[16] = {0};
  if (value.length >= sizeof digits) return NULL;
  memcpy(digits, value.bytes, value.length);
  patience_ms = strtol(digits, NULL, 10);
  return patience_ms > 0 ? &patience_ms : NULL;
}
void envoy_dynamic_module_on_http_filter_config_destroy(const void *config) { (void)config; }

const void *envoy_dynamic_module_on_http_filter_new(const void *config, host host) {
  (void)config, (void)host;
  return calloc(1, sizeof(reply));
}

int envoy_dynamic_module_on_http_filter_response_body(host host, const void *filter, bool end) {
  reply *self = (reply *)filter;
  bool is_over = false;
  if (end) self->has_ended = true;
  if (end || self->scheduler) return go_on;
  envoy_dynamic_module_callback_http_get_metadata_bool(host, dynamic_metadata, gw, over, &is_over);
  if (!is_over) return go_on;
  self->scheduler = envoy_dynamic_module_callback_http_filter_scheduler_new(host);
  enter_queue(self);
  return go_on;
}

int envoy_dynamic_module_on_http_filter_response_trailers(host host, const void *filter) {
  (void)host;
  ((reply *)filter)->has_ended = true;
  return go_on;
}

void envoy_dynamic_module_on_http_filter_scheduled(host host, const void *filter, uint64_t event) {
  (void)event;
  reply *self = (reply *)filter;
  if (self->has_ended) return;
  self->has_ended = true;
  envoy_dynamic_module_callback_http_send_response_data(host, nothing, true);
}

void envoy_dynamic_module_on_http_filter_destroy(const void *filter) {
  reply *self = (reply *)filter;
  if (self->scheduler) {
    pthread_mutex_lock(&queue.lock);
    leave_queue(self);
    pthread_mutex_unlock(&queue.lock);
    envoy_dynamic_module_callback_http_filter_scheduler_delete(self->scheduler);
  }
  free(self);
}

// Envoy loads a module only with all of a filter's functions. Those below do nothing with what they are given.
#define LETS_PASS(name) \
  int envoy_dynamic_module_on_http_filter_##name(void) { return go_on; }
#define IGNORES(name) \
  void envoy_dynamic_module_on_http_filter_##name(void) {}
LETS_PASS(request_headers)
LETS_PASS(request_body)
LETS_PASS(request_trailers)
LETS_PASS(response_headers)
LETS_PASS(local_reply)
IGNORES(stream_complete)
IGNORES(http_callout_done)
IGNORES(http_stream_headers)
IGNORES(http_stream_data)
IGNORES(http_stream_trailers)
IGNORES(http_stream_complete)
IGNORES(http_stream_reset)
IGNORES(config_scheduled)
IGNORES(config_http_callout_done)
IGNORES(config_http_stream_headers)
IGNORES(config_http_stream_data)
IGNORES(config_http_stream_trailers)
IGNORES(config_http_stream_complete)
IGNORES(config_http_stream_reset)
IGNORES(downstream_above_write_buffer_high_watermark)
IGNORES(downstream_below_write_buffer_low_watermark)
