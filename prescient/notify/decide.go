package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient/doctor"
)

// Code is that of the finding that receivers cannot be told.
const Code = "notify"

// standing is how it goes with a receiver, as the process knows that sends.
type standing struct {
	// sent is how many messages went to it in the last minute, acknowledged or not.
	sent int
	// waits says that nothing is to be sent now: it is being told something, or could not be reached a moment ago.
	waits bool
	// failing says that what was sent to it last did not arrive, and failed how often each message that is to be sent did not.
	failing bool
	failed  map[string]int
}

// mostStuck is how many messages there are at most for a receiver that takes none of them. What else is due is summed up in the next.
const mostStuck = 3

// plan is what follows from a look.
type plan struct {
	// write are the rows that changed, which are to be written before anything is sent, and forget those that are of no use any more.
	write, forget []row
	// messages are in the order in which each receiver is to get them.
	messages []Message
}

// decide says what is to be noted, and what is to be sent to whom. It is a pure function.
//
// A finding has to be there for Hold before it is told, and gone for Gone before it is over. All findings of a code are one row for each receiver, however many
// job_execs or topics they are about. The id of a message is written before it is sent, and stays until it is acknowledged: who takes over
// sends it again.
func decide(now time.Time, found sight, rows []row, s *Settings, stands map[string]standing) plan {
	p := plan{}
	of := make(map[string][]row)
	var others []row
	for _, r := range rows {
		if r.other || !slices.ContainsFunc(s.Receivers, func(to Receiver) bool { return to.Name == r.receiver }) {
			others = append(others, r)
			continue
		}
		of[r.receiver] = append(of[r.receiver], r)
	}
	for i := range s.Receivers {
		to := &s.Receivers[i]
		d := decision{now: now, s: s, to: to, standing: stands[to.Name], none: found.none}
		d.look(found, of[to.Name])
		d.send()
		p.write, p.forget, p.messages = append(p.write, d.changed()...), append(p.forget, d.forget...), append(p.messages, d.messages...)
	}
	for _, r := range others {
		if now.Sub(r.lookedAt).Abs() >= forgetAfter {
			p.forget = append(p.forget, r)
		}
	}
	slices.SortFunc(p.forget, func(a, b row) int {
		return cmp.Or(strings.Compare(a.code, b.code), strings.Compare(a.receiver, b.receiver))
	})
	return p
}

// decision is what becomes of one receiver.
type decision struct {
	now      time.Time
	s        *Settings
	to       *Receiver
	standing standing
	none     bool // nobody has looked

	before   map[string]row // by code, as they were read
	rows     []row          // as they are now, by code
	forget   []row
	messages []Message
}

// look notes what is seen, and what is not any more.
func (d *decision) look(found sight, rows []row) {
	d.before = make(map[string]row, len(rows))
	codes := make([]string, 0, len(rows)+len(found.seen))
	for _, r := range rows {
		d.before[r.code] = r
		codes = append(codes, r.code)
	}
	for code := range found.seen {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		raw, was := d.before[code]
		r := raw.sound(d.now)
		one, is := found.seen[code]
		is = is && (one.severity == doctor.SeverityBad || d.to.Least == doctor.SeverityWarn)
		switch {
		case is && !was:
			d.rows = append(d.rows, row{code: code, receiver: d.to.Name}.sees(d.now, one))
		case was && found.ignores(code):
			d.forget = append(d.forget, raw) // nobody is told that it is over, either: it may not be
		case is:
			d.rows = append(d.rows, r.sees(d.now, one))
		case !was:
		case !found.knows(code):
			d.rows = append(d.rows, r)
		case r.told == nil && r.message == "":
			d.forget = append(d.forget, raw) // it has to hold, once it comes back
		default:
			d.rows = append(d.rows, r.misses(d.now))
		}
	}
}

// send makes the messages: those that were not acknowledged yet, and then what else is due.
func (d *decision) send() {
	if d.standing.waits {
		return
	}
	if d.to.wantsAll() {
		d.sendAll()
		return
	}
	free := max(d.to.Rate-d.standing.sent, 0)
	again := d.unacknowledged()
	stuck := d.standing.failing && len(again) > 0
	switch left := free - len(again); {
	case d.none, free == 0, stuck && len(again) >= mostStuck, !stuck && left <= 0:
	case stuck: // one that is refused for what it says holds nothing else up
		if due := d.due(); len(due) > 0 {
			d.add(due)
		}
	default:
		due := d.due()
		alone := len(due)
		if alone > left {
			alone = left - 1 // the last sums the rest up
		}
		for _, i := range due[:alone] {
			d.add([]int{i})
		}
		if rest := due[alone:]; len(rest) > 0 {
			d.add(rest)
		}
	}
	all := append(again, d.messages...)
	slices.SortStableFunc(all, func(a, b Message) int { return cmp.Compare(d.standing.failed[a.ID], d.standing.failed[b.ID]) })
	d.messages = all[:min(len(all), free)]
}

