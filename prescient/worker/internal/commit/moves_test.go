package commit

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"prescient/prescient/internal/literal"
	"prescient/prescient/worker/internal/check"
)

func TestMovesAreDividedByTheirSize(t *testing.T) {
	short, long := new(check.Answered), new(check.Answered)
	long.Verdict.Reason = strings.Repeat("x", literal.BulkBytes/2)
	for _, c := range []struct {
		moves []*check.Answered
		want  int
	}{
		{[]*check.Answered{short}, 1},
		{slices.Repeat([]*check.Answered{short}, 4000), 4000},
		{[]*check.Answered{long, long, short}, 2},
		{[]*check.Answered{short, long, long, short}, 3},
	} {
		list, n := MovesJSON(c.moves)
		var said [][]any
		if err := json.Unmarshal([]byte(list), &said); err != nil || n != c.want || len(said) != n {
			t.Errorf("of %d moves %d are said to be in the list, and %d are, %v; want %d", len(c.moves), n, len(said), err, c.want)
		}
	}
}
