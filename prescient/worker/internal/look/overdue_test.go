package look

import (
	"testing"
	"time"
)

func TestSlotsBeyondAPageAreAsCloseAsItsOwn(t *testing.T) {
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	page := func(n int, distance time.Duration) (list []time.Time) {
		for i := range n {
			list = append(list, first.Add(time.Duration(i)*distance))
		}
		return list
	}
	for _, test := range []struct {
		name   string
		page   []time.Time
		before time.Time
		want   int
	}{
		{"nothing is overdue", nil, first, 0},
		{"the page is not full", page(Page-1, time.Minute), first.Add(time.Hour * 24), 0},
		{"a day of minutes", page(Page, time.Minute), first.Add(24 * time.Hour), 24*60 - (Page - 1)},
		{"one of ten minutes has rows", page(Page, 10*time.Minute), first.Add(24 * time.Hour), 24*6 - (Page - 1)},
		{"the page has all of them", page(Page, time.Second), first.Add((Page - 1) * time.Second), 0},
	} {
		if got := beyond(test.page, test.before); got != test.want {
			t.Errorf("%s: %d; want %d", test.name, got, test.want)
		}
	}
}
