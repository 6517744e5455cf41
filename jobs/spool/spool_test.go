package spool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
)

func at(clock string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-11-20 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

func TestAFolderIsASlot(t *testing.T) {
	for name, want := range map[string]string{"202611201305": "2026-11-20 13:05", "2611201305": "2026-11-20 13:05", "202613201305": "", "20261120130": "", "done": "", "lock": "", "": "", "+02611201305": "", "2026112013051": ""} {
		slot, ok := slotOf(name)
		if got := slot.Format("2006-01-02 15:04"); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %s, %t; want %q", name, got, ok, want)
		}
	}
	if got := folderOf(at("13:05:00").In(time.FixedZone("x", 3600))); got != "202611201305" {
		t.Error(got)
	}
}

func FuzzFileNames(f *testing.F) {
	for _, name := range []string{"a", "a~c1e2d0", "a~c1e2d0~c3e4d5", "~c1e2d0", "a~~b", "a~c9999999e0d0"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		one := parseFile(name)
		if again := parseFile(one.String()); again != one && one.name == name && counted.FindStringSubmatch(name) == nil {
			t.Fatalf("%q: %+v, then %+v", name, one, again)
		}
		folder, is, ok := parseUnderWay(underWay("202611201305", one))
		if name != "" && (!ok || folder != "202611201305" || is.String() != one.String()) {
			t.Fatalf("%q under way: %s, %+v, %t", name, folder, is, ok)
		}
	})
}

// spoolAt is a spool whose clock stands still.
type spoolAt struct {
	*testing.T
	Options
	mu   sync.Mutex
	told []Ran
}

func newSpool(t *testing.T) *spoolAt {
	t.Helper()
	s := &spoolAt{T: t}
	s.Dir = filepath.Join(t.TempDir(), "spool")
	s.Tell = func(r Ran) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told, r)
	}
	return s
}

func (s *spoolAt) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *spoolAt) put(now, due string, argv ...string) Placed {
	s.Helper()
	s.Now = func() time.Time { return at(now) }
	p, err := Put(s.Options, at(due), argv)
	s.must(err)
	return p
}

// run executes what is due at a time, and returns what came of it: name without what Put adds, outcome and code.
func (s *spoolAt) run(now string) []string {
	s.Helper()
	s.Now, s.told = func() time.Time { return at(now) }, nil
	s.must(Run(s.Context(), s.Options))
	var all []string
	for _, r := range s.told {
		name := r.Name
		if parts := strings.Split(name, "-"); len(parts) == 3 {
			name = parts[1]
		}
		word := r.Outcome
		if r.Next != nil {
			word = "again at " + r.Next.Format("15:04")
		}
		all = append(all, fmt.Sprintf("%s %s %d", name, word, r.Code))
	}
	return all
}

// drop puts a script into a folder, as whoever has an editor does.
func (s *spoolAt) drop(folder, name, script string, mode os.FileMode) {
	s.Helper()
	s.must(ready(s.Dir))
	s.must(os.MkdirAll(filepath.Join(s.Dir, folder), 0o700))
	path := filepath.Join(s.Dir, folder, name)
	s.must(os.WriteFile(path, []byte(script), 0o700))
	s.must(os.Chmod(path, mode))
}

func (s *spoolAt) wants(got []string, want ...string) {
	s.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("%q; want %q", got, want)
	}
}

