// Package webhook posts events to a URL, signed as Standard Webhooks says.
//
// {topic} in the URL's path becomes the topic, escaped; user and password are sent as basic authorization. Headers are
//
//   - Idempotency-Key, webhook-id: the id
//   - webhook-timestamp: seconds since 1970
//   - webhook-signature: v1, and the HMAC-SHA256 of id, timestamp and body by Options.Secret: as it is, or base64 behind whsec_
//
// 2xx acknowledges: a receiver answers so once its transaction, with an INSERT of the id, has committed. 3xx and 4xx refuse for good, but for
// 401, 403, 407, 408, 425 and 429; no redirect is followed. All else, and no answer within 10 s, has up to three tries within Publish, with
// jitter.
//
// A Retry-After holds for the path: one of 10 s at most is waited for; during a longer one, an hour at most, Publish returns an error at once. A host
// that gives no answer five times in a row gets no call for 5 s, then one; any answer opens the way.
package webhook
