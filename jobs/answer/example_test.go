package answer_test

import (
	"fmt"
	"time"

	"prescient/jobs/answer"
)

// A receiver of one's own, over whatever carries text: it answers as those of jobs/http do.
func ExampleParse() {
	now := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	for _, text := range []string{`null`, `{"next_in": "2h"}`, `{"next": "2h"}`} {
		next, err := answer.Parse([]byte(text), now)
		switch {
		case err != nil:
			fmt.Println("an error:", err)
		case next == nil:
			fmt.Println("settled")
		default:
			fmt.Println("again at", next.Format(time.RFC3339))
		}
	}
	// Output:
	// settled
	// again at 2026-03-01T15:00:00Z
	// an error: the unknown key "next": want null, {"next_check_at": "<RFC 3339>"} or {"next_in": "2h"}
}
