package forecast

import (
	"testing"

	"prescient/prescient/internal/rig"
)

// What is overdue is read from the first slot that has some, of which a look before says which it is.
func TestOverdueRowsAreReadFromTheFirst(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		m := r.maker(rig.At("13:01"))
		begins := func() string {
			t.Helper()
			reader := &reader{ctx: t.Context(), db: m.db, tables: &m.tables, now: rig.At("13:01")}
			now := slotsOf(m.tables.Grid, reader.now)[0]
			r.Must(reader.begin(now))
			return now.from.Format("15:04")
		}
		for i, test := range []struct{ slot, want string }{{"05:00", "13:00"}, {"13:00", "13:00"}, {"12:15", "12:15"}, {"12:30", "12:15"}, {"09:30", "09:30"}} {
			r.ManyDue(rig.At(test.slot), "check", 10*i, 10*i+3)
			if from := begins(); from != test.want {
				t.Errorf("with some at %s it begins at %s; want %s", test.slot, from, test.want)
			}
		}
		if now := partAt(t, r.makeAt(rig.At("13:01")).Slots, rig.At("13:00")); now.Due != 12 {
			t.Errorf("%+v; want what waits since 09:30", now)
		}
	})
}
