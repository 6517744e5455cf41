package prescient

import "time"

// day is the day on which the tests take place; at returns a time of it, UTC, from "15:04:05.999999".
var day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func at(clock string) time.Time {
	layout := "15:04"
	if len(clock) > len(layout) {
		layout = "15:04:05.999999"
	}
	t, err := time.Parse(layout, clock)
	if err != nil {
		panic(err)
	}
	return day.Add(t.Sub(t.Truncate(24 * time.Hour)))
}
