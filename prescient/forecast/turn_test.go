package forecast

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
)

// Whoever has a forecast that he reads locked, for as long as he likes, holds up none of those to come.
func TestALockedForecastHoldsUpNoOther(t *testing.T) {
	const fits, lines = "p_forecast_fit FORCE INDEX (PRIMARY) WHERE grain = ", "p_forecast FORCE INDEX (PRIMARY) WHERE grain = "
	type locked struct {
		role      string
		isolation sql.IsolationLevel
		rows      []string
	}
	for name, lock := range map[string]locked{
		"all of it":              {"app", sql.LevelRepeatableRead, []string{fits + "'slot2'", fits + "'day2'"}},
		"its rows, without gaps": {"app", sql.LevelReadCommitted, []string{fits + "'slot2'", fits + "'day2'"}},
		"slots of it":            {"app", sql.LevelRepeatableRead, []string{fits + "'slot2'"}},
		"a slot of it":           {"app", sql.LevelRepeatableRead, []string{fits + "'slot2' AND start = '2026-11-20 13:30:00'"}},
		"its lines":              {"analyst", sql.LevelRepeatableRead, []string{lines + "'slot2'", lines + "'day2'"}},
		"how it was made":        {"operator", sql.LevelRepeatableRead, []string{"p_forecast_made"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *testRig) {
				r.ManyDue(rig.At("15:00"), "check", 0, 30)
				for minute := range turns + 2 {
					r.makeAt(rig.At(fmt.Sprintf("12:%02d", 50+minute)))
				}
				tx, err := r.As(lock.role, rig.At("13:01")).BeginTx(t.Context(), &sql.TxOptions{Isolation: lock.isolation})
				r.Must(err)
				defer func() { _ = tx.Rollback() }()
				locked := 0
				for _, of := range lock.rows {
					rows, err := tx.QueryContext(t.Context(), "SELECT * FROM "+of+" LOCK IN SHARE MODE")
					r.Must(err)
					for rows.Next() {
						locked++
					}
					r.Must(rows.Close())
				}
				for minute := range 8 {
					now := rig.At(fmt.Sprintf("13:%02d", minute))
					if report := r.makeAt(now); locked == 0 || !report.MadeAt.Equal(now) || report.Age != 0 || partAt(t, report.Slots, rig.At("15:00")).Due != 30 {
						t.Fatalf("with %d rows locked: %+v", locked, report)
					}
				}
			})
		})
	}
}

// Of a lock of the whole table nobody waits for long, and the last forecast stays.
func TestALockOfAllForecastsIsGivenUpOn(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.makeAt(rig.At("13:00"))
		tx, err := r.As("app", rig.At("13:00")).BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.Must(err)
		rows, err := tx.QueryContext(t.Context(), "SELECT * FROM p_forecast_fit LOCK IN SHARE MODE")
		r.Must(err)
		r.Must(rows.Close())
		began := time.Now()
		if made, err := r.maker(rig.At("13:01")).Make(t.Context()); !errno.Is(err, errno.LockWaitTimeout) || time.Since(began) > 10*time.Second {
			t.Errorf("%t, %v, after %s", made, err, time.Since(began))
		}
		report, err := Read(t.Context(), r.As("analyst", rig.At("13:01")), "p_", r.Setting)
		r.Must(err)
		if !report.MadeAt.Equal(rig.At("13:00")) {
			t.Errorf("%+v", report)
		}
		r.Must(tx.Rollback())
		r.makeAt(rig.At("13:01"))
	})
}
