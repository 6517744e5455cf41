package definition

import (
	"context"
	"slices"
	"strings"
)

const (
	// searchStep is how many definitions are read at a time for a search, searchMost how many one request looks at.
	searchStep = 1000
	searchMost = 20_000
)

// Search reads a page of definitions that are one of those that are searched for, behind a name and in the order of these; next is the cursor of the next page.
// What is searched for has no index: definitions are few beside checks.
func Search[T any](ctx context.Context, behind string, most int, narrowed bool, is func(T) bool, name func(T) string, read func(after string, limit int) ([]T, error)) (found []T, next string, err error) {
	if !narrowed {
		if found, err = read(behind, most+1); err != nil || len(found) <= most {
			return found, "", err
		}
		return found[:most], name(found[most-1]), nil
	}
	after := behind
	for range searchMost / searchStep {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		some, err := read(after, searchStep)
		if err != nil || len(some) == 0 {
			return found, "", err
		}
		for _, one := range some {
			if is(one) {
				if found = append(found, one); len(found) > most {
					return found[:most], name(found[most-1]), nil
				}
			}
		}
		if len(some) < searchStep {
			return found, "", nil
		}
		after = name(some[len(some)-1])
	}
	return found, after, nil
}

// HasText says whether one of some texts has another in it.
func HasText(text string, of ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(of, func(one string) bool { return strings.Contains(strings.ToLower(one), text) })
}
