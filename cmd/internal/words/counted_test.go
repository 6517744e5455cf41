package words

import "testing"

func TestWhatIsCountedHasASingular(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 5000: "5000 rows"} {
		if got := Counted(n, "row", "rows"); got != want {
			t.Errorf("%d: %s; want %s", n, got, want)
		}
	}
}
