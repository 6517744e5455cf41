package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"prescient/prescient"
)

// marks drops a script that leaves a line of its own in a log, and returns the log.
func (s *spoolAt) marks(mark, folder, name, then string) {
	s.Helper()
	s.drop(folder, name, "#!/bin/sh\necho "+mark+" >> "+s.log()+"\n"+then+"\n", 0o700)
}

func (s *spoolAt) log() string { return filepath.Join(filepath.Dir(s.Dir), "log") }

// marked are the lines of the log, sorted.
func (s *spoolAt) marked() []string {
	s.Helper()
	text, err := os.ReadFile(s.log())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Fatal(err)
	}
	lines := strings.Fields(string(text))
	slices.Sort(lines)
	return lines
}

// In each slot there is a file of the same name: the day's sync. After an outage all are tried again in one slot.
func TestFilesOfTheSameNameMeetInASlotAndNoneIsLost(t *testing.T) {
	s := newSpool(t)
	s.Guards.MaxErrors = 1
	for _, folder := range []string{"202611201300", "202611201301", "202611201302"} {
		s.marks(folder, folder, "sync", "exit 3")
	}
	s.wants(s.run("13:10:00"), "sync again at 13:11 3", "sync again at 13:11 3", "sync again at 13:11 3")
	s.wants(s.run("13:11:00"), "sync failed 3", "sync~2 failed 3", "sync~3 failed 3")
	s.wants(s.marked(), "202611201300", "202611201300", "202611201301", "202611201301", "202611201302", "202611201302")
}

func TestNothingIsPutOverAFileOfItsName(t *testing.T) {
	s := newSpool(t)
	// A process died under the first, and another was put where that was.
	s.marks("first", running, "202611201300~~a", "")
	s.marks("second", "202611201300", "a~c0e0d1", "")
	// These have one name but for their counts, and are executed at the same time: each waits for the other.
	meet := func(here, there string) string {
		return "touch " + s.log() + here + "; until [ -e " + s.log() + there + " ]; do sleep 0.01; done"
	}
	s.marks("third", "202611201301", "b", meet("1", "2"))
	s.marks("fourth", "202611201301", "b~c0e0d0", meet("2", "1"))
	s.marks("fifth", "202611201302", "c.json", "")
	s.marks("sixth", "202611201302", "c", "")
	s.run("13:02:00")
	s.wants(s.marked(), "fifth", "first", "fourth", "second", "sixth", "third")
	for _, folder := range []string{"202611201300", "202611201301", "202611201302"} {
		list, err := filepath.Glob(filepath.Join(s.Dir, done, folder, "*"))
		s.must(err)
		if len(list) != 6 { // two files, and what they wrote and came to
			t.Errorf("%s: %q", folder, list)
		}
	}
	s.wants(s.run("13:03:00"))
}

func TestTheFolderOfASpoolMayBeRelative(t *testing.T) {
	s := newSpool(t)
	t.Chdir(filepath.Dir(s.Dir))
	s.Dir = filepath.Base(s.Dir)
	if p := s.put("13:00:30", "13:01:00", "true"); !filepath.IsAbs(p.Path) {
		t.Error(p.Path)
	}
	s.wants(s.run("13:01:00"), "true done 0")
}

func TestALongNameComesAgainAsOftenAsAnother(t *testing.T) {
	s := newSpool(t)
	name := strings.Repeat("x", longestName)
	s.drop("202611201300", name, "#!/bin/sh\necho '{\"next_in\": \"1m\"}'\nexit 75\n", 0o700)
	s.wants(s.run("13:00:00"), name+" again at 13:02 75")
	s.wants(s.run("13:02:00"), name+" again at 13:04 75")
}

// What is no good stays where it is, and is said; all that is beside it is executed.
func TestWhatCannotBeExecutedKeepsNothingElse(t *testing.T) {
	outside := t.TempDir()
	long := strings.Repeat("x", longestName+1)
	for what, test := range map[string]struct {
		wrong func(s *spoolAt) error
		says  string
	}{
		"a slot that others may write": {func(s *spoolAt) error {
			s.drop("202611201200", "a", "#!/bin/sh\n", 0o700)
			return os.Chmod(filepath.Join(s.Dir, "202611201200"), 0o777)
		}, "its mode is 0777"},
		"a slot elsewhere":              {func(s *spoolAt) error { return os.Symlink(outside, filepath.Join(s.Dir, "202611201200")) }, "it is no folder"},
		"a file in the place of a slot": {func(s *spoolAt) error { return os.WriteFile(filepath.Join(s.Dir, "202611201200"), nil, 0o700) }, "it is no folder"},
		"a 30 February":                 {func(s *spoolAt) error { return os.Mkdir(filepath.Join(s.Dir, "202602301200"), 0o700) }, "there is no such time"},
		"a short 30 February":           {func(s *spoolAt) error { return os.Mkdir(filepath.Join(s.Dir, "2602301200"), 0o700) }, "there is no such time"},
		"a name that is too long": {func(s *spoolAt) error {
			s.drop("202611201200", long, "#!/bin/sh\n", 0o700)
			return nil
		}, "its name has 201 bytes"},
		"a slot whose ends cannot be kept": {func(s *spoolAt) error {
			s.marks("never", "202611201200", "a", "")
			return os.WriteFile(filepath.Join(s.Dir, done, "202611201200"), nil, 0o700)
		}, "not a directory"},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSpool(t)
			s.must(ready(s.Dir))
			s.must(test.wrong(s))
			s.marks("beside", "202611201300", "b", "")
			s.Now = func() time.Time { return at("13:00:00") }
			for range 2 {
				if err := Run(t.Context(), s.Options); !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%v; want %s", err, test.says)
				}
			}
			s.wants(s.marked(), "beside")
		})
	}
}

