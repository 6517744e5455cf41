package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
)

// What Vitess does not pass on is asked for in smaller parts, and a row that is too long by itself comes without its payload: no row stops a bucket.
func TestWhatIsTooLargeForAnAnswerIsAskedForInParts(t *testing.T) {
	const most = 100
	too := &mysql.MySQLError{Number: errno.AnswerTooLarge}
	for _, test := range []struct {
		what  string
		sizes []int // of the rows' texts
		limit int
		rows  int // that come at once
		asked []int
	}{
		{"all go into one", []int{20, 20, 20}, 1000, 3, []int{1000}},
		{"a part of them", []int{40, 40, 40, 40}, 8, 2, []int{8, 2}},
		{"one", []int{90, 90}, 8, 1, []int{8, 2, 1}},
		{"none, but without its payload", []int{101, 1}, 4, 1, []int{4, 1, 1}},
		{"the limit is one", []int{101}, 1, 1, []int{1, 1}},
	} {
		var asked []int
		came := 0
		_, err := Answered(test.limit, func(rows, longest int) error {
			asked = append(asked, rows)
			all := 0
			came = min(rows, len(test.sizes))
			for _, size := range test.sizes[:came] {
				if size <= longest {
					all += size
				}
			}
			if all > most {
				return too
			}
			return nil
		})
		if err != nil || came != test.rows || !slices.Equal(asked, test.asked) {
			t.Errorf("%s: %d rows of %v, %v; want %d of %v", test.what, came, asked, err, test.rows, test.asked)
		}
	}
	refused, times := errors.New("refused"), 0
	for _, err := range []error{refused, too} { // also where nothing helps
		if _, got := Answered(1000, func(_, longest int) error {
			times++
			if longest != 0 && longest != prescient.MaxRead {
				t.Errorf("payloads of %d", longest)
			}
			return err
		}); !errors.Is(got, err) {
			t.Errorf("%v; want %v", got, err)
		}
	}
	if times > 10 {
		t.Errorf("it asked %d times", times)
	}
}
