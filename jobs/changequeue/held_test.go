package changequeue

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	text "prescient/sql"
)

// everyOther are n ids, from the first on.
func everyOther(first uint64, n int) (ids []uint64) {
	for i := range n {
		ids = append(ids, first+2*uint64(i))
	}
	return ids
}

// complete checks that each change was handled, and none twice.
func (r *rig) complete() {
	r.t.Helper()
	never := r.count("SELECT COUNT(*) FROM changes WHERE id > 0 AND id NOT IN (SELECT id FROM handled)")
	twice := r.count("SELECT COUNT(*) - COUNT(DISTINCT id) FROM handled")
	if never != 0 || twice != 0 {
		r.t.Errorf("%d changes were never handled, %d twice", never, twice)
	}
}

func TestATransactionThatIsOpenForLongerThanGapWaitIsHandledInWhole(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		late := r.change(everyOther(2, 300)...)
		r.must(r.change(everyOther(1, 301)...).Commit())
		q, _ := r.works(Options{GapWait: time.Second, Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "the others are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 301 })
		r.within(time.Minute, "all gaps are found to be held", func() bool { return q.Figures() == (Figures{Handled: 301, Open: 300, Held: 300}) })
		// Others go on meanwhile, and what rolls back beside it is passed over.
		r.must(r.change(everyOther(1001, 100)...).Rollback())
		r.must(r.change(1300).Commit())
		r.within(time.Minute, "the rolled back ids are passed over", func() bool { return q.Figures().Passed == 698 })
		r.must(late.Commit())
		r.within(time.Minute, "it is handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 602 })
		if f := q.Figures(); f.Late != 0 || f.Open != 0 {
			t.Errorf("%+v", f)
		}
		r.complete()
	})
}

func TestAQueueThatWasCancelledAndPrunedGoesOnWhereItWas(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.must(r.change(everyOther(1, 51)...).Commit())
		q, stop := r.works(Options{Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "all are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 51 })
		db, err := connect.Open(r.dsn, 0)
		r.must(err)
		defer db.Close()
		checks, err := client.New(t.Context(), db, client.Options{Dialect: r.setting})
		r.must(err)
		_, err = checks.Cancel(t.Context(), db, q.Entity())
		r.must(err)
		stop()
		r.exec("DELETE FROM long_run") // as prune does
		r.must(r.change(200).Commit())
		r.works(Options{Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "what came is handled", func() bool { return r.count("SELECT COUNT(*) FROM handled WHERE id = 200") > 0 })
		r.complete()
	})
}

// An id that was given and is inserted after all that, as by a statement that takes its time: it is handled, and so are all of them.
func TestWhatComesAfterItsGapWasPassedIsHandledHoweverManyThereAre(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		const n = 3000
		ids := func(first int) {
			r.exec("INSERT INTO changes (id, payload) SELECT ? + 2 * seq.n, 'x' FROM (SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS n FROM "+
				"digits a, digits b, digits c, digits d) seq WHERE seq.n < ?", first, n)
		}
		r.exec("CREATE TABLE digits (n INT NOT NULL)")
		r.exec("INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
		ids(1)
		q, stop := r.works(Options{GapWait: time.Second, Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "the gaps are passed over", func() bool { return q.Figures().Passed == n-1 })
		stop() // it is known to others, too
		ids(2)
		q, _ = r.works(Options{GapWait: time.Second, Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "they are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 2*n })
		if f := q.Figures(); f.Late != n-1 {
			t.Errorf("%+v", f)
		}
		r.complete()
	})
}

func TestALargeRollbackIsPassedOver(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.must(r.change(1).Commit())
		large, err := r.root.Begin()
		r.must(err)
		_, err = large.Exec("INSERT INTO changes (payload) VALUES ('x')")
		for have := 1; err == nil && have < 100_000; have *= 2 {
			_, err = large.Exec("INSERT INTO changes (payload) SELECT 'x' FROM changes WHERE id > 1 LIMIT ?", min(have, 100_000-have))
		}
		r.must(err)
		r.must(r.change(1_000_000).Commit())
		q, _ := r.works(Options{GapWait: time.Second, Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "it is waited for", func() bool { return q.Figures().Held == 1 })
		r.must(large.Rollback())
		r.within(time.Minute, "it is passed over", func() bool { return q.Figures() == (Figures{Handled: 2, Passed: 999_998}) })
		r.complete()
	})
}

// The locking read holds up nobody who writes, and is held up by nobody.
func TestALookForWhatIsUnderWayIsInNobodysWay(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		db, err := connect.Open(r.dsn, 0)
		r.must(err)
		defer db.Close()
		q, err := New(Options{DB: db, Name: "queue", Table: "changes"})
		r.must(err)
		how, err := q.lockingClause(t.Context())
		r.must(err)
		free := func(want bool, why string, spans ...span) {
			t.Helper()
			began := time.Now()
			if got, err := q.isFree(t.Context(), spans, how); err != nil || got != want || time.Since(began) > 5*time.Second {
				t.Errorf("%s: %t after %s, %v; want %t", why, got, time.Since(began), err, want)
			}
		}
		r.must(r.change(1, 5, 20, 30).Commit())
		free(true, "nobody is there", span{2, 4}, span{6, 19}, span{31, math.MaxUint64})
		open := r.change(10)
		free(false, "an insert is open", span{6, 19})
		free(false, "an insert is open in one of two", span{2, 4}, span{6, 19})
		free(true, "an insert is open elsewhere", span{2, 4}, span{11, 19})
		r.must(open.Commit())
		free(false, "it is there by now", span{6, 19})
		open, err = r.root.Begin()
		r.must(err)
		defer func() { _ = open.Rollback() }()
		_, err = open.Exec("DELETE FROM changes WHERE id = 10")
		r.must(err)
		free(false, "a delete is open", span{6, 19})
		r.must(open.Commit())
		free(true, "it was deleted", span{6, 19})

		// What it locks, while it does.
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		r.must(err)
		defer func() { _ = tx.Rollback() }()
		rows, err := tx.Query(fmt.Sprintf(q.read.locking, q.within([]span{{2, 4}, {6, 19}, {31, math.MaxUint64}})) + how)
		r.must(err)
		r.must(rows.Close())
		conn, err := r.root.Conn(t.Context())
		r.must(err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "SET SESSION innodb_lock_wait_timeout = 1")
		r.must(err)
		for _, id := range []int{3, 7, 19, 31, 1000} {
			if _, err := conn.ExecContext(t.Context(), "INSERT INTO changes (id) VALUES (?)", id); err != nil {
				t.Errorf("an insert of %d beside it: %v", id, err)
			}
		}
	})
}

// An account that may read the table, and no more, can look.
func TestWhoMayOnlyReadTheTableMayLook(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.must(r.change(1, 5).Commit())
		config, err := mysql.ParseDSN(r.dsn)
		r.must(err)
		user := "reader_" + strconv.FormatUint(rand.Uint64(), 36)
		r.exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'Only-reads-1'")
		defer r.exec("DROP USER '" + user + "'@'%'")
		r.exec("GRANT SELECT ON `" + config.DBName + "`.changes TO '" + user + "'@'%'")
		config.User, config.Passwd, config.AllowNativePasswords = user, "Only-reads-1", true
		db, err := connect.Open(config.FormatDSN(), 0)
		r.must(err)
		defer db.Close()
		q, err := New(Options{DB: db, Name: "queue", Table: "changes"})
		r.must(err)
		if clean, err := q.abandoned(t.Context(), []span{{2, 4}}); err != nil || len(clean) != 1 {
			t.Errorf("%v, %v", clean, err)
		}
		if next, err := q.nextID(t.Context(), 9); err != nil || next != 6 {
			t.Errorf("the next id is %d, %v; want 6", next, err)
		}
	})
}

