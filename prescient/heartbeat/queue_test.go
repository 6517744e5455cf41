package heartbeat

import (
	"slices"
	"strings"
	"testing"
)

// say puts signals, such as "a+" for a success of a, "a-" for its failure and "a>" for its start.
func (q *queue) say(words string) (dropped int) {
	for word := range strings.FieldsSeq(words) {
		signal := map[byte]Signal{'+': Success, '-': Failure, '>': Start}[word[len(word)-1]]
		if q.put(told{word[:len(word)-1], signal}) {
			dropped++
		}
	}
	return dropped
}

func (q *queue) waits() (words []string) {
	for _, w := range q.waiting {
		words = append(words, w.name+map[Signal]string{Success: "+", Failure: "-", Start: ">"}[w.signal])
	}
	return words
}

func TestAQueueKeepsTheLatestSignals(t *testing.T) {
	for _, c := range []struct {
		put, want string
		dropped   int
	}{
		{"a> a+ b>", "a> a+ b>", 0},
		{"a+ a+ a+", "a+", 0},
		{"a+ b+ a+ b+", "a+ b+", 0},
		{"a+ a- a+", "a+ a- a+", 0},
		{"a> b> a+ a- a+", "b> a+ a- a+", 1},
		{"b> b+ b- b+ a>", "b+ b- b+ a>", 1},
		{"s+ b> b+ b- a>", "s+ b+ b- a>", 1},
	} {
		q := newQueue(4, "s")
		if dropped := q.say(c.put); dropped != c.dropped || strings.Join(q.waits(), " ") != c.want {
			t.Errorf("after %s: %s, dropped %d; want %s, %d", c.put, q.waits(), dropped, c.want, c.dropped)
		}
	}
}

func TestSignalsOfANameGoOneAfterTheOther(t *testing.T) {
	q := newQueue(4, "")
	q.say("a> a+ b>")
	var took []told
	for t, ok := q.take(); ok; t, ok = q.take() {
		took = append(took, t)
	}
	if want := []told{{"a", Start}, {"b", Start}}; !slices.Equal(took, want) || q.idle() {
		t.Fatalf("took %v, want %v", took, want)
	}
	q.sent("b")
	if next, ok := q.take(); ok {
		t.Errorf("took %v while the one before it is being sent", next)
	}
	q.sent("a")
	if next, ok := q.take(); !ok || next != (told{"a", Success}) {
		t.Errorf("took %v, %v", next, ok)
	}
	if q.sent("a"); !q.idle() {
		t.Error("it is not idle")
	}
}

// Names of which much is to be sent do not hold up the others, nor what goes first.
func TestNamesTakeTurns(t *testing.T) {
	q := newQueue(10, "s")
	q.say("a> a+ a- b> b+ b- c> c+ s+")
	var took []string
	for next, ok := q.take(); ok; next, ok = q.take() {
		took = append(took, next.name)
		q.sent(next.name)
	}
	if got, want := strings.Join(took, ""), "sabcabcab"; got != want {
		t.Errorf("took %s, want %s", got, want)
	}
}
