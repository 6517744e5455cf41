package shards

import "slices"

// Page is what one shard has of a list, in the order of the list.
type Page[R interface{ Cursor() string }] struct {
	Rows []R
	// Reached is the cursor as far as rows were looked for, where that was not to the end of the page; empty otherwise.
	Reached string
}

// Merge makes one page of those of some shards, none of which has rows of another's keys: as many rows as limit says at most, in the order of their
// cursors or, of a list with the latest first, against it. Where a shard has not looked far enough for that, rows behind the place are left out, and
// reached is its cursor.
func Merge[R interface{ Cursor() string }](pages []Page[R], latestFirst bool, limit int) (rows []R, reached string) {
	before := func(a, b string) bool { return a < b } // a cursor is of fixed width as far as a key
	if latestFirst {
		before = func(a, b string) bool { return a > b }
	}
	left := slices.Clone(pages)
	for _, page := range pages {
		if page.Reached != "" && (reached == "" || before(page.Reached, reached)) {
			reached = page.Reached
		}
	}
	for len(rows) < limit {
		next := -1
		for i, page := range left {
			if len(page.Rows) > 0 && (next < 0 || before(page.Rows[0].Cursor(), left[next].Rows[0].Cursor())) {
				next = i
			}
		}
		if next < 0 || reached != "" && before(reached, left[next].Rows[0].Cursor()) {
			return rows, reached
		}
		rows = append(rows, left[next].Rows[0])
		left[next].Rows = left[next].Rows[1:]
	}
	return rows, ""
}
