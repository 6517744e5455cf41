package http

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Headers that every call has; SignatureHeader where a secret is configured.
const (
	JobExecHeader        = "X-Prescient-Job-Exec"
	SignatureHeader      = "X-Prescient-Signature"
	IdempotencyKeyHeader = "Idempotency-Key"
)

const signaturePrefix = "sha256="

// Sign returns what stands in SignatureHeader: "sha256=" and the HMAC-SHA256 of the body in lower-case hexadecimal.
func Sign(secret, body []byte) string {
	return signaturePrefix + hex.EncodeToString(sum(secret, body))
}

// Verify reports whether a signature, as it stands in SignatureHeader, was made of this body with this secret. It is
// for receivers written in Go; it takes the same time for every signature. An empty secret verifies nothing.
func Verify(secret, body []byte, signature string) bool {
	digits, ok := strings.CutPrefix(signature, signaturePrefix)
	if !ok || len(secret) == 0 {
		return false
	}
	given, err := hex.DecodeString(digits)
	return err == nil && hmac.Equal(given, sum(secret, body))
}

func sum(secret, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return mac.Sum(nil)
}
