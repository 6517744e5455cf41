package probe

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	nethttp "net/http"
	"time"

	"prescient/jobs/http"
	"prescient/prescient"
	"prescient/slots"
)

// Options say what is called, and for which check.
type Options struct {
	// Endpoint is what is called. Its Client is not used.
	Endpoint http.Options
	// Check is what the calls are for: one that the receiver may take for a real one. It is due in the slot that is now.
	Check prescient.NewJob
	// Grid has the slots of the worker, and Guards what it holds answers to; zero guards mean their defaults.
	Grid   slots.Grid
	Guards prescient.Guards
}

// large is how long the body of a large call is, in bytes.
const large = 64 << 10

// ageOfReplay is for how long the signature of a replayed call has been over.
const ageOfReplay = time.Hour

// Run makes the calls, one after the other, and tells each finding as it comes. Where the call of a worker is not answered as it should be the
// others are not made: they would prove nothing. The error wraps prescient.ErrInvalid, or is that of ctx or of tell.
func Run(ctx context.Context, o Options, tell func(Finding) error) error {
	if o.Grid.IsZero() {
		return fmt.Errorf("%w: there is no Grid", prescient.ErrInvalid)
	}
	o.Guards = o.Guards.Or(prescient.DefaultGuards())
	job, err := pending(o, time.Now())
	if err != nil {
		return err
	}
	transport := http.NewTransport()
	defer transport.CloseIdleConnections()
	first, err := call{secret: o.Endpoint.Secret}.make(ctx, o, job, transport)
	if err != nil {
		return err
	}
	found := judgeSigned(o.Grid, o.Guards, job, first)
	if err := tell(found); err != nil || first.err != nil {
		return err
	}
	for _, p := range probes(o.Endpoint.Secret) {
		if !p.same {
			job.InsertedAt = job.InsertedAt.Add(-time.Microsecond)
		}
		s, err := p.call.make(ctx, o, job, transport)
		if err != nil {
			return err
		}
		if err := tell(p.finding(first, s)); err != nil {
			return err
		}
	}
	if len(o.Endpoint.Secret) == 0 {
		return tell(unsigned(len(o.Endpoint.Headers) > 0))
	}
	return nil
}

// pending is a check as it is when its slot begins: one that no worker has. Its Idempotency-Key is another at each time.
func pending(o Options, at time.Time) (prescient.FutureJob, error) {
	at = at.UTC().Truncate(time.Microsecond)
	o.Check.DueAt = o.Grid.Floor(at)
	inserted := o.Check.DueAt.Add(-at.Sub(o.Check.DueAt) - time.Microsecond)
	return prescient.NewPending(o.Grid, o.Guards, o.Check, inserted)
}

// A probe is a call beside the first, and what is made of its answer.
type probe struct {
	call  call
	judge func(first, s seen) Finding
	// same says that it has the Idempotency-Key of the first, and not one of its own: a receiver that remembers keys takes it for another call.
	same bool
}

// probes are the calls that are to be taken, and those that are to be refused where there is a secret.
func probes(secret []byte) []probe {
	list := []probe{
		{call: call{secret: secret}, judge: judgeAgain, same: true},
		{call: call{secret: secret, written: spaced}, judge: taken(CodeSpaces, "a body with blanks in it", doSpaces)},
		{call: call{secret: secret, written: padded}, judge: taken(CodeLarge, fmt.Sprintf("a body of %d KiB", large>>10), doLarge)},
		{call: call{secret: secret, written: longer}, judge: taken(CodeMember, "a body with a member that is not known yet", doMember)},
	}
	if len(secret) == 0 {
		return list
	}
	return append(list,
		probe{call: call{secret: secret, sent: ofNextVersion}, judge: taken(CodeVersion, "a signature with a member that is not known yet", doVersion)},
		probe{call: call{}, judge: refused(CodeUnsigned, "a call without a signature", consequenceAnybody)},
		probe{call: call{secret: []byte(rand.Text())}, judge: refused(CodeForged, "a signature by another secret", consequenceAnybody)},
		probe{call: call{secret: secret, ago: ageOfReplay}, judge: refused(CodeReplayed, "a call with a signature of "+slots.Short(ageOfReplay)+" ago", consequenceReplay)},
		probe{call: call{secret: secret, sent: counted}, judge: refused(CodeChanged, "a body that is not the signed one", consequenceChange)},
	)
}

// spaced is a body with blanks that no writer of JSON makes: who signs what was read and written anew comes to another signature.
func spaced(body []byte) []byte {
	return append(append([]byte("{ \n"), body[1:]...), '\n')
}

// padded is a body with as many blanks at its end as make it large.
func padded(body []byte) []byte {
	return append(body, bytes.Repeat([]byte(" "), max(large-len(body), 0))...)
}

// longer is a body with one more member.
func longer(body []byte) []byte {
	return append(bytes.TrimSuffix(body, []byte("}")), `,"not_known_yet":{"to":["anybody",1]}}`...)
}

// ofNextVersion leaves the body alone, whose signature gets one more member.
func ofNextVersion(header nethttp.Header, body []byte) []byte {
	header.Set(http.SignatureHeader, header.Get(http.SignatureHeader)+",v2=00")
	return body
}

// counted is a body whose check_count is another than what was signed.
func counted(_ nethttp.Header, body []byte) []byte {
	return bytes.Replace(body, []byte(`"check_count":0`), []byte(`"check_count":1`), 1)
}
