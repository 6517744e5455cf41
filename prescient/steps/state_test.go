package steps

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"prescient/prescient"
)

func TestWhatAnAnswerOfAStepMakesOfTheRun(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	soon, later, nextYear := now.Add(time.Minute), now.Add(time.Hour), now.Add(longestTime)
	broken, late := errors.New("broken"), fmt.Errorf("%w: it took longer than 1s", prescient.ErrTimeout)
	retried := Step{Name: "s", Retries: 2, RetryWait: 10 * time.Second}
	retryAt := now.Add(10 * time.Second)
	for _, test := range []struct {
		name   string
		state  state
		step   Step
		a      answered
		want   state
		result string
		next   *time.Time
		stop   string
	}{
		{"nil goes on with the next step", state{Step: 1, Failures: 2, Checks: 1, Called: true, At: &now}, retried, answered{}, state{Step: 2}, ResultDone, nil, ""},
		{"an error ends the run", state{Step: 1, Called: true}, Step{Name: "s"}, answered{err: broken}, state{Step: 1}, ResultFailed, nil, `step "s": broken`},
		{"an error that is tried again", state{Step: 1}, retried, answered{err: broken}, state{Step: 1, Failures: 1, At: &retryAt}, ResultFailed, nil, ""},
		{"the last try", state{Step: 1, Failures: 1}, retried, answered{err: broken}, state{Step: 1, Failures: 2, At: &retryAt}, ResultFailed, nil, ""},
		{"after the last try", state{Step: 1, Failures: 2}, retried, answered{err: broken}, state{Step: 1}, ResultFailed, nil, `step "s": broken`},
		{"a final error is not tried again", state{Step: 1}, retried, answered{err: prescient.Final(broken)}, state{Step: 1}, ResultFailed, nil, `step "s": broken`},
		{"nor is one that is wrapped, and says when", state{Step: 1}, retried, answered{err: errors.Join(prescient.Retry(time.Hour), prescient.Final(broken))}, state{Step: 1}, ResultFailed, nil, "step \"s\": try again in 1h\nbroken"},
		{"a final error after which it goes on", state{Step: 1}, Step{Name: "s", Retries: 2, OnFailure: Continue}, answered{err: prescient.Final(broken)}, state{Step: 2, Failed: 1, FirstFailed: "s"}, ResultFailed, nil, ""},
		{"an error that says when to try again", state{Step: 1}, retried, answered{err: fmt.Errorf("busy: %w", prescient.Retry(time.Hour))}, state{Step: 1, Failures: 1, At: &later}, ResultFailed, &later, ""},
		{"soon", state{Step: 1}, retried, answered{err: prescient.Retry(time.Minute)}, state{Step: 1, Failures: 1, At: &soon}, ResultFailed, nil, ""},
		{"as late as it would be anyway", state{Step: 1}, Step{Name: "s", Retries: 2, RetryWait: time.Hour}, answered{err: prescient.Retry(time.Hour)}, state{Step: 1, Failures: 1, At: &later}, ResultFailed, nil, ""},
		{"at once", state{Step: 1}, retried, answered{err: prescient.Retry(-time.Hour)}, state{Step: 1, Failures: 1, At: &now}, ResultFailed, nil, ""},
		{"in 292 years", state{Step: 1}, retried, answered{err: prescient.Retry(math.MaxInt64)}, state{Step: 1, Failures: 1, At: &nextYear}, ResultFailed, &nextYear, ""},
		{"it counts", state{Step: 1, Failures: 2}, retried, answered{err: prescient.Retry(time.Hour)}, state{Step: 1}, ResultFailed, nil, `step "s": try again in 1h`},
		{"too late to be final", state{Step: 1}, retried, answered{err: fmt.Errorf("%w: %w", late, prescient.Final(broken)), late: true}, state{Step: 1, Failures: 1, At: &retryAt}, ResultTimedOut, nil, ""},
		{"or to say when", state{Step: 1}, retried, answered{err: fmt.Errorf("%w: %w", late, prescient.Retry(time.Hour)), late: true}, state{Step: 1, Failures: 1, At: &retryAt}, ResultTimedOut, nil, ""},
		{"a timeout", state{}, Step{Name: "s"}, answered{err: late}, state{}, ResultTimedOut, nil, `step "s": timed out: it took longer than 1s`},
		{"an error after which it goes on", state{Step: 1, Checks: 1}, Step{Name: "s", OnFailure: Continue}, answered{err: broken}, state{Step: 2, Failed: 1, FirstFailed: "s"}, ResultFailed, nil, ""},
		{"a second one", state{Step: 2, Failed: 1, FirstFailed: "s"}, Step{Name: "t", OnFailure: Continue}, answered{err: broken}, state{Step: 3, Failed: 2, FirstFailed: "s"}, ResultFailed, nil, ""},
		{"a time", state{Step: 1, Failures: 1}, retried, answered{next: &later}, state{Step: 1, Failures: 1, Checks: 1, At: &later}, ResultAgain, &later, ""},
		{"one time more than it may", state{Step: 1, Checks: 5}, Step{Name: "s"}, answered{next: &later}, state{Step: 1}, ResultFailed, nil, `step "s": it answered with a time for the 6. time; 5 are allowed`},
		{"a time that is over", state{Step: 1}, Step{Name: "s"}, answered{next: &now}, state{Step: 1}, ResultFailed, nil, `step "s": it answered with a time that is over: 2026-11-20T12:00:00Z`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, o := test.state.advance(test.step, 5, test.a, now)
			show := func(s state) string {
				at := "none"
				if s.At != nil {
					at = s.At.String()
				}
				s.At = nil
				return fmt.Sprintf("%+v at %s", s, at)
			}
			stop := ""
			if o.stop != nil {
				stop = o.stop.Error()
			}
			if show(got) != show(test.want) || o.result != test.result || (o.next == nil) != (test.next == nil) || o.next != nil && !o.next.Equal(*test.next) || stop != test.stop {
				t.Errorf("%s, %+v\nwant\n%s, %s, %v, %s", show(got), o, show(test.want), test.result, test.next, test.stop)
			}
		})
	}
}

// A run goes on from its own checkpoint, and from no other's.
func TestACheckpointIsOfOneRun(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	whole := state{Occurrence: "17", Version: 3, Step: 2, Failures: 1, Checks: 2, At: &at, Seq: 9, Called: true, Failed: 1, FirstFailed: "a"}
	checkpoint, err := whole.encode([]byte("own\nof the step"))
	if err != nil {
		t.Fatal(err)
	}
	got, own := decodeState(checkpoint, "17")
	if fmt.Sprintf("%+v", *got.At) != fmt.Sprintf("%+v", at) || string(own) != "own\nof the step" {
		t.Errorf("%+v, %q", got, own)
	}
	got.At = whole.At
	if got != whole {
		t.Errorf("%+v; want %+v", got, whole)
	}
	for name, of := range map[string][]byte{"another's": checkpoint, "none": nil, "somebody's": []byte("half"), "empty": {}} {
		occurrence := "17"
		if name == "another's" {
			occurrence = "18"
		}
		if got, own := decodeState(of, occurrence); got != (state{Occurrence: occurrence}) || own != nil {
			t.Errorf("%s: %+v, %q", name, got, own)
		}
	}
}
