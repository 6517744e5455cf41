package checks

import (
	"fmt"
	"time"

	"prescient/cmd/internal/exit"
	"prescient/config/value"
)

const spreadUsage = "due somewhere between its time and so much later, such as 30m; always at the same place for the same check"

// parseSpread reads the length of --spread; empty is none.
func parseSpread(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	length, err := value.ParseDuration(text)
	if err == nil && length < 0 {
		err = fmt.Errorf("duration %q is negative", text)
	}
	if err != nil {
		return 0, exit.Usage(fmt.Errorf("--spread: %w; want a duration such as 90s, 3h, 1d12h", err))
	}
	return length, nil
}
