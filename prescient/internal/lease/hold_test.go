package lease_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/internal/lease"
)

type thing struct {
	lease.Term
	name string
}

func (t *thing) Gone() { t.Lose() }

func TestWhatIsKeptHasATermFromBeforeTheRenewalWasSent(t *testing.T) {
	synctest.Test(t, keepsFromBefore)
}

func keepsFromBefore(t *testing.T) {
	began := time.Now()
	held := []*thing{{name: "kept"}, {name: "waits"}, {name: "gone"}}
	for _, h := range held {
		h.Begin(began.Add(-30*time.Second), time.Minute)
	}
	stands := map[string]lease.Standing{"kept": lease.Kept, "waits": lease.Waits, "gone": lease.Gone}
	var sent time.Time
	err := lease.Keep(held, func() (func(*thing) lease.Standing, error) {
		time.Sleep(time.Second)
		sent = time.Now()
		return func(h *thing) lease.Standing { return stands[h.name] }, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if until := held[0].Until(); !until.Equal(began.Add(time.Minute)) || !sent.After(began) {
		t.Errorf("it was asked for at %s, sent at %s, and ends at %s", began, sent, until)
	}
	if until := held[1].Until(); !until.Equal(began.Add(30*time.Second)) || held[1].Lost() {
		t.Errorf("what a lock was in the way of ends at %s", until)
	}
	if !held[2].Lost() {
		t.Error("what is another's is not lost")
	}
	why := errors.New("the server is away")
	if err := lease.Keep(held, func() (func(*thing) lease.Standing, error) { return nil, why }); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func TestATermBeginsBeforeItsClaimIsSent(t *testing.T) {
	var sent time.Time
	var step uint64
	asked, err := lease.Take(func(by uint64) error {
		sent, step = time.Now(), by
		return nil
	})
	if err != nil || asked.After(sent) || step == 0 {
		t.Errorf("asked at %s, sent at %s, step %d: %v", asked, sent, step, err)
	}
}
