package notify

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/duty"
)

// memory is a table that several processes have, in memory.
type memory struct {
	mu     sync.Mutex
	rows   map[[2]string]row
	holder *memoryLease
	until  time.Time
	// locked has somebody have all rows locked.
	locked bool
	// loses has what was told not be noted, as where the process dies before that.
	loses bool
}

type memoryLease struct {
	*memory
	dead bool // its process is: it is not renewed
}

func (m *memory) take(context.Context) (lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holder != nil && time.Now().Before(m.until) {
		return nil, nil
	}
	m.holder, m.until = &memoryLease{memory: m}, time.Now().Add(term)
	return m.holder, nil
}

func (l *memoryLease) Keep(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder != l {
		return duty.ErrLost
	}
	if !l.dead {
		l.until = time.Now().Add(term)
	}
	return nil
}

func (l *memoryLease) Alive() bool { return l.Keep(context.Background()) == nil }

func (l *memoryLease) Fence(context.Context, prescient.DB) error { return l.Keep(context.Background()) }

func (l *memoryLease) Release(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder == l && !l.dead {
		l.holder = nil
	}
	return nil
}

func (m *memory) read(context.Context, []string) (now time.Time, rows []row, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		rows = append(rows, r)
	}
	return time.Now(), rows, nil
}

func (m *memory) write(ctx context.Context, l lease, p plan) error {
	if err := l.Fence(ctx, nil); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locked && len(p.write)+len(p.forget) > 0 {
		return errLocked
	}
	for _, r := range p.write {
		m.rows[[2]string{r.code, r.receiver}] = r
	}
	for _, r := range p.forget {
		delete(m.rows, [2]string{r.code, r.receiver})
	}
	return nil
}

func (m *memory) told(_ context.Context, sent Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loses {
		return errors.New("the connection was lost")
	}
	for _, i := range sent.Items {
		key := [2]string{i.row.code, i.row.receiver}
		if r, is := m.rows[key]; is && r.message == i.row.message {
			r.told, r.message, r.kind = i.told, "", ""
			if m.rows[key] = r; i.Kind == Over {
				delete(m.rows, key)
			}
		}
	}
	return nil
}

func (m *memory) row(code string) (r row, is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, is = m.rows[[2]string{code, "team"}]
	return r, is
}

// inbox is a receiver.
type inbox struct {
	mu       sync.Mutex
	messages []Message
	at       []time.Time
	down     error
	hangs    bool
	takes    time.Duration
}

func (b *inbox) Send(ctx context.Context, m Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(b.takes)
	var part *PartError
	if b.down != nil && !errors.As(b.down, &part) {
		return b.down
	}
	b.messages, b.at = append(b.messages, m), append(b.at, time.Now())
	return b.down
}

func (b *inbox) set(down error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = down
}

// all are its messages.
func (b *inbox) all() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.messages)
}

// subjects are what it was told.
func (b *inbox) subjects() string {
	var all []string
	for _, m := range b.all() {
		all = append(all, strings.TrimPrefix(m.Subject(), "prescient: "))
	}
	return strings.Join(all, ", ")
}

// patient is an installation with findings.
type patient struct {
	mu    sync.Mutex
	found []doctor.Finding
	err   error
	table *memory
	log   lines
}

// lines are a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newPatient(found ...doctor.Finding) *patient {
	return &patient{found: found, table: &memory{rows: make(map[[2]string]row)}}
}

func (p *patient) finds(err error, found ...doctor.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found, p.err = found, err
}

// serve has a process tell receivers until stop is called.
func (p *patient) serve(t *testing.T, s Settings) (stop func()) {
	t.Helper()
	n := p.notifier(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); n.Serve(ctx, "w") }()
	return func() { cancel(); <-ended }
}

func (p *patient) notifier(t *testing.T, s Settings) *Notifier {
	t.Helper()
	n, err := New(nil, Options{Settings: s, Log: zerolog.New(&p.log)})
	if err != nil {
		t.Fatal(err)
	}
	n.open = func(context.Context, string) (table, error) { return p.table, nil }
	n.examine = func(context.Context) ([]doctor.Finding, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Clone(p.found), p.err
	}
	return n
}

// after waits, and for all that happens then.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func wantsTold(t *testing.T, b *inbox, want string) {
	t.Helper()
	if got := b.subjects(); got != want {
		t.Errorf("it was told %q; want %q", got, want)
	}
}
