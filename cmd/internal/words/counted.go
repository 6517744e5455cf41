package words

import "fmt"

// Counted is a number and what of: 1 row, 5 rows.
func Counted[T int | int64 | uint64](n T, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + more
}
