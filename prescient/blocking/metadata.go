package blocking

import (
	"slices"
	"strings"
)

// metadataLock is a metadata lock that somebody has, or waits for.
type metadataLock struct {
	object, schema, table string // object is the kind of object, as the server calls it
	mode                  string
	pending               bool
	session               uint64
}

// metadataWaits finds who waits for whom. A server notes who has a lock and who waits, and not for whom: who has it in a mode that
// bears none with the one that is asked for, and who asked before for more than sharing it. It is a pure function.
func metadataWaits(locks []metadataLock) (waits []Wait) {
	for _, p := range locks {
		if !p.pending {
			continue
		}
		for _, q := range locks {
			if q.session == p.session || q.object != p.object || q.schema != p.schema || q.table != p.table {
				continue
			}
			if bears(p.mode, q.mode) || q.pending && !goesFirst(q.mode, p.mode) {
				continue
			}
			w := Wait{Waiting: p.session, Blocking: q.session, Kind: Metadata, Mode: p.mode, queued: q.pending}
			if p.object == "TABLE" {
				w.Schema, w.Table = p.schema, p.table
			}
			waits = append(waits, w)
		}
	}
	return waits
}

// refuses says of each mode of a lock of a table which ones of others it does not bear, as the servers do.
var refuses = map[string][]string{
	"SHARED":                {"EXCLUSIVE"},
	"SHARED_HIGH_PRIO":      {"EXCLUSIVE"},
	"SHARED_READ":           {"EXCLUSIVE", "SHARED_NO_READ_WRITE"},
	"SHARED_WRITE":          {"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE", "SHARED_READ_ONLY"},
	"SHARED_WRITE_LOW_PRIO": {"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE", "SHARED_READ_ONLY"},
	"SHARED_UPGRADABLE":     {"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE", "SHARED_UPGRADABLE"},
	"SHARED_READ_ONLY":      {"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_WRITE", "SHARED_WRITE_LOW_PRIO"},
	"SHARED_NO_WRITE":       {"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE", "SHARED_UPGRADABLE", "SHARED_WRITE", "SHARED_WRITE_LOW_PRIO"},
	"SHARED_NO_READ_WRITE":  {"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE", "SHARED_UPGRADABLE", "SHARED_WRITE", "SHARED_WRITE_LOW_PRIO", "SHARED_READ", "SHARED_READ_ONLY"},
}

// bears says whether two modes of different sessions go together.
func bears(wanted, has string) bool {
	switch {
	case strings.HasPrefix(wanted, "BACKUP_") || strings.HasPrefix(has, "BACKUP_"): // of MariaDB, of the whole server
		return changes(wanted) && changes(has)
	case wanted == "EXCLUSIVE" || has == "EXCLUSIVE":
		return false
	case wanted == "INTENTION_EXCLUSIVE" || has == "INTENTION_EXCLUSIVE": // of a database, or the whole server
		return wanted == has
	}
	return !slices.Contains(refuses[wanted], has)
}

// changes says whether a mode of MariaDB's lock of the whole server is that of who changes something: those go together.
func changes(mode string) bool {
	switch mode {
	case "BACKUP_DML", "BACKUP_TRANS_DML", "BACKUP_SYS_DML", "BACKUP_DDL", "BACKUP_COMMIT", "BACKUP_ALTER_COPY":
		return true
	}
	return false
}

// goesFirst says whether one that asked for a mode goes before another that asks for less, and could share what is there: else readers
// without end would keep a change from its turn. Who has it by then goes before both.
func goesFirst(mode, other string) bool {
	return isStrong(mode) && !isStrong(other) || mode == "SHARED" && other == "INTENTION_EXCLUSIVE" // of the whole server
}

func isStrong(mode string) bool {
	switch mode {
	case "EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE":
		return true
	}
	return strings.HasPrefix(mode, "BACKUP_") && !changes(mode)
}
