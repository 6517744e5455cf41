package forward

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// Who waits for the end of all that a lost shard has under way must not miss what was taken just then.
func TestAShardIsNotLostWhileEventsAreTaken(t *testing.T) {
	f := &Forwarder{shards: make(map[int]*shard), lost: make(map[*shard]bool), publishing: context.Background(), options: Options{Lease: time.Minute, Log: zerolog.Nop()}}
	s := newShard(f, holder{Shard: 1}, time.Now())
	s.mu.Lock() // as take does
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		s.lose("another has it")
	}()
	select {
	case <-lost:
		t.Error("it is lost before that is over")
	case <-time.After(50 * time.Millisecond):
	}
	if s.term.Lost() {
		t.Error("nothing that was taken goes on")
	}
	s.mu.Unlock()
	<-lost
	if !s.term.Lost() {
		t.Error("it is not lost")
	}
}
