package operate

import (
	"strings"
	"testing"
	"time"

	"prescient/slots"
)

func FuzzAssignments(f *testing.F) {
	for _, text := range []string{"", "*", "0,30;15,45", "1/2;2/2", "0-59/15", ";", "5/15", "1/0", "*/2;*", "9999999999999999999/2", "0,0"} {
		f.Add(text)
	}
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseAssignments(grid, text)
		if err != nil {
			return
		}
		if (len(list) == 0) != (strings.TrimSpace(text) == "") {
			t.Fatalf("%q: %v", text, list)
		}
		for _, a := range list {
			if a.Grid() != grid || !a.Next(time.Unix(0, 0)).After(time.Unix(0, 0)) {
				t.Fatalf("%q: %v", text, a)
			}
		}
		if len(list) > 0 {
			if _, err := slots.Cover(list...); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}
