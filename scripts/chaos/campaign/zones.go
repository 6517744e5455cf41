package campaign

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"prescient/prescient/schedule"
	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/stage"
)

// The zone whose rules the machines do not agree on: by the database of most it is offset ahead of UTC, by that of one step more.
const (
	disputed = "Asia/Kathmandu"
	offset   = 5*time.Hour + 45*time.Minute
	step     = time.Second
	every    = 3 * time.Second // its schedules fire
)

// otherZones is the environment of a worker: the first has a zone database of its own.
func otherZones(s *stage.Stage, place int) ([]string, error) {
	if place > 0 {
		return nil, nil
	}
	dir := filepath.Join(s.Dir, "zoneinfo")
	file := filepath.Join(dir, filepath.FromSlash(disputed))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	return []string{"ZONEINFO=" + dir}, os.WriteFile(file, fixedZone(offset+step), 0o600)
}

// fixedZone is a file of a zone database (RFC 8536, version 1): one offset, for ever.
func fixedZone(ahead time.Duration) []byte {
	const name = "NPT\x00"
	b := append([]byte("TZif"), make([]byte, 16)...)
	for _, count := range []uint32{0, 0, 0, 0, 1, uint32(len(name))} { // isutc, isstd, leap, transitions, types, letters
		b = binary.BigEndian.AppendUint32(b, count)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(int32(ahead/time.Second)))
	return append(append(b, 0, 0), name...)
}

// followZones has schedules of fixed local times fire by whichever worker meets their timers: each local time once.
func followZones(ctx context.Context, s *stage.Stage) {
	const schedules = 12
	local := s.Now().Add(offset)
	for i := range schedules {
		crontab := fmt.Sprintf("*/%d 0-59 %d,%d * * *", every/time.Second, local.Hour(), local.Add(time.Hour).Hour())
		_, err := s.Plans.Create(ctx, s.App, schedule.Schedule{ID: zoned(i), Crontabs: []string{crontab}, Zone: disputed, Topic: "zones", CatchUp: schedule.All})
		if err != nil {
			s.Logf("a schedule of local times: %v", err)
			return
		}
	}
	s.Fault("zone databases differ", "nobody", 0) // it explains nothing
	<-ctx.Done()
	for i := range schedules {
		if err := firedOnce(context.WithoutCancel(ctx), s, zoned(i)); err != nil {
			s.Logf("the events of %s: %v", zoned(i), err)
		}
	}
}

func zoned(i int) string { return fmt.Sprintf("%s-zone-%d", evidence.OutsiderPrefix, i) }

// firedOnce decides whether each local time of a schedule has fired once, and ends it.
func firedOnce(ctx context.Context, s *stage.Stage, id string) error {
	if _, err := s.Plans.Delete(ctx, s.App, id); err != nil {
		return err
	}
	rows, err := s.App.QueryContext(ctx, "SELECT DISTINCT CAST(generated_at AS CHAR) FROM "+stage.Prefix+"event_outbox WHERE event_key = ? ORDER BY 1", id)
	if err != nil {
		return err
	}
	defer rows.Close()
	last, n := int64(0), 0
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		at, err := time.Parse("2006-01-02 15:04:05.999999", text)
		if err != nil {
			return err
		}
		// By either database it is a local time of the crontab: which one, since step is less than half of every.
		switch which := at.Add(offset+step).Unix() / int64(every/time.Second); {
		case n > 0 && which == last:
			s.Find("zone-twice", "a local time of %s has fired again, at %s", id, text)
		case n > 0 && which != last+1:
			s.Find("zone-unfired", "%d local times of %s before %s did not fire", which-last-1, id, text)
		default:
			last = which
		}
		n++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n < 2 {
		s.Logf("%s fired %d times, which proves little", id, n)
	}
	return nil
}
