package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Network is what the network is called in a DSN: one that the command's configuration lets through.
const Network = "tcp4"

// Action is what a rule does.
type Action string

// The actions.
const (
	Kill    Action = "kill"    // SIGKILL to this process
	Freeze  Action = "freeze"  // SIGSTOP to this process; somebody else has to wake it
	Drop    Action = "drop"    // close the connection: after the answer, the client sees an error for what was done
	Refuse  Action = "refuse"  // answer with Code; of a deadlock the transaction is rolled back as a server does
	Delay   Action = "delay"   // wait for Wait
	Split   Action = "split"   // for Wait nothing of this process goes out or comes in; what was sent meanwhile arrives then
	Rewrite Action = "rewrite" // put To for From, a regular expression, in the statement
	Prepend Action = "prepend" // send To, made from the statement by From, before it
	Swap    Action = "swap"    // hold the statement back until its transaction has committed
)

// BetweenCommitAndKept is no statement that is sent. A rule that matches it is carried out between the COMMIT and what Swap
// has kept back.
const BetweenCommitAndKept = "-- between the commit and what was held back"

// Rule says at which statement to do what.
type Rule struct {
	Match  string         // text that the statement contains; empty for every one
	Since  string         // statements count from the first that contains this; empty for all
	Nth    int            // the n-th such statement of the process; 0 for each
	Chance float64        // instead of Nth: of each such statement
	After  bool           // when the server has answered, not before
	Do     Action         //
	In     string         `json:",omitempty"` // what it strikes, for the report
	Code   uint16         `json:",omitempty"`
	Wait   time.Duration  `json:",omitempty"`
	From   string         `json:",omitempty"`
	To     string         `json:",omitempty"`
	from   *regexp.Regexp //
	begun  bool           // Since was seen
	seen   int            //
}

// lasts is how long the rule breaks something.
func (r *Rule) lasts() time.Duration {
	if r.Do == Split || r.Do == Delay {
		return r.Wait
	}
	return 0
}

// Plan is the rules of a process.
type Plan struct {
	// Tell is called before a rule is carried out that breaks something, with how long it does.
	Tell func(what, statement string, lasts time.Duration)
	// Whole, where it is given, says whether nothing breaks any more.
	Whole func() bool

	mu    sync.Mutex
	dice  *rand.Rand
	whole time.Time // when the network is whole again
	rules []*Rule
}

// NewPlan reads rules as JSON; an empty text has none.
func NewPlan(text string, seed uint64) (*Plan, error) {
	var rules []Rule
	if text != "" {
		if err := json.Unmarshal([]byte(text), &rules); err != nil {
			return nil, fmt.Errorf("reading rules: %w", err)
		}
	}
	return With(rules, seed)
}

// With is a plan of rules.
func With(rules []Rule, seed uint64) (*Plan, error) {
	p := &Plan{Tell: func(string, string, time.Duration) {}, dice: rand.New(rand.NewPCG(seed, 1))}
	for _, r := range rules {
		from, err := regexp.Compile("(?s)" + r.From)
		if err != nil {
			return nil, fmt.Errorf("reading rules: %w", err)
		}
		r.from = from
		p.rules = append(p.rules, &r)
	}
	return p, nil
}

// due returns the rules to be carried out at a statement.
func (p *Plan) due(statement string) (list []*Rule) {
	if p.Whole != nil && p.Whole() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rules {
		r.begun = r.begun || r.Since == "" || strings.Contains(statement, r.Since)
		if !r.begun || !strings.Contains(statement, r.Match) {
			continue
		}
		r.seen++
		switch {
		case r.Chance > 0 && p.dice.Float64() >= r.Chance:
		case r.Nth > 0 && r.Nth != r.seen:
		default:
			list = append(list, r)
		}
	}
	return list
}

// split cuts the network off for a while.
func (p *Plan) split(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = time.Now().Add(d)
}

// whenWhole waits until the network is whole; false where done came first.
func (p *Plan) whenWhole(done <-chan struct{}) bool {
	for {
		p.mu.Lock()
		rest := time.Until(p.whole)
		p.mu.Unlock()
		if rest <= 0 {
			return true
		}
		select {
		case <-time.After(rest):
		case <-done:
			return false
		}
	}
}
