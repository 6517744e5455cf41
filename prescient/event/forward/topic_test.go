package forward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/event/broker"
)

// allow asks for a publication, and says what came of it.
func allow(t *testing.T, topics *topics, err error) {
	t.Helper()
	done, refused := topics.of("t").circuit.Allow()
	if refused != nil {
		t.Fatalf("not allowed: %v", refused)
	}
	done(err)
}

func TestATopicThatFailsFiveTimesWaitsForOneThatGoesThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topics := newTopics(1)
		wants := func(when string, closed ...string) {
			t.Helper()
			if got := topics.closed(); !slices.Equal(got, closed) {
				t.Errorf("%s %q is closed; want %q", when, got, closed)
			}
		}
		down := errors.New("down")
		for range tripAfter - 1 {
			allow(t, topics, down)
		}
		allow(t, topics, broker.Refused(down)) // it has answered
		for range tripAfter - 1 {
			allow(t, topics, down)
		}
		wants("after four in a row")
		allow(t, topics, down)
		wants("after five", "t")
		if _, err := topics.of("t").circuit.Allow(); err == nil {
			t.Error("it allows another one at once")
		}
		time.Sleep(tripFor + 1)
		wants("before it is tried")
		done, err := topics.of("t").circuit.Allow()
		if err != nil {
			t.Fatal(err)
		}
		wants("while one is tried", "t")
		done(context.Canceled)
		wants("after one that counted for nothing")
		allow(t, topics, errHere)
		wants("after another such")
		allow(t, topics, nil)
		wants("after one that went through")
		allow(t, topics, nil)
	})
}

func TestTroubleIsNotedOnceInAWhileAndTakenBackOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := newTopics(1).of("t")
		if !one.notesSuccess() || one.notesSuccess() {
			t.Error("what another process noted is to be taken back, once")
		}
		if !one.notesFailure(time.Now()) || one.notesFailure(time.Now().Add(noteEvery-1)) || !one.notesFailure(time.Now().Add(noteEvery)) {
			t.Error("failures are noted once in a while")
		}
		if !one.notesSuccess() || !one.notesFailure(time.Now()) {
			t.Error("after a success the next failure is noted at once")
		}
	})
}

// There may be a topic for each tenant, and more of them as time goes by.
func TestTopicsOfWhichNothingIsUnderWayAreForgotten(t *testing.T) {
	topics := newTopics(1)
	for range tripAfter {
		allow(t, topics, errors.New("down"))
	}
	busy := topics.of("busy")
	busy.places <- struct{}{}
	noted := topics.of("noted")
	noted.notesFailure(time.Now())
	for i := range 5 * mostIdle {
		topics.of(fmt.Sprint(i)).notesSuccess()
	}
	if n := len(topics.all); n > 2*mostIdle {
		t.Errorf("%d topics are remembered", n)
	}
	if topics.of("busy") != busy || topics.of("noted") != noted || !slices.Equal(topics.closed(), []string{"t"}) {
		t.Error("what is under way, or fails, is forgotten")
	}
}