// sendAll makes the one message of who wants all that holds with each look.
func (d *decision) sendAll() {
	m := Message{ID: d.id([]int{}), To: d.to.Name, At: d.now}
	for i := range d.rows {
		r := &d.rows[i]
		switch kind := r.due(d.now, d.s); {
		case kind != "" && !d.none:
			m.Items = append(m.Items, d.item(*r, kind))
		case r.told != nil: // also where it was not seen for a moment
			m.Items = append(m.Items, d.item(*r, Reminder))
		}
	}
	if len(m.Items) > 0 {
		d.messages = []Message{m}
	}
}

// unacknowledged are the messages that were to be sent before, the oldest first, but those that wait for the end of quiet hours.
func (d *decision) unacknowledged() []Message {
	var all []Message
	for _, r := range d.rows {
		if r.message == "" {
			continue
		}
		at := slices.IndexFunc(all, func(m Message) bool { return m.ID == r.message })
		if at < 0 {
			at, all = len(all), append(all, Message{ID: r.message, To: d.to.Name, At: d.now})
		}
		all[at].Items = append(all[at].Items, d.item(r, r.kind))
	}
	slices.SortFunc(all, func(a, b Message) int { return strings.Compare(a.ID, b.ID) })
	return slices.DeleteFunc(all, func(m Message) bool {
		return !slices.ContainsFunc(m.Items, func(i Item) bool { return !d.quiet(i.Severity) })
	})
}

// quiet says whether the receiver is left alone now with what is as bad.
func (d *decision) quiet(severity doctor.Severity) bool {
	return d.to.Quiet.hold(d.now) && (d.to.Quiet.All || severity != doctor.SeverityBad)
}

// due are the rows of which something is to be said now, what is bad and new first.
func (d *decision) due() (list []int) {
	for i := range d.rows {
		r := &d.rows[i]
		if r.message != "" {
			continue
		}
		if r.kind = r.due(d.now, d.s); r.kind == "" {
			continue
		}
		if d.quiet(r.worth(d.now, d.s)) {
			r.kind = ""
			continue
		}
		list = append(list, i)
	}
	rank := func(i int) int {
		r := d.rows[i]
		rank := slices.Index(kinds, r.kind)
		if r.worth(d.now, d.s) != doctor.SeverityBad {
			rank += 10
		}
		return rank
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// worth is the severity by which a message is as urgent as it is: of what is over, that which was told.
func (r row) worth(now time.Time, s *Settings) doctor.Severity {
	if r.kind == Over && r.told != nil {
		return r.told.severity
	}
	return r.level(now, s)
}

// add makes a message of rows, which have its id from now on.
func (d *decision) add(list []int) {
	m := Message{ID: d.id(list), To: d.to.Name, At: d.now}
	for _, i := range list {
		d.rows[i].message = m.ID
		m.Items = append(m.Items, d.item(d.rows[i], d.rows[i].kind))
	}
	d.messages = append(d.messages, m)
}

// id of a message: it begins with the time, so that ids are in their order.
func (d *decision) id(list []int) string {
	hash := sha256.New()
	fmt.Fprintln(hash, d.to.Name, d.now.UnixNano())
	for _, i := range list {
		fmt.Fprintln(hash, d.rows[i].code, d.rows[i].kind)
	}
	return "finding-" + d.now.UTC().Format("20060102T150405.000000") + "-" + hex.EncodeToString(hash.Sum(nil)[:12])
}

func (d *decision) item(r row, kind Kind) Item {
	one := Item{Kind: kind, Code: r.code, Severity: r.level(d.now, d.s), Found: r.found, Since: r.seenSince, OverSince: r.goneSince, Text: r.text, Do: r.remedy, row: r}
	if kind == Over && r.told != nil {
		one.Severity = r.told.severity
	}
	one.About = sortedNames(r.names)
	if kind != Over {
		one.OverSince = nil
	}
	one.told = r.tells(d.now, d.s)
	return one
}

// changed are the rows that are not as they were read.
func (d *decision) changed() (list []row) {
	for _, r := range d.rows {
		before, was := d.before[r.code]
		if !was || r.differs(before) {
			list = append(list, r)
		}
	}
	return list
}
