package ops

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/client"
)

// row is one of an export that is not there.
type row struct{}

func (row) Cursor() string { return "x" }

func TestAnExportThatSearchesLeavesHalfOfTheTime(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{2 * time.Second: 4 * time.Second, time.Millisecond: time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			e := Export[struct{}, row]{Info: Info{Role: Viewer, Within: time.Minute}, bytes: func(row) int { return 1 },
				read: func(context.Context, asked, struct{}, string, int) ([]row, error) {
					time.Sleep(took)
					return nil, &client.SearchedError{After: "x"}
				}}
			chunks, err := Begin(t.Context(), e, &Ops{}, Caller{Role: Viewer}, struct{}{})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				began := time.Now()
				if _, err := chunks.Next(t.Context()); err != nil || time.Since(began) != want {
					t.Errorf("a chunk that took %s: the next after %s, not %s (%v)", took, time.Since(began), want, err)
				}
			}
		})
	}
}
