package recurring

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
)

func TestManyAreSwitchedSomeAtATime(t *testing.T) {
	names := strings.Split("abcdefg", "")
	for _, test := range []struct {
		what   string
		wrong  string // the part that goes wrong
		refuse bool
		did    string
		n      int
		says   string
	}{
		{"all", "", false, "k:abc k.2:def k.3:g", 7, ""},
		{"none but the first part", "def", false, "k:abc k.2:def", 3, "it was done to 3, and then to no more: away"},
		{"none", "abc", false, "k:abc", 0, "away"},
		{"all are refused", "", true, "k:abc k.2:def k.3:g", 0, "no more occurrences"},
	} {
		var did []string
		n, err := inParts(ops.Caller{Key: "k"}, names, 3, func(by ops.Caller, part []string) (definition.Switched, error) {
			all := strings.Join(part, "")
			did = append(did, by.Key+":"+all)
			switch {
			case all == test.wrong:
				return definition.Switched{}, errors.New("away")
			case test.refuse:
				return definition.Switched{Refused: []definition.Refusal{{Name: part[0], Reason: "no more occurrences"}}}, nil
			}
			return definition.Switched{Changed: len(part)}, nil
		})
		if got := strings.Join(did, " "); got != test.did || n != test.n || !strings.Contains(fmt.Sprint(err), test.says) || (err == nil) != (test.says == "") {
			t.Errorf("%s: %s; %d, %v", test.what, got, n, err)
		}
		if test.refuse && !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
	}
}
