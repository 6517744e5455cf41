package prescient

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestACheckWhoseNamesCannotBeSeenIsNotCreated(t *testing.T) {
	for _, r := range "\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u180b\u180e\u2000\u2003\u2007\u2009\u200a\u200b\u200c\u200d\u200e\u202a\u202e\u2028\u2029\u202f\u205f" +
		"\u2060\u2063\u2066\u206f\u2800\u3000\u3164\ufe00\ufe0e\ufe0f\ufeff\uffa0\ufff9\U000e0001\U000e0020\U000e007f\U000e0100" {
		for _, job := range []NewJob{
			{Entity: Entity{Name: "order", Key: "4" + string(r) + "2"}, JobExec: "x", DueAt: time.Unix(1, 0)},
			{Entity: Entity{Name: "order", Key: "42"}, JobExec: "x", Tag: string(r), DueAt: time.Unix(1, 0)},
		} {
			if err := job.Validate(); !Unseen(r) || !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "which cannot be seen and is not allowed") {
				t.Errorf("%U: %v", r, err)
			}
			if err := ValidCheck(job.Entity, job.JobExec, job.Tag); err != nil { // one that is there can be cancelled
				t.Errorf("%U: %v", r, err)
			}
		}
	}
	for _, key := range []string{"42", " ", "größe", "nai\u0308ve", "日本語", "🚢", "\x00\n\t", "\u0600\u06dd", "٣", "हिन्दी", "a-b_c/d"} {
		if err := (NewJob{Entity: Entity{Name: "order", Key: key}, JobExec: "x", DueAt: time.Unix(1, 0)}).Validate(); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}
