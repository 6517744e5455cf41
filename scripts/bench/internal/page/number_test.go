package page

import "testing"

func TestPercentilesAreValuesThatOccurred(t *testing.T) {
	list := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for percent, want := range map[int]float64{50: 5, 99: 10, 100: 10, 1: 1} {
		if got := Percentile(list, percent); got != want {
			t.Errorf("%d: %v; want %v", percent, got, want)
		}
	}
	if Percentile(nil, 50) != 0 {
		t.Error("of nothing")
	}
}
