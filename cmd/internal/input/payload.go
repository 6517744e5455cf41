package input

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"prescient/prescient"
)

// Payload reads a payload from the flag itself, from stdin or from a file; nil where there is none.
func Payload(ctx context.Context, text string, stdin io.Reader) (json.RawMessage, error) {
	name, isFile := strings.CutPrefix(text, "@")
	switch {
	case text == "":
		return nil, nil
	case text != Stdin && !isFile:
		return json.RawMessage(text), nil
	}
	payload, err := ReadAll(ctx, name, stdin, prescient.MaxPayload)
	if payload == nil {
		payload = []byte{} // an empty file is refused, which no payload is not
	}
	return payload, err
}
