package spool

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The folders of a spool beside those of slots.
const (
	incoming = "incoming" // files that are being written
	running  = "running"  // files that are executed now
	done     = "done"     // what was executed, by slots
)

// layout is how the folder of a slot is called; shortLayout is read, too.
const (
	layout      = "200601021504"
	shortLayout = "0601021504"
)

// slotOf is the slot of a folder, by its name; not ok where it is no slot's.
func slotOf(folder string) (slot time.Time, ok bool) {
	if !looksLikeSlot(folder) {
		return slot, false
	}
	for _, l := range []string{layout, shortLayout} {
		if len(folder) == len(l) {
			slot, err := time.Parse(l, folder)
			return slot, err == nil
		}
	}
	return slot, false
}

// looksLikeSlot says whether whoever made a folder meant a slot.
func looksLikeSlot(folder string) bool {
	return strings.Trim(folder, "0123456789") == "" && (len(folder) == len(layout) || len(folder) == len(shortLayout))
}

// folderOf is the name of a slot's folder.
func folderOf(slot time.Time) string { return slot.UTC().Format(layout) }

// longestName is how long the name of a file may be, so that what is put behind it has room.
const longestName = 200

// A file is one that is executed, as its name says. Counts stand behind it, where one is not 0: report~c2e1 answered twice with a later time, and
// the last time failed.
type file struct {
	name                   string
	checks, errors, deaths int
}

var counted = regexp.MustCompile(`^(.+)~c(\d{1,6})e(\d{1,6})d(\d)$`)

func parseFile(name string) file {
	found := counted.FindStringSubmatch(name)
	if found == nil {
		return file{name: name}
	}
	f := file{name: found[1]}
	for i, n := range []*int{&f.checks, &f.errors, &f.deaths} {
		*n, _ = strconv.Atoi(found[i+2]) // digits, and few
	}
	return f
}

// String is the name of the file with its counts.
func (f file) String() string {
	if f.checks == 0 && f.errors == 0 && f.deaths == 0 {
		return f.name
	}
	return fmt.Sprintf("%s~c%de%dd%d", f.name, min(f.checks, 999_999), min(f.errors, 999_999), min(f.deaths, 9))
}

// between is what stands between folder and file in the name of one that is under way.
const between = "~~"

// underWay is the name that a file of a folder has while it is executed.
func underWay(folder string, f file) string { return folder + between + f.String() }

// parseUnderWay reads such a name.
func parseUnderWay(name string) (folder string, f file, ok bool) {
	folder, rest, ok := strings.Cut(name, between)
	if _, is := slotOf(folder); !ok || !is || rest == "" {
		return "", file{}, false
	}
	return folder, parseFile(rest), true
}
