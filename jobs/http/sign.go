package http

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Headers that every call has; SignatureHeader where a secret is configured.
const (
	JobExecHeader        = "X-Prescient-Job-Exec"
	SignatureHeader      = "X-Prescient-Signature"
	IdempotencyKeyHeader = "Idempotency-Key"
)

// The members of a signature: the time of the call, and the first version of how it is made.
const (
	memberTime = "t"
	memberV1   = "v1"
)

// Tolerance is by how much a receiver's clock may differ from the time in a signature, unless it knows better: the clocks of
// two machines, and the time that a call is on its way.
const Tolerance = 5 * time.Minute

// Sign returns what stands in SignatureHeader of a call that is made at a time: "t=", the time in seconds since 1970, ",v1="
// and, in lower-case hexadecimal, the HMAC-SHA256 of these seconds, a point and the body.
func Sign(secret, body []byte, at time.Time) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	return memberTime + "=" + seconds + "," + memberV1 + "=" + hex.EncodeToString(sum(secret, body, seconds))
}

// Verify reports whether a signature, as it stands in SignatureHeader, was made of this body with this secret, at a time that
// differs from now by the tolerance at most. It is for receivers written in Go; it takes the same time for every signature
// that is in time. Members that it does not know are left alone. An empty secret verifies nothing.
func Verify(secret, body []byte, signature string, now time.Time, tolerance time.Duration) bool {
	var seconds, digits string
	for member := range strings.SplitSeq(signature, ",") {
		switch name, value, _ := strings.Cut(member, "="); {
		case name == memberTime && seconds == "":
			seconds = value
		case name == memberV1 && digits == "":
			digits = value
		case name == memberTime, name == memberV1:
			return false // twice: which one counts?
		}
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || len(secret) == 0 || now.Sub(time.Unix(at, 0)).Abs() > tolerance {
		return false
	}
	given, err := hex.DecodeString(digits)
	return err == nil && hmac.Equal(given, sum(secret, body, seconds))
}

func sum(secret, body []byte, seconds string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return mac.Sum(nil)
}
