package checks

import (
	"fmt"
	"time"

	"prescient/cmd/internal/exit"
	"prescient/config/value"
)

const expiresUsage = "not called any more so long after it is due, such as 1h: it ends as expired (default never)"

// parseExpires reads the length of --expires; empty is never.
func parseExpires(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	length, err := value.ParseDuration(text)
	if err == nil && length <= 0 {
		err = fmt.Errorf("duration %q is not positive", text)
	}
	if err != nil {
		return 0, exit.Usage(fmt.Errorf("--expires: %w; want a duration such as 90s, 3h, 1d12h", err))
	}
	return length, nil
}
