package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/internal/duty"
)

const (
	keepEvery = term / 6
	// lookTime is how long a look may take, and sendTime a message to a receiver; after that time no further one is begun.
	lookTime, sendTime = 2 * time.Minute, 30 * time.Second
	// firstWait is after how long a receiver that could not be told is tried again; each time it is twice as long, up to longestWait.
	firstWait, longestWait = 10 * time.Second, 5 * time.Minute
)

// leader is who tells receivers while it has the lease.
type leader struct {
	*Notifier
	table table
	lease lease
	ended chan ending
	to    map[string]*contact
	// unwritten are rows that somebody's lock kept from being written.
	unwritten map[[2]string]row
	tried     time.Time // when it was tried last, between two looks, to tell who could not be told
	under     sync.WaitGroup
}

// contact is how it goes with a receiver.
type contact struct {
	busy   bool
	sent   []time.Time // when messages went to it in the last minute
	failed int         // times in a row
	since  time.Time   // of the first of these
	until  time.Time   // before which it is not tried again
	err    error
	part   bool // of it has been told
	// stuck is how often messages did not arrive that are to be sent again, and unnoted what arrived, but could not be noted as told: it is not sent again.
	stuck   map[string]int
	unnoted map[string]Message
}

// ending is what became of the messages that a receiver was to be sent.
type ending struct {
	to      string
	sent    int
	err     error  // of the last
	failed  string // the id of that
	part    error  // with whom one did not arrive that did with others
	unnoted map[string]Message
}

// looked is what a look has found.
type looked struct {
	found []doctor.Finding
	err   error
}

// leads returns a leader, the context of its work, and what stops it: it waits for what is under way, and gives the lease back.
func (n *Notifier) leads(ctx context.Context, t table, held lease) (leading context.Context, l *leader, stop func()) {
	l = &leader{Notifier: n, table: t, lease: held, ended: make(chan ending, len(n.options.Settings.Receivers)), to: make(map[string]*contact)}
	for _, r := range n.options.Settings.Receivers {
		l.to[r.Name] = new(contact)
	}
	leading, cancel := context.WithCancel(ctx)
	return leading, l, func() {
		cancel()
		l.under.Wait()
		_ = held.Release(ctx) // else it lapses
	}
}

// look has what is wrong be looked for.
func (l *leader) look(ctx context.Context) <-chan looked {
	result := make(chan looked, 1)
	l.under.Go(func() {
		looking, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		found, err := l.examine(looking)
		result <- looked{found, err}
	})
	return result
}

// lead looks and tells for as long as the lease is this process's. It returns without an error where ctx has ended, or another has the lease.
func (n *Notifier) lead(ctx context.Context, t table, held lease, say func(error)) error {
	ctx, l, stop := n.leads(ctx, t, held)
	defer stop()
	var result <-chan looked
	keep, next := time.NewTicker(keepEvery), time.NewTimer(0)
	defer keep.Stop()
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-keep.C:
			switch err := held.Keep(ctx); {
			case errors.Is(err, duty.ErrLost):
				return nil
			case err != nil && !held.Alive():
				return err
			case err == nil && l.mayRetry():
				if err := l.tell(ctx, sight{none: true}); errors.Is(err, duty.ErrLost) {
					return nil
				}
			}
		case <-next.C:
			result = l.look(ctx)
		case one := <-result:
			next.Reset(n.options.Settings.Every)
			s := sight{none: true}
			if one.err == nil {
				s = l.see(one.found)
			}
			err := cmp.Or(one.err, l.tell(ctx, s))
			if errors.Is(err, duty.ErrLost) {
				return nil
			}
			say(err)
		case e := <-l.ended:
			l.note(e)
		}
	}
}

// see puts together what a look has found, with who cannot be told.
func (l *leader) see(found []doctor.Finding) sight {
	found = slices.DeleteFunc(found, func(f doctor.Finding) bool { return f.Code == Code }) // it is told by the table of what follows here
	return see(append(found, l.untold()...), l.options.Settings.Ignore)
}

// tell has receivers be told what follows from a look. Whoever has rows of the table locked keeps nobody from being told: what this process could not
// write it remembers, and only should it die meanwhile is a message sent again with another id.
func (l *leader) tell(ctx context.Context, found sight) error {
	s := &l.options.Settings
	now, rows, err := l.table.read(ctx, s.names())
	if err != nil {
		return err
	}
	p := decide(now, found, l.over(rows), s, l.standings())
	for _, r := range p.write {
		l.remember(r)
	}
	for _, r := range p.forget {
		delete(l.unwritten, [2]string{r.code, r.receiver})
	}
	p.write = slices.Collect(maps.Values(l.unwritten))
	err = l.table.write(ctx, l.lease, p)
	if err == nil {
		l.unwritten = nil
	} else if !errors.Is(err, errLocked) || !l.lease.Alive() {
		return err
	}
	l.begin(ctx, p.messages, err == nil)
	return err
}

// over are rows as they were read, with what could not be written in the place of theirs.
func (l *leader) over(rows []row) []row {
	rows = slices.DeleteFunc(rows, func(r row) bool {
		_, is := l.unwritten[[2]string{r.code, r.receiver}]
		return is
	})
	return slices.AppendSeq(rows, maps.Values(l.unwritten))
}

