package purge

import (
	"fmt"
	"time"
)

// step is what is to be done about the snapshot.
type step string

// The steps.
const (
	openSnapshot step = "open"
	keepSnapshot step = "go on"
	endSnapshot  step = "end" // or leave it unopened
)

const (
	// MostBehind is how long the history list may be for a snapshot to be opened: a server that keeps up has hundreds of
	// transactions there, or a few thousand.
	MostBehind = 10_000
	// MostOthers is how much the list may grow by what others commit while the snapshot is open, which leaves all of that
	// to be purged.
	MostOthers = 1_000
	// surely is the age from which a transaction is open for a while: the server says it in whole seconds.
	surely = time.Second
)

// judge says what is to be done after a look, and why where that is to end. least is the look since the snapshot is about to be
// opened that found the least of others, nil if there was none. A transaction is long that is open for longer than a run may put
// purge off: so the snapshot of another worker never is.
func judge(least *Seen, now Seen, putOff time.Duration, mostOthers int) (do step, why string) {
	switch {
	case now.Oldest > max(putOff, surely):
		return endSnapshot, fmt.Sprintf("a transaction of somebody else is open for %s", now.Oldest)
	case least == nil && now.Behind > MostBehind:
		return endSnapshot, fmt.Sprintf("the history list has %d transactions already", now.Behind)
	case least == nil:
		return openSnapshot, ""
	}
	if grown := now.others() - least.others(); grown > mostOthers {
		return endSnapshot, fmt.Sprintf("the history list has grown by %d transactions of others", grown)
	}
	return keepSnapshot, ""
}
