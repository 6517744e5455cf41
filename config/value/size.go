package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of a size, by how they end.
var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

// Size is a number of bytes, such as 512MiB or 2GiB, of at least some; 0 is written into the place as none.
func Size(into *int64, least, none int64) Parser {
	return func(text string) error {
		number, unit := text, int64(1)
		for _, u := range units {
			if before, found := strings.CutSuffix(text, u.name); found {
				number, unit = before, u.bytes
			}
		}
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 63)
		switch {
		case err != nil:
			return fmt.Errorf("%s is no size; want one such as 512MiB or 2GiB (KiB, MiB, GiB, TiB, or bytes)", Quote(text))
		case n == 0:
			*into = none
			return nil
		case int64(n) > math.MaxInt64/unit || int64(n)*unit < least:
			return &RangeError{text, fmt.Sprintf("at least %dMiB are allowed, and 0 for no bound", least>>20)}
		}
		*into = int64(n) * unit
		return nil
	}
}