// A folder made by mkdir is one that others may read, who do not come as far.
func TestASlotThatOthersMayReadIsExecuted(t *testing.T) {
	s := newSpool(t)
	s.drop("202611201300", "a", "#!/bin/sh\n", 0o700)
	s.must(os.Chmod(filepath.Join(s.Dir, "202611201300"), 0o755))
	s.wants(s.run("13:00:00"), "a done 0")
}

func TestAFileMayRemoveOrMoveItself(t *testing.T) {
	s := newSpool(t)
	var log bytes.Buffer
	s.Log = zerolog.New(&log).Level(zerolog.WarnLevel)
	s.marks("removed", "202611201300", "a", `rm "$0"`)
	s.marks("moved", "202611201300", "b", `[ -d `+s.Dir+`/202611201400 ] || { mkdir `+s.Dir+`/202611201400; mv "$0" `+s.Dir+`/202611201400; }`)
	s.wants(s.run("13:00:00"), "a done 0", "b done 0")
	s.wants(s.run("14:00:00"), "202611201300~~b done 0")
	s.wants(s.marked(), "moved", "moved", "removed")
	if log.Len() > 0 {
		t.Error(log.String())
	}
}

// One that waits for its turn is not under way: where the process dies, it did not die under that one.
func TestOnlyWhatIsExecutedIsUnderWay(t *testing.T) {
	s := newSpool(t)
	s.Concurrency = 1
	for i := range 3 {
		s.drop("202611201300", fmt.Sprint(i), "#!/bin/sh\nls "+filepath.Join(s.Dir, running)+" >> "+s.log()+"\n", 0o700)
	}
	s.run("13:00:00")
	s.wants(s.marked(), "202611201300~~0", "202611201300~~1", "202611201300~~2")
}

func TestAFileSystemThatDoesNotSuitIsRefused(t *testing.T) {
	for _, test := range []struct {
		kind, flags int64
		says        string
	}{
		{0xEF53, 0, ""}, {0x01021994, unix.MS_NOSUID, ""}, {0x6969, 0, "is on NFS"}, {-0xACB2BE, 0, "is on CIFS"}, {0xEF53, unix.MS_NOEXEC | unix.MS_NOSUID, "executes nothing"},
	} {
		if err := suits("/d", test.kind, test.flags); (err == nil) != (test.says == "") || err != nil && (!errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%x, %x: %v; want %q", test.kind, test.flags, err, test.says)
		}
	}
}

// Options with which nothing can be executed have no file fail.
func TestOptionsThatNothingCanBeExecutedWithAreRefused(t *testing.T) {
	s := newSpool(t)
	s.drop("202611201300", "a", "#!/bin/sh\n", 0o700)
	s.Now = func() time.Time { return at("13:00:00") }
	wrong := s.Options
	wrong.Command.Memory = 1
	if err := Run(t.Context(), wrong); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
	s.wants(s.run("13:00:00"), "a done 0")
}

func TestTheUmaskTakesNothingFromWhatIsPut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	before := syscall.Umask(0o177)
	err := write(path, []byte("#!/bin/sh\n"), 0o700)
	syscall.Umask(before)
	if err != nil || executable(path) != nil {
		t.Errorf("%v, %v", err, executable(path))
	}
}

func TestWhatAPutThatDiedLeftIsForgotten(t *testing.T) {
	s := newSpool(t)
	s.drop(incoming, "half", "#!/bin/sh\n", 0o700)
	for _, after := range []time.Duration{DefaultKeep - time.Hour, DefaultKeep + time.Hour} {
		s.Now = func() time.Time { return time.Now().Add(after) }
		s.must(Run(t.Context(), s.Options))
		if there := exists(filepath.Join(s.Dir, incoming, "half")); there != (after < DefaultKeep) {
			t.Errorf("after %s: %t", after, there)
		}
	}
}
