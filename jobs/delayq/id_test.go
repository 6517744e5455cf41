package delayq

import (
	"regexp"
	"slices"
	"testing"
	"time"
)

func TestAnIDIsAUUIDOfVersion7(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	at := time.UnixMilli(0x0123456789ab)
	for below, want := range map[time.Duration]string{
		0:                      "01234567-89ab-7000-",
		500 * time.Microsecond: "01234567-89ab-7800-",
		time.Millisecond - 1:   "01234567-89ab-7fff-",
		time.Millisecond:       "01234567-89ac-7000-",
	} {
		id := newID(at.Add(below))
		if !form.MatchString(id) || id[:len(want)] != want {
			t.Errorf("%s later: %s; want %s…", below, id, want)
		}
		if err := EntityOf(id).Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestIDsSortByTheirTimeAndAreNeverTheSame(t *testing.T) {
	const n = 10_000
	at := time.Date(2026, 11, 20, 13, 15, 0, 0, time.UTC)
	ids := make([]string, n)
	for i := range ids {
		ids[i] = newID(at.Add(time.Duration(i) * time.Microsecond))
	}
	if !slices.IsSorted(ids) {
		t.Error("ids a microsecond apart are not in their order")
	}
	for i := range ids {
		ids[i] = newID(at)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != n {
		t.Error("two ids of one time are the same")
	}
}