func TestAFileIsExecutedOnceWhenItsSlotHasCome(t *testing.T) {
	s := newSpool(t)
	p := s.put("13:00:30", "13:04:01", "echo", "it's", `a "b" $HOME`, "")
	if !p.Slot.Equal(at("13:05:00")) || filepath.Base(filepath.Dir(p.Path)) != "202611201305" {
		t.Errorf("%+v", p)
	}
	if late := s.put("13:00:30", "12:00:00", "true"); !late.Slot.Equal(at("13:01:00")) {
		t.Errorf("what is over goes to %s", late.Slot)
	}
	s.wants(s.run("13:00:59"))
	s.wants(s.run("13:04:59"), "true done 0")
	s.wants(s.run("13:05:00"), "echo done 0")
	s.wants(s.run("13:06:00"))
	out, err := os.ReadFile(filepath.Join(s.Dir, done, "202611201305", filepath.Base(p.Path)+".out"))
	s.must(err)
	if string(out) != "it's a \"b\" $HOME \n" {
		t.Errorf("it wrote %q", out)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, done, "202611201305", filepath.Base(p.Path)+".json"))
	s.must(err)
	var ran Ran
	s.must(json.Unmarshal(text, &ran))
	if ran.Outcome != "done" || ran.Code != 0 || !ran.Slot.Equal(p.Slot) || ran.Name != filepath.Base(p.Path) {
		t.Errorf("%+v", ran)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "202611201305")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there still: %v", err)
	}
}

func TestOlderSlotsAreCaughtUpFirst(t *testing.T) {
	s := newSpool(t)
	s.Concurrency = 1
	log := filepath.Join(t.TempDir(), "log")
	for _, folder := range []string{"202611201305", "2611201205", "202611191305"} {
		for _, name := range []string{"b", "a"} {
			s.drop(folder, name, "#!/bin/sh\necho "+folder+name+" >> "+log+"\n", 0o700)
		}
	}
	s.run("14:00:00")
	text, err := os.ReadFile(log)
	s.must(err)
	if want := "202611191305a\n202611191305b\n2611201205a\n2611201205b\n202611201305a\n202611201305b\n"; string(text) != want {
		t.Errorf("%q; want %q", text, want)
	}
}

// Exit codes answer as those of commands do.
func TestAnExitCodeIsAnAnswer(t *testing.T) {
	s := newSpool(t)
	s.drop("202611201300", "fails", "#!/bin/sh\necho no >&2\nexit 3\n", 0o700)
	s.drop("202611201300", "later", "#!/bin/sh\necho '{\"next_in\": \"10m\"}'\nexit 75\n", 0o700)
	s.drop("202611201300", "when", "#!/bin/sh\nexit 75\n", 0o700)
	s.wants(s.run("13:00:10"), "fails failed 3", "later again at 13:11 75", "when failed -1")
	s.wants(s.run("13:10:59"))
	for i, want := range []string{"13:22", "13:33", "13:44", "13:55"} {
		s.wants(s.run(at("13:11:00").Add(time.Duration(i)*11*time.Minute).Format("15:04:05")), "later again at "+want+" 75")
	}
	s.wants(s.run("13:55:00"), "later max_checks 75")
	s.wants(s.run("23:00:00"))

	retried := newSpool(t)
	retried.Guards.MaxErrors = 1
	retried.drop("202611201300", "fails", "#!/bin/sh\nexit 3\n", 0o700)
	retried.wants(retried.run("13:00:10"), "fails again at 13:01 3")
	retried.wants(retried.run("13:01:00"), "fails failed 3")
}