// Whoever may insert may give any id.
func TestIDsThatPlainSQLGivesNeitherStopAQueueNorHideWhatComesBeforeThem(t *testing.T) {
	for name, huge := range map[string]uint64{"the last signed one": math.MaxInt64, "the last one": math.MaxUint64} {
		t.Run(name, func(t *testing.T) {
			eachFlavour(t, func(t *testing.T, r *rig) {
				r.exec("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
				r.must(r.change(1, 2, huge).Commit())
				q, _ := r.works(Options{GapWait: time.Second, Watch: 20 * time.Millisecond}, inTx)
				r.within(time.Minute, "it is handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 3 })
				r.must(r.change(3).Commit())
				r.within(time.Minute, "what comes before it is handled", func() bool { return r.count("SELECT COUNT(*) FROM handled WHERE id = 3") == 1 })
				r.within(time.Minute, "the gap is passed over", func() bool { return q.Figures().Open == 0 })
				r.must(r.change(4, 6).Commit())
				r.exec("DELETE FROM changes WHERE id = ?", huge)
				r.exec("ALTER TABLE changes AUTO_INCREMENT = 7")
				r.exec("INSERT INTO changes (payload) VALUES ('x'), ('x')")
				r.within(time.Minute, "what comes after that is handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 8 })
				r.complete()
			})
		})
	}
	t.Run("below 1", func(t *testing.T) {
		eachFlavour(t, func(t *testing.T, r *rig) {
			r.exec("ALTER TABLE changes MODIFY id BIGINT NOT NULL AUTO_INCREMENT")
			r.exec("INSERT INTO changes (id) VALUES (-5), (1), (2)")
			r.works(Options{GapWait: time.Second, Watch: 20 * time.Millisecond}, inTx)
			r.within(time.Minute, "the others are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 2 })
			r.complete()
		})
	})
}

// After a TRUNCATE other changes have the ids of those that were handled: the queue says so, and does not take them for handled ones.
func TestAQueueSaysThatIDsHaveBegunAgain(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		if r.setting == text.Plain {
			t.Skip("the same")
		}
		r.must(r.change(1, 2, 3, 4, 5).Commit())
		_, stop := r.works(Options{}, inTx)
		r.within(time.Minute, "the first are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 5 })
		r.exec("DELETE FROM changes WHERE id < 6") // as whoever tidies up does
		stop()
		r.exec("UPDATE future_job SET last_error = NULL")
		_, stop = r.works(Options{}, inTx)
		r.must(r.change(6).Commit())
		r.within(time.Minute, "the next is handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 6 })
		r.exec("TRUNCATE TABLE changes")
		r.must(r.change(1, 2).Commit())
		said := func() bool {
			return r.count("SELECT COUNT(*) FROM future_job WHERE last_error LIKE '%begun again%'") == 1
		}
		r.within(time.Minute, "it says so", said)
		if n := r.count("SELECT COUNT(*) FROM handled"); n != 6 {
			t.Errorf("%d are handled", n)
		}
		r.exec("DELETE FROM queue_position") // the owner has it begin anew
		r.within(time.Minute, "they are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 8 })
		stop()
	})
}

// Two checks of one queue, which nobody should make, share its position: each change is handled once all the same.
func TestTwoRunsOfAQueueHandleNothingTwice(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.exec("INSERT INTO changes (payload) VALUES ('x')")
		for range 10 {
			r.exec("INSERT INTO changes (payload) SELECT payload FROM changes")
		}
		db, err := connect.Open(r.dsn, 0)
		r.must(err)
		defer db.Close()
		checks, err := client.New(t.Context(), db, client.Options{Dialect: r.setting})
		r.must(err)
		_, err = checks.Insert(t.Context(), db, prescient.NewJob{Entity: prescient.Entity{Name: "other", Key: "1"}, JobExec: "queue", DueAt: prescient.EarliestDue})
		r.must(err)
		r.works(Options{Batch: 10, Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "all are handled", func() bool { return r.count("SELECT COUNT(DISTINCT id) FROM handled") == 1024 })
		r.complete()
	})
}

// As the nodes of a Galera cluster give ids.
func TestIDsThatStepAreHandledAndTheOthersArePassedOver(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		for step := uint64(2); step <= 3; step++ {
			conn, err := r.root.Conn(t.Context())
			r.must(err)
			defer conn.Close()
			for _, statement := range []string{fmt.Sprintf("SET SESSION auto_increment_increment = %d, auto_increment_offset = %d", step, step),
				"INSERT INTO changes (payload) VALUES ('x'), ('x'), ('x')", "INSERT INTO changes (payload) SELECT payload FROM changes"} {
				_, err = conn.ExecContext(t.Context(), statement)
				r.must(err)
			}
		}
		q, _ := r.works(Options{GapWait: time.Second, Watch: 20 * time.Millisecond}, inTx)
		n := r.count("SELECT COUNT(*) FROM changes")
		r.within(time.Minute, "they are handled, and no gap is left", func() bool {
			f := q.Figures()
			return r.count("SELECT COUNT(*) FROM handled") == n && f.Handled == uint64(n) && f.Open == 0
		})
		r.complete()
	})
}
