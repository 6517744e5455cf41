// Package webhook posts events to a URL, signed as Standard Webhooks says.
//
// The URL is http:// or https://, with what path and query the receiver wants. {topic} in its path becomes the topic, escaped. User
// and password in it are sent as basic authorization.
//
// # What is sent
//
// The body of the message, with its headers, its Content-Type where it is known, and
//
//   - Idempotency-Key and webhook-id: the message's id, as broker.Printable has it
//   - webhook-timestamp: when it is sent, in seconds since 1970
//   - webhook-signature: v1, and the HMAC-SHA256 of id, timestamp and body, where Options.Secret is set
//
// The secret is taken as it is, or is the base64 behind whsec_, as https://www.standardwebhooks.com writes it. The key goes in the
// header Prescient-Key, or where the format of the route has it.
//
// # What an acknowledgement is worth
//
// What the receiver makes of it. The event is deleted after a 2xx, so a receiver answers that once its own transaction has committed, with an INSERT
// of the id in it, and not when it has put the event into memory. The tests' receiver answers after it has kept the event.
//
// # What becomes of it
//
//   - 2xx acknowledges it.
//   - 408, 425, 429, 5xx, no answer within 10 s and a network that fails: tried again, up to three times within Publish, with
//     jitter. So are 401, 403 and 407: a credential that was changed is no fault of the event. A Retry-After holds for all that goes to
//     the same path: it is waited for where it is 10 s at most and the context leaves the time. Where it is longer there is no call
//     until it is over, but for an hour at most: Publish returns an error at once.
//   - 3xx refuses it for good: a redirect is not followed.
//   - Any other 4xx refuses it for good.
//
// A host that gives no answer five times in a row gets no call for 5 s: Publish returns an error at once. Then one call goes
// through, and any answer opens the way for the others. Without one it is shut for another 5 s.
package webhook
