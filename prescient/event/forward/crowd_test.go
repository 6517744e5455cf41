package forward

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestAFullShardIsReadPastWhatFillsIt(t *testing.T) {
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	c := newCrowd()
	room := func(when string, want bool, now time.Time) {
		t.Helper()
		if got := c.room(now); got != want {
			t.Errorf("%s: room %t; want %t", when, got, want)
		}
	}
	leaves := func(when string, topics []string, chains []chain) {
		t.Helper()
		if gotTopics, gotChains := c.leftOut(); !slices.Equal(gotTopics, topics) || !slices.Equal(gotChains, chains) {
			t.Errorf("%s: %v and %v are left out; want %v and %v", when, gotTopics, gotChains, topics, chains)
		}
	}
	fill := func(topic string, keys, each int) {
		for i := range keys {
			c.add(chain{topic, fmt.Sprint(i)}, each)
		}
	}

	room("empty", true, at)
	fill("slow", window, 1)
	room("just full", false, at)
	room("full for a while", false, at.Add(lookPast-1))
	leaves("before it is long", nil, nil)
	room("full for long", true, at.Add(lookPast))
	leaves("full for long", []string{"slow"}, nil)

	// Another topic comes, with most of it under one key.
	busy := chain{"quick", "busy"}
	c.add(busy, window/2)
	fill("quick", 20, 1)
	at = at.Add(time.Minute)
	room("full again", false, at)
	room("full again for long", true, at.Add(lookPast))
	leaves("full again for long", []string{"slow"}, []chain{busy})

	// It is read again once there is little of it.
	fill("slow", window-window/4-1, -1)
	if c.relent(); !c.topics["slow"] {
		t.Error("it is read again while there is much of it")
	}
	c.add(chain{"slow", fmt.Sprint(window - 1)}, -1)
	if !c.relent() {
		t.Error("nothing is read again")
	}
	leaves("when there is little of it", nil, []chain{busy})

	// Memory has an end, whatever is slow.
	for i := range 100 {
		at = at.Add(time.Minute)
		if c.room(at) || c.room(at.Add(lookPast)) {
			fill(fmt.Sprint("slow", i), window, 1)
		}
	}
	if c.live <= mostLive || c.live > mostLive+window {
		t.Errorf("%d events are in memory; want above %d, and %d at most", c.live, mostLive, mostLive+window)
	}
}

func TestATopicOfWhichManyKeysWaitIsLeftOutAsAWhole(t *testing.T) {
	held := []chain{{"few", "a"}}
	for i := range mostHeldOf {
		held = append(held, chain{"many", fmt.Sprint(i)})
	}
	if topics, rest := heldTopics(held); !slices.Equal(topics, []string{"many"}) || !slices.Equal(rest, held[:1]) {
		t.Errorf("%v and %v are left out", topics, rest)
	}
	if topics, rest := heldTopics(held[:mostHeldOf]); topics != nil || len(rest) != mostHeldOf {
		t.Errorf("%v and %d chains are left out; want no topic", topics, len(rest))
	}
}
