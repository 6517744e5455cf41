package timeline

import (
	"testing"
	"time"
)

func TestACrontabInWords(t *testing.T) {
	for crontab, want := range map[string]string{
		"* * * * *":                 "every minute",
		"*/15 * * * *":              "every 15 minutes",
		"*/15 8-18 * * MON-FRI":     "every 15 minutes of each hour from 8 to 18 on each weekday from Monday to Friday",
		"*/7 * * * *":               "at each 7th minute of each hour",
		"5/20 * * * *":              "at each 20th minute from 5 on of each hour",
		"0 * * * *":                 "at each full hour",
		"15 * * * *":                "at minute 15 of each hour",
		"15 * * * sun":              "at minute 15 of each hour on Sunday",
		"0 3 * * *":                 "at 03:00 every day",
		"30 2 * * 7":                "at 02:30 on Sunday",
		"0,30 9,17 * * *":           "at 09:00, 09:30, 17:00 and 17:30 every day",
		"10 0 3 * * *":              "at 03:00:10 every day",
		"*/10 * * * * *":            "each 10th second, each minute of each hour",
		"0 22-2 * * *":              "at minute 0 of each hour from 22 to 2 every day",
		"0 0 13 * fri":              "at 00:00 on day 13 of the month and on Friday",
		"0 0 L * *":                 "at 00:00 on the last day of the month",
		"0 0 L-1,L-3 * *":           "at 00:00 on the day before the last one of the month and the day that is 3 days before the last one of the month",
		"0 0 LW,15W * *":            "at 00:00 on the last working day of the month and the working day nearest to day 15 of the month",
		"0 0 ? * fri#3,mon#L,tueL":  "at 00:00 on the 3rd Friday of the month, the last Monday of the month and the last Tuesday of the month",
		"0 0 1,10-20/2 nov-feb,6 ?": "at 00:00 on day 1 of the month and each 2nd day from 10 to 20 of the month in each month from November to February and June",
		"0 0 1 */3 *":               "at 00:00 on day 1 of the month in each 3rd month",
		"@daily":                    "at 00:00 every day",
		"@weekly":                   "at 00:00 on Sunday",
		"@yearly":                   "at 00:00 on day 1 of the month in January",
		"@every 1h30m":              "every 1h30m, counted from when the schedule was made",
		"@at 1767225600":            "once, at 2026-01-01 00:00:00 UTC",
	} {
		if got := Words(crontab); got != want {
			t.Errorf("%s: %q; want %q", crontab, got, want)
		}
		if _, err := Parse([]string{crontab}, "", time.Unix(0, 0)); err != nil {
			t.Error(err)
		}
	}
}

// Words are asked of whatever plain SQL has inserted.
func FuzzWordsOfWhateverThereIs(f *testing.F) {
	for _, one := range []string{"", "@", "@every", "@at x", "a b c d e", "- - - - -", "#l l/ ,, w 9/", "/ / / / /", "* * l- x#y #"} {
		f.Add(one)
	}
	f.Fuzz(func(_ *testing.T, crontab string) { Words(crontab) })
}
