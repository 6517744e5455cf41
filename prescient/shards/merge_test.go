package shards

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// place is a row that has nothing but a cursor.
type place string

func (p place) Cursor() string { return string(p) }

func places(text string) (rows []place) {
	for _, cursor := range strings.Fields(text) {
		rows = append(rows, place(cursor))
	}
	return rows
}

func TestPagesOfShardsAreMergedByTheirCursors(t *testing.T) {
	for name, c := range map[string]struct {
		pages         string // those of shards, and behind a bar as far as it looked
		latestFirst   bool
		limit         int
		rows, reached string
	}{
		"in their order":                {"b d; a c e", false, 9, "a b c d e", ""},
		"the latest first":              {"d b; e c a", true, 9, "e d c b a", ""},
		"as many as were asked for":     {"b d; a c", false, 3, "a b c", ""},
		"a shard has none":              {"b;; a", false, 9, "a b", ""},
		"as far as both have looked":    {"b d|d; a c e", false, 9, "a b c d", "d"},
		"as far as the first looked":    {"b|f; a|c", false, 9, "a b", "c"},
		"the latest first, as far":      {"d|b; e c a", true, 9, "e d c", "b"},
		"enough before it":              {"b d|d; a c e", false, 2, "a b", ""},
		"nothing within what was seen":  {"|a; b", false, 9, "", "a"},
		"of one shard in its own order": {"a/9 a/10; b", false, 9, "a/9 a/10 b", ""},
	} {
		var pages []Page[place]
		for text := range strings.SplitSeq(c.pages, ";") {
			rows, reached, _ := strings.Cut(text, "|")
			pages = append(pages, Page[place]{places(rows), strings.TrimSpace(reached)})
		}
		rows, reached := Merge(pages, c.latestFirst, c.limit)
		if !slices.Equal(rows, places(c.rows)) || reached != c.reached {
			t.Errorf("%s: %q as far as %q; want %s as far as %q", name, rows, reached, c.rows, c.reached)
		}
	}
}

// However shards have looked, whoever goes on from page to page comes to each row once, in the order of all.
func TestPagesThatAreMergedLeaveNothingOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		shards := make([][]place, 1+random.IntN(4))
		var all []place
		for i := range random.IntN(40) {
			row := place(fmt.Sprintf("%03d", i))
			all = append(all, row)
			shard := random.IntN(len(shards))
			shards[shard] = append(shards[shard], row)
		}
		limit := 1 + random.IntN(9)
		var got []place
		for after, turns := "", 0; ; turns++ {
			pages := make([]Page[place], len(shards))
			for i, rows := range shards {
				for _, row := range rows {
					switch page := &pages[i]; {
					case row.Cursor() <= after || len(page.Rows) == limit || page.Reached != "":
					case random.IntN(8) == 0: // here its search ends: the row was looked at and does not match, but is the last
						page.Rows, page.Reached = append(page.Rows, row), row.Cursor()
					default:
						page.Rows = append(page.Rows, row)
					}
				}
			}
			rows, reached := Merge(pages, false, limit)
			got = append(got, rows...)
			switch {
			case turns > 200:
				t.Fatalf("it does not come to an end behind %q", after)
			case reached != "":
				after = reached
			case len(rows) == limit:
				after = rows[len(rows)-1].Cursor()
			default:
				if !slices.Equal(got, all) {
					t.Fatalf("of %v, %d at a time, it came to %v", shards, limit, got)
				}
			}
			if reached == "" && len(rows) < limit {
				break
			}
		}
	}
}