func TestWhatIsNoProgramOfItsUserIsRefused(t *testing.T) {
	s := newSpool(t)
	s.drop("202611201300", "text", "#!/bin/sh\n", 0o600)
	s.drop("202611201300", "others", "#!/bin/sh\n", 0o722)
	s.drop("202611201300", ".hidden", "#!/bin/sh\n", 0o700)
	s.must(os.Symlink("/bin/true", filepath.Join(s.Dir, "202611201300", "link")))
	s.must(os.Mkdir(filepath.Join(s.Dir, "202611201300", "folder"), 0o700))
	s.wants(s.run("13:01:00"), "text refused -1", "others refused -1", "link refused -1")
	s.wants(s.run("13:01:00"))

	for what, wrong := range map[string]func(s *spoolAt) error{
		"others may read": func(s *spoolAt) error { return os.Chmod(s.Dir, 0o755) },
		"a link":          func(s *spoolAt) error { return errors.Join(os.RemoveAll(s.Dir), os.Symlink(t.TempDir(), s.Dir)) },
		"a slot of others": func(s *spoolAt) error {
			return errors.Join(os.Mkdir(filepath.Join(s.Dir, "202611201200"), 0o700), os.Chmod(filepath.Join(s.Dir, "202611201200"), 0o777))
		},
	} {
		s := newSpool(t)
		s.must(ready(s.Dir))
		s.must(wrong(s))
		s.Now = func() time.Time { return at("13:00:00") }
		if err := Run(t.Context(), s.Options); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A process that dies leaves what it executed under way: it is executed again, but not for ever.
func TestWhatADeadProcessLeftIsExecutedAgain(t *testing.T) {
	s := newSpool(t)
	s.must(ready(s.Dir))
	leave := func(name string) {
		s.must(os.WriteFile(filepath.Join(s.Dir, running, name), []byte("#!/bin/sh\n"), 0o700))
	}
	leave("202611201300~~a")
	leave("202611201300~~b~c1e0d2")
	leave("nobody's")
	s.wants(s.run("13:01:00"), "a done 0", "b crashed -1")
	s.wants(s.run("13:02:00"))
}

func TestTwoNeverRunWhatIsDueAtOnce(t *testing.T) {
	s := newSpool(t)
	fifo := filepath.Join(t.TempDir(), "go")
	s.drop("202611201300", "waits", "#!/bin/sh\nmkfifo "+fifo+"\nread line < "+fifo+"\n", 0o700)
	s.Now = func() time.Time { return at("13:01:00") }
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), s.Options) }()
	for exists(filepath.Join(s.Dir, "202611201300", "waits")) || !exists(fifo) {
		time.Sleep(time.Millisecond)
	}
	if err := Run(t.Context(), s.Options); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	put := s.put("13:01:00", "13:00:00", "true") // beside it
	s.must(os.WriteFile(fifo, []byte("go\n"), 0o600))
	s.must(<-ended)
	s.wants(s.run("13:02:00"), "true done 0")
	_ = put
}

func TestWhatIsInterruptedStaysDue(t *testing.T) {
	s := newSpool(t)
	started := filepath.Join(t.TempDir(), "started")
	s.drop("202611201300", "long", "#!/bin/sh\ntouch "+started+"\nexec sleep 60\n", 0o700)
	s.Now = func() time.Time { return at("13:01:00") }
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, s.Options) }()
	for !exists(started) {
		time.Sleep(time.Millisecond)
	}
	cancel(errors.New("it is to end"))
	s.must(<-ended)
	if !exists(filepath.Join(s.Dir, "202611201300", "long")) || len(s.told) != 0 {
		t.Errorf("%+v", s.told)
	}
}

func TestWhatWasExecutedIsForgotten(t *testing.T) {
	s := newSpool(t)
	s.put("13:00:00", "13:01:00", "true")
	s.run("13:01:00")
	ended := time.Now()
	for _, after := range []time.Duration{DefaultKeep - time.Minute, DefaultKeep + time.Minute} {
		s.Now = func() time.Time { return ended.Add(after) }
		s.must(Run(t.Context(), s.Options))
		if there := exists(filepath.Join(s.Dir, done, "202611201301")); there != (after < DefaultKeep) {
			t.Errorf("after %s: %t", after, there)
		}
	}
}

func TestPutRefusesWhatCannotBeExecuted(t *testing.T) {
	s := newSpool(t)
	s.Now = func() time.Time { return at("13:00:00") }
	for what, argv := range map[string][]string{"nothing": nil, "an empty name": {""}, "NUL": {"a", "b\x00"}} {
		if _, err := Put(s.Options, at("13:01:00"), argv); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := Put(s.Options, at("13:01:00").AddDate(0, 0, 31), []string{"true"}); !errors.Is(err, prescient.ErrBeyondHorizon) {
		t.Error(err)
	}
	if exists(s.Dir) {
		t.Error("a spool was made for nothing")
	}
	if _, err := Put(Options{}, at("13:01:00"), []string{"true"}); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
}
