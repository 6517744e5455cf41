package events

import (
	"errors"
	"strconv"
	"testing"

	"prescient/prescient"
	"prescient/prescient/ops"
)

func TestNumbersOfEventsAreRead(t *testing.T) {
	many := make([]string, mostChosen+1)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	for _, wrong := range [][]string{nil, {"x"}, {"7", ""}, {"-1"}, {"18446744073709551616"}, many} {
		if _, err := numbers(wrong); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%d of %.5v: %v", len(wrong), wrong, err)
		}
	}
	got, err := numbers([]string{"9", "7", "9"})
	if err != nil || len(got) != 2 || got[0] != 7 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestTheChosenAreFoundAmongOthers(t *testing.T) {
	rows := []ops.EventSetAside{{Number: 7}, {Number: 8}, {Number: 9}}
	for _, test := range []struct {
		chosen []uint64
		next   string
		found  int
		sure   bool
	}{{[]uint64{7, 9}, "9", 2, true}, {[]uint64{7, 10}, "9", 1, false}, {[]uint64{7, 10}, "", 1, true}, {[]uint64{6}, "9", 0, true}} {
		is := among(test.chosen, ops.Page[ops.EventSetAside]{Rows: rows, Next: test.next})
		if len(is.Events) != test.found || is.Sure != test.sure || is.Gone() != len(test.chosen)-test.found {
			t.Errorf("%+v: %+v", test, is)
		}
	}
}
