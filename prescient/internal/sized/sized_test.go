package sized

import (
	"fmt"
	"strings"
	"testing"
)

type row int

func (r row) Cursor() string { return fmt.Sprint(int(r)) }

func TestRowsAreReadFewAtATimeWhereTheyAreLong(t *testing.T) {
	for name, test := range map[string]struct {
		each, limit, there int
		short              bool
		asked              string
		rows               int
		full               bool
	}{
		"short ones twice as many each time": {100, 101, 1000, false, "10 20 40 31", 101, false},
		"all at once where all are short":    {100, 101, 1000, true, "101", 101, false},
		"fewer than are wanted":              {100, 101, 25, false, "10 20", 25, false},
		"long ones until the page is full":   {Bytes / 16, 101, 1000, false, "10 6", 16, true},
		"one that is longer than the page":   {2 * Bytes, 101, 1000, false, "10", 10, true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			rows, full, err := Rows("", test.limit, test.short, func(row) int { return test.each }, func(after string, limit int) (some []row, _ error) {
				asked = append(asked, fmt.Sprint(limit))
				last := 0
				fmt.Sscan(after, &last)
				for i := last + 1; i <= test.there && len(some) < limit; i++ {
					some = append(some, row(i))
				}
				return some, nil
			})
			if got := strings.Join(asked, " "); err != nil || got != test.asked || len(rows) != test.rows || full != test.full {
				t.Errorf("asked for %s; %d rows, full %v, %v", got, len(rows), full, err)
			}
			for i, r := range rows {
				if int(r) != i+1 {
					t.Fatalf("row %d is %d", i, r)
				}
			}
		})
	}
}
