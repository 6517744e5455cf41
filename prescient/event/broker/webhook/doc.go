// Package webhook posts events to a URL, signed as Standard Webhooks says.
//
// {topic} in the path of the URL becomes the topic, escaped. User and password are sent as basic authorization. Headers are
//
//   - Idempotency-Key, webhook-id: the id
//   - webhook-timestamp: the time of sending, in seconds since 1970
//   - webhook-signature: v1, and the HMAC-SHA256 of id, timestamp and body, where Options.Secret is set: as it is, or the base64 behind
//     whsec_
//
// 2xx acknowledges the event: a receiver answers that once its own transaction has committed, with an INSERT of the id in it.
//
//   - 3xx refuses it for good, and so does 4xx, but for 401, 403, 407, 408, 425 and 429; no redirect is followed.
//   - All else, and no answer within 10 s, is tried up to three times within Publish, with jitter, and later again.
//   - A Retry-After holds for all that goes to the same path: one of 10 s at most is waited for; during a longer one, an hour at most, Publish
//     returns an error at once.
//   - A host that gives no answer five times in a row gets no call for 5 s, then one. Any answer opens the way.
package webhook
