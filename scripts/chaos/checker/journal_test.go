package checker

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A change's rows carry the times of its statements. Held up before it notes the change, the app must not seem to have begun later.
func TestATransactionBeganWhenItDidHoweverLateItIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, err := NewJournal(filepath.Join(t.TempDir(), "journal"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		began := j.Now()
		time.Sleep(7 * time.Millisecond)  // the transaction
		time.Sleep(30 * time.Millisecond) // others have the cores
		j.NoteSince(began, Event{Kind: Plan, Key: "s", Result: Committed})
		if e := j.Events()[0]; e.At-e.Took != began || e.At != j.Now() {
			t.Errorf("from %s to %s; want %s to %s", e.At-e.Took, e.At, began, j.Now())
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}