func (l *leader) remember(r row) {
	if l.unwritten == nil {
		l.unwritten = make(map[[2]string]row)
	}
	l.unwritten[[2]string{r.code, r.receiver}] = r
}

// begin has messages be sent.
func (l *leader) begin(ctx context.Context, messages []Message, written bool) {
	s := &l.options.Settings
	of := make(map[string][]Message)
	for _, m := range messages {
		m.Place, m.Page, m.LookEvery = s.Place, s.Page, s.Every
		of[m.To] = append(of[m.To], m)
	}
	for i := range s.Receivers {
		r := &s.Receivers[i]
		if messages := of[r.Name]; len(messages) > 0 {
			c := l.to[r.Name]
			c.busy = true
			l.under.Go(func() { l.ended <- l.send(ctx, r, messages, c.unnoted, written) })
		}
	}
}

// mayRetry says whether there is a receiver that could not be told, and may be by now: the next look may be an hour away.
func (l *leader) mayRetry() bool {
	if time.Since(l.tried) < firstWait {
		return false
	}
	for _, c := range l.to {
		if c.failed > 0 && !c.busy && !time.Now().Before(c.until) {
			l.tried = time.Now()
			return true
		}
	}
	return false
}

// send sends messages to a receiver, up to the first that does not arrive. Those of unnoted have arrived before: that is noted alone,
// once the rows are written.
func (l *leader) send(ctx context.Context, r *Receiver, messages []Message, unnoted map[string]Message, written bool) ending {
	e := ending{to: r.Name, unnoted: make(map[string]Message)}
	log := l.options.Log.With().Str("receiver", r.Name).Logger()
	for id, m := range unnoted {
		if !written || ctx.Err() != nil || l.table.told(ctx, m) != nil {
			e.unnoted[id] = m
		}
	}
	began := time.Now()
	for _, m := range messages {
		if _, arrived := unnoted[m.ID]; arrived {
			continue
		}
		if ctx.Err() != nil || time.Since(began) >= sendTime {
			break
		}
		e.sent++
		sending, cancel := context.WithTimeout(ctx, sendTime)
		err := r.Sender.Send(sending, m)
		cancel()
		var part *PartError
		if errors.As(err, &part) {
			e.part, err = part, nil
		}
		if err != nil {
			e.err, e.failed = err, m.ID
			break
		}
		if err = errLocked; written {
			err = l.table.told(ctx, m)
		}
		if err != nil {
			log.Warn().Err(err).Msg("a receiver was told, which could not be noted; this is tried again")
			if m.Items[0].row.message != "" {
				e.unnoted[m.ID] = m
			}
		}
	}
	return e
}

// standings are those of the receivers, for decide.
func (l *leader) standings() map[string]standing {
	now := time.Now()
	all := make(map[string]standing, len(l.to))
	for name, c := range l.to {
		c.sent = slices.DeleteFunc(c.sent, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
		all[name] = standing{sent: len(c.sent), waits: c.busy || now.Before(c.until), failing: c.failed > 0, failed: c.stuck}
	}
	return all
}

// note takes note of what became of messages.
func (l *leader) note(e ending) {
	c, now := l.to[e.to], time.Now()
	c.busy, c.unnoted = false, e.unnoted
	if e.sent == 0 {
		return
	}
	for range e.sent {
		c.sent = append(c.sent, now)
	}
	log := l.options.Log.With().Str("receiver", e.to).Logger()
	if e.err == nil {
		if c.failed > 0 {
			log.Info().Int("failed", c.failed).Msg("a receiver can be told of findings again")
		}
		if e.part != nil && !c.part {
			c.since = now
			log.Warn().Err(e.part).Msg("a part of a receiver cannot be told of findings")
		}
		c.failed, c.until, c.stuck, c.err, c.part = 0, time.Time{}, nil, e.part, e.part != nil
		return
	}
	if c.failed == 0 {
		c.since = now
		log.Warn().Err(e.err).Msg("a receiver cannot be told of findings; this is tried again")
	}
	if e.sent > 1 { // another has arrived
		c.failed = 0
	}
	if c.stuck == nil {
		c.stuck = make(map[string]int)
	}
	c.stuck[e.failed]++
	c.failed++
	c.err, c.part, c.until = e.err, false, now.Add(min(firstWait<<min(c.failed-1, 10), longestWait))
}

// untold are the findings that receivers cannot be told.
func (l *leader) untold() (found []doctor.Finding) {
	for _, r := range l.options.Settings.Receivers {
		if c := l.to[r.Name]; c.err != nil {
			f := doctor.Finding{Code: Code, Severity: doctor.SeverityBad, About: []string{r.Name},
				Text: fmt.Sprintf("The receiver %s of notify.receivers has not been reached for %s: %s.", r.Name, time.Since(c.since).Round(time.Second), c.err),
				Do:   "See that its address is right and that it answers. What it was to be told is kept, and sent once it can be reached."}
			if c.part {
				f.Severity = doctor.SeverityWarn
				f.Text = fmt.Sprintf("A part of the receiver %s of notify.receivers was not reached when it was told last: %s.", r.Name, c.err)
				f.Do = "See that its addresses are right. The others were told."
			}
			found = append(found, f)
		}
	}
	return found
}
