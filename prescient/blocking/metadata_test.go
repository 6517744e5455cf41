package blocking

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestWhoWaitsForWhoseMetadataLock(t *testing.T) {
	lock := func(session uint64, mode string) metadataLock {
		return metadataLock{object: "TABLE", schema: "shop", table: "future_job", mode: mode, session: session}
	}
	asks := func(session uint64, mode string) metadataLock {
		m := lock(session, mode)
		m.pending = true
		return m
	}
	global := func(m metadataLock) metadataLock {
		m.object, m.schema, m.table = "GLOBAL", "", ""
		return m
	}
	elsewhere := func(m metadataLock) metadataLock {
		m.table = "slot_run"
		return m
	}
	for name, c := range map[string]struct {
		locks []metadataLock
		want  string // q: is before in the queue
	}{
		"nobody asks":                                 {[]metadataLock{lock(1, "SHARED_READ"), lock(2, "SHARED_WRITE")}, ""},
		"a change waits for who has read":             {[]metadataLock{lock(1, "SHARED_READ"), lock(2, "SHARED_UPGRADABLE"), asks(2, "EXCLUSIVE")}, "2>1"},
		"readers wait for a change to come":           {[]metadataLock{lock(1, "SHARED_READ"), asks(2, "EXCLUSIVE"), asks(3, "SHARED_READ")}, "2>1 3q2"},
		"a change does not wait for readers that ask": {[]metadataLock{lock(1, "SHARED_READ"), asks(3, "SHARED_READ"), asks(2, "EXCLUSIVE")}, "2>1 3q2"},
		"readers go beside readers":                   {[]metadataLock{lock(1, "SHARED_READ"), asks(2, "SHARED_READ")}, ""},
		"writers wait for a copy":                     {[]metadataLock{lock(1, "SHARED_NO_WRITE"), asks(2, "SHARED_WRITE"), asks(3, "SHARED_READ")}, "2>1"},
		"two changes":                                 {[]metadataLock{lock(1, "SHARED_UPGRADABLE"), asks(2, "SHARED_UPGRADABLE")}, "2>1"},
		"LOCK TABLES … WRITE":                         {[]metadataLock{lock(1, "SHARED_NO_READ_WRITE"), asks(2, "SHARED_READ"), asks(3, "SHARED_WRITE")}, "2>1 3>1"},
		"LOCK TABLES … READ":                          {[]metadataLock{lock(1, "SHARED_READ_ONLY"), asks(2, "SHARED_WRITE"), lock(3, "SHARED_READ")}, "2>1"},
		"other tables":                                {[]metadataLock{elsewhere(lock(1, "SHARED_READ")), asks(2, "EXCLUSIVE")}, ""},
		"FLUSH TABLES WITH READ LOCK, MySQL":          {[]metadataLock{global(lock(1, "SHARED")), global(asks(2, "INTENTION_EXCLUSIVE")), global(lock(3, "SHARED"))}, "2>1 2>3"},
		"writers wait for one that is to lock all":    {[]metadataLock{global(lock(1, "INTENTION_EXCLUSIVE")), global(asks(2, "SHARED")), global(asks(3, "INTENTION_EXCLUSIVE"))}, "2>1 3q2"},
		"and MariaDB":                                 {[]metadataLock{global(lock(1, "BACKUP_FTWRL2")), global(asks(2, "BACKUP_TRANS_DML")), global(lock(3, "BACKUP_DDL"))}, "2>1"},
	} {
		var got []string
		for _, w := range metadataWaits(c.locks) {
			how := ">"
			if w.queued {
				how = "q"
			}
			got = append(got, fmt.Sprint(w.Waiting, how, w.Blocking))
			if (w.Table == "") != (c.locks[0].object == "GLOBAL") || w.Kind != Metadata {
				t.Errorf("%s: %+v", name, w)
			}
		}
		slices.Sort(got)
		if text := strings.ReplaceAll(strings.Join(got, "|"), " ", ""); strings.ReplaceAll(text, "|", " ") != c.want {
			t.Errorf("%s: %s; want %s", name, text, c.want)
		}
	}
}
