package timeline

import (
	"fmt"
	"testing"
	"time"

	"prescient/slots"
)

// What is found to be fine without a look at each occurrence is so by a look at each.
func TestWhatIsFineWithoutALookIsFine(t *testing.T) {
	short, slow := 0, 0
	for _, zone := range []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca"} {
		for _, crontab := range []string{"* * * * *", "0 * * * *", "59 * * * *", "*/30 * * * *", "0 0 * * *", "1 0 * * *", "0,30 2 * * *", "0 2,3 * * *", "30 2-3 * * *",
			"59 1,2,3 * * *", "1 3 * * mon-fri", "30 2 * * sun", "*/20 * * * * *", "5,50 * * * * *", "0 0 1 * *", "0 0 1 * mon", "0 0 * * mon#1", "0 12 L * *", "@every 37m", "@hourly"} {
			for _, resolution := range []time.Duration{time.Second, 30 * time.Second, time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 24 * time.Hour} {
				grid, err := slots.NewGrid(resolution)
				if err != nil {
					t.Fatal(err)
				}
				// Apia left out the 30th of December 2011.
				from := time.Date(2011, 12, 1, 7, 11, 0, 0, time.UTC)
				line, err := Parse([]string{crontab}, zone, from)
				if err != nil {
					t.Fatal(err)
				}
				// A crontab that stands twice fires as it does once, and is looked at.
				twice, err := Parse([]string{crontab, crontab}, zone, from)
				if err != nil {
					t.Fatal(err)
				}
				refusal := twice.TooFine(grid, from, 0)
				fine := refusal == nil
				quick := line.fineFor(grid, from, 0)
				if quick && !fine {
					t.Errorf("%s in %q at %s is taken to be fine: %v", crontab, zone, resolution, refusal)
				}
				if quick {
					short++
				} else if fine {
					slow++
				}
				if got := line.TooFine(grid, from, 0); fmt.Sprint(got) != fmt.Sprint(refusal) {
					t.Errorf("%s in %q at %s: %v", crontab, zone, resolution, got)
				}
			}
		}
	}
	if short < 2*slow {
		t.Errorf("%d are fine at once, and %d by a look at each", short, slow)
	}
}
