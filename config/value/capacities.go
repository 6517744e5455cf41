package value

import (
	"errors"
	"fmt"
	"strings"
)

// Capacities is a number for each of some names, such as heavy=4,eu=2. An empty text is none.
func Capacities(into *map[string]int, most int) Parser {
	return func(text string) error {
		all := make(map[string]int)
		for item := range strings.SplitSeq(text, ",") {
			name, number, is := strings.Cut(strings.TrimSpace(item), "=")
			if !is {
				return fmt.Errorf("%s is no name and number; want some such as heavy=4,eu=2", Quote(item))
			}
			if err := Identifier(&name)(strings.TrimSpace(name)); err != nil {
				return fmt.Errorf("a name: %w", err)
			}
			if _, again := all[name]; again {
				return fmt.Errorf("%s is given twice", Quote(name))
			}
			var n int
			if err := Number(&n, 1, most)(strings.TrimSpace(number)); err != nil {
				return Named(Quote(name), err)
			}
			all[name] = n
		}
		*into = all
		return nil
	}
}

// ErrNotAPair is the error of a name or a number that Capacities would read as more than one.
var ErrNotAPair = errors.New("it has = or a comma, which are not allowed")

// Pair returns a name and its number as Capacities reads them. Its error is ErrNotAPair.
func Pair(name, number string) (string, error) {
	if strings.ContainsAny(name+number, "=,") {
		return "", ErrNotAPair
	}
	return name + "=" + number, nil
}
