package changequeue

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// wait is the GapWait of these tests; a part of it is a second.
const wait = time.Minute

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func seconds(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Second))) }

func TestWhatIsMissingBetweenIDsIsOpen(t *testing.T) {
	p := startAt(10)
	p.advance([]uint64{11, 12, 15, 16, 20}, seconds(0), wait)
	if p.high != 20 || !slices.Equal(p.open, []span{{13, 14}, {17, 19}}) || !slices.Equal(p.marks, []mark{{19, seconds(0)}}) {
		t.Errorf("%+v", p)
	}
	p.advance([]uint64{21}, seconds(5), wait)
	if p.high != 21 || len(p.marks) != 1 {
		t.Errorf("without a gap: %+v", p)
	}
	p.advance([]uint64{23}, seconds(5.5), wait) // rounded up to a part of the wait
	p.advance([]uint64{25}, seconds(5.9), wait)
	p.advance([]uint64{27}, seconds(4), wait) // a clock that went back
	p.advance([]uint64{29}, seconds(7), wait)
	if want := []mark{{19, seconds(0)}, {26, seconds(6)}, {28, seconds(7)}}; !slices.Equal(p.marks, want) {
		t.Errorf("%+v; want %+v", p.marks, want)
	}
}

func TestWhatComesIsMissingNoMore(t *testing.T) {
	for _, test := range []struct {
		ids  []uint64
		open []span
	}{
		{[]uint64{13}, []span{{14, 19}}},
		{[]uint64{19}, []span{{13, 18}}},
		{[]uint64{15}, []span{{13, 14}, {16, 19}}},
		{[]uint64{13, 14, 15, 16, 17, 18, 19}, nil},
		{[]uint64{12, 20, 21}, []span{{13, 19}}}, // were never missing
	} {
		p := startAt(10)
		p.advance([]uint64{11, 12, 20}, noon, wait)
		if late := p.found(test.ids); late != 0 || !slices.Equal(p.open, test.open) || (len(p.marks) == 0) != (len(p.open) == 0) {
			t.Errorf("%v: %+v, %d late", test.ids, p, late)
		}
	}
}

// giveUp passes over all gaps that are old.
func giveUp(p *position, now time.Time) []span { return p.pass(p.old(now, wait)) }

func TestAGapIsPassedOverOnceTheWaitIsOver(t *testing.T) {
	p := startAt(0)
	p.advance([]uint64{1, 5}, seconds(0), wait)
	p.advance([]uint64{9}, seconds(10), wait)
	if passed := giveUp(&p, seconds(59.999)); passed != nil {
		t.Errorf("passed over too early: %v", passed)
	}
	if passed := giveUp(&p, seconds(60)); !slices.Equal(passed, []span{{2, 4}}) || p.passed != 3 || !slices.Equal(p.open, []span{{6, 8}}) || len(p.marks) != 1 {
		t.Errorf("%v, %+v", passed, p)
	}
	if late := p.found([]uint64{3}); late != 1 || p.late != 1 || !slices.Equal(p.over, []span{{2, 2}, {4, 4}}) {
		t.Errorf("late: %+v", p)
	}
	if passed := giveUp(&p, seconds(100)); !slices.Equal(passed, []span{{6, 8}}) || p.passed != 6 || len(p.marks) != 0 {
		t.Errorf("%v, %+v", passed, p)
	}
}

func TestBeforeTheFirstChangeNothingIsLost(t *testing.T) {
	p := startAt(0)
	p.advance([]uint64{1_000_000}, seconds(0), wait)
	if !slices.Equal(p.open, []span{{1, 999_999}}) { // a transaction may be under way there
		t.Errorf("%+v", p)
	}
	if passed := giveUp(&p, seconds(60)); passed != nil || p.passed != 0 || len(p.open) != 0 {
		t.Errorf("%v, %+v", passed, p)
	}
}

func TestWhatIsWatchedIsBoundedAndTheLowestAreForgotten(t *testing.T) {
	p := startAt(0)
	for id := uint64(1); id < 2*watched+100; id += 2 {
		p.advance([]uint64{id}, noon, wait)
	}
	giveUp(&p, noon.Add(wait))
	const missing = watched + 49
	if len(p.over) != watched || p.over[watched-1].first != 2*missing || p.passed != missing || p.lost != 49 {
		t.Errorf("%d are watched, the last %v; %d passed over, %d forgotten", len(p.over), p.over[watched-1], p.passed, p.lost)
	}
	if packed := p.passedOver(); len(packed) > 16<<10 {
		t.Errorf("a pattern takes %d bytes", len(packed))
	}
}

func TestGapsThatAreHeldDoNotKeepOthersFromBeingPassed(t *testing.T) {
	p := startAt(0)
	p.advance([]uint64{1, 4}, seconds(0), wait) // 2, 3: held
	p.advance([]uint64{8}, seconds(10), wait)   // 5 to 7
	p.advance([]uint64{11}, seconds(20), wait)  // 9, 10: not yet
	if old := p.old(seconds(75), wait); !slices.Equal(old, []span{{2, 3}, {5, 7}}) || len(p.marks) != 2 {
		t.Errorf("%v, %+v", old, p)
	}
	p.pass([]span{{5, 7}})
	if !slices.Equal(p.open, []span{{2, 3}, {9, 10}}) || !slices.Equal(p.over, []span{{5, 7}}) || !slices.Equal(p.old(seconds(75), wait), []span{{2, 3}}) {
		t.Errorf("%+v", p)
	}
	p.pass([]span{{3, 3}})
	p.pass([]span{{2, 2}, {10, 10}})
	if !slices.Equal(p.open, []span{{9, 9}}) || !slices.Equal(p.over, []span{{2, 3}, {5, 7}, {10, 10}}) || p.passed != 6 {
		t.Errorf("%+v", p)
	}
}

// The marks of gaps that are held do not add up.
func TestAGapThatIsHeldForADayHasFewMarks(t *testing.T) {
	p := startAt(0)
	p.advance([]uint64{1, 3}, noon, wait)
	for s := 0; s < 86400; s += 20 {
		p.advance([]uint64{p.high + 2}, seconds(float64(s)), wait)
		old := slices.Clone(p.old(seconds(float64(s)), wait))
		if len(old) > 0 {
			p.pass(old[1:])
		}
	}
	if len(p.marks) > lookAgain+2 || p.open[0] != (span{2, 2}) {
		t.Errorf("%d marks, the first gap is %v", len(p.marks), p.open[0])
	}
}

func TestIDsAtTheEndOfWhatThereIsOverflowNothing(t *testing.T) {
	p := startAt(0)
	p.advance([]uint64{1, math.MaxInt64, math.MaxUint64}, noon, wait)
	text, err := p.encode()
	if err != nil {
		t.Fatal(err)
	}
	if p, err = decode(text, p.passedOver()); err != nil || !slices.Equal(p.open, []span{{2, math.MaxInt64 - 1}, {math.MaxInt64 + 1, math.MaxUint64 - 1}}) {
		t.Fatalf("%+v, %v", p, err)
	}
	p.passed = 5
	giveUp(&p, noon.Add(wait))
	if late := p.found([]uint64{2, 3, 1 << 63}); late != 3 || p.passed != math.MaxUint64 || len(p.open) != 0 || p.over[0].first != 4 {
		t.Errorf("%+v", p)
	}
}

func TestAPositionOfVersion1IsTakenOver(t *testing.T) {
	p, err := decode([]byte(`{"v":1,"begin":0,"high":9,"passed":2,"late":0,"over":[[3,4]]}`), nil)
	if err != nil || p.high != 9 || !slices.Equal(p.over, []span{{3, 4}}) {
		t.Errorf("%+v, %v", p, err)
	}
	if isNote([]byte(`{"v":1,"high":9}`)) || !isNote(p.note()) {
		t.Error("the note of a run is not told from a position")
	}
}

func TestInOrderTheNextOnesAreThoseWithoutAGap(t *testing.T) {
	p := startAt(0)
	p.block(5, noon, wait)
	for _, test := range []struct {
		ids  []uint64
		want int
	}{{nil, 0}, {[]uint64{1}, 1}, {[]uint64{1, 2, 4}, 2}, {[]uint64{2, 3}, 0}, {[]uint64{1, 2, 3, 4}, 4}} {
		if got := p.next(test.ids); got != test.want {
			t.Errorf("%v: %d; want %d", test.ids, got, test.want)
		}
	}
}

func TestRangesCoverAllSpans(t *testing.T) {
	var spans []span
	for i := uint64(1); i <= 1050; i++ {
		spans = append(spans, span{3 * i, 3*i + 1})
	}
	few := ranges(spans, 100)
	if len(few) > 100 || few[0].first != 3 || few[len(few)-1].last != 3151 {
		t.Errorf("%d ranges", len(few))
	}
	for _, s := range spans {
		if !slices.ContainsFunc(few, func(r span) bool { return r.first <= s.first && s.last <= r.last }) {
			t.Errorf("%v is in none", s)
		}
	}
	if got := ranges(spans[:100], 100); len(got) != 100 {
		t.Errorf("%d ranges of 100 spans", len(got))
	}
}

// A table in which ids come late, or never: each that comes in time is handled once, and none that was not there.
func TestEachChangeOfAModelIsHandledOnce(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		const n = 3000
		commits := make(map[uint64]time.Time) // ids that come, and when
		for id := uint64(1); id <= n; id++ {
			if r.IntN(10) > 0 {
				commits[id] = seconds(float64(id) / 20).Add(time.Duration(r.Int64N(int64(wait - time.Second))))
			}
		}
		handled := make(map[uint64]int)
		p := startAt(0)
		for now := noon; now.Before(seconds(n/20 + 200)); now = now.Add(time.Duration(r.Int64N(int64(3 * time.Second)))) {
			if r.IntN(5) == 0 { // a restart
				text, err := p.encode()
				if err != nil {
					t.Fatal(err)
				}
				if p, err = decode(text, p.passedOver()); err != nil {
					t.Fatal(err)
				}
			}
			there := func(id uint64) bool { at, comes := commits[id]; return comes && !at.After(now) }
			var came []uint64
			for _, s := range p.open {
				for id := s.first; id <= s.last; id++ {
					if there(id) {
						came = append(came, id)
					}
				}
			}
			p.found(came)
			giveUp(&p, now)
			var fresh []uint64
			for id := p.high + 1; id <= n && len(fresh) < 500; id++ {
				if there(id) {
					fresh = append(fresh, id)
				}
			}
			p.advance(fresh, now, wait)
			for _, id := range append(came, fresh...) {
				handled[id]++
			}
		}
		for id := uint64(1); id <= n; id++ {
			_, comes := commits[id]
			if times := handled[id]; comes && times != 1 || !comes && times != 0 {
				t.Fatalf("seed %d: %d was handled %d times; it comes: %t", seed, id, times, comes)
			}
		}
		if p.late != 0 || len(p.open) != 0 {
			t.Fatalf("seed %d: %+v", seed, p)
		}
	}
}

func TestAPositionIsKeptAsItIs(t *testing.T) {
	p := startAt(7)
	p.advance([]uint64{8, 12, 1 << 60}, seconds(1), wait)
	p.advance([]uint64{1<<60 + 2}, seconds(30), wait)
	giveUp(&p, seconds(62))
	p.found([]uint64{10})
	text, err := p.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(text, p.passedOver())
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v, %v; want %+v", got, err, p)
	}
}

// In a cluster whose nodes take every third id each, two thirds are missing where one of them writes.
func TestGapsOfAPatternTakeLittleRoom(t *testing.T) {
	p := startAt(0)
	for id := uint64(1); id < 450_000; id += 3 {
		p.advance([]uint64{id}, seconds(float64(id)/7500), wait)
	}
	text, err := p.encode()
	if err != nil || len(text) > 16<<10 || len(p.marks) > lookAgain+2 {
		t.Errorf("%d gaps and %d marks take %d bytes: %v", len(p.open), len(p.marks), len(text), err)
	}
	got, err := decode(text, p.passedOver())
	if err != nil || !slices.Equal(got.open, p.open) {
		t.Errorf("%d gaps came back as %d: %v", len(p.open), len(got.open), err)
	}
}

func TestMoreGapsThanAPositionHoldsAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	full := func(n int, distance uint64) error {
		p := startAt(0)
		for range n {
			p.advance([]uint64{p.high + 2 + r.Uint64N(distance)}, noon, wait)
		}
		_, err := p.encode()
		return err
	}
	if err := full(100_000, 50); err != nil {
		t.Errorf("100,000 gaps without a pattern: %v", err)
	}
	if err := full(100_000, 1<<40); !errors.Is(err, errFull) {
		t.Errorf("100,000 far apart: %v", err)
	}
	if err := full(maxSpans+1, 1); !errors.Is(err, errFull) {
		t.Errorf("more than memory is for: %v", err)
	}
}

func FuzzAnyTextIsAPositionOrAnError(f *testing.F) {
	p := startAt(1)
	p.advance([]uint64{5, 9}, noon, wait)
	good, err := p.encode()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(good), "", "null", "half", `{"v":1,"gaps":3,"packed":"AAAA"}`, `{"v":2}`, `{"v":1,"gaps":-1}`, `{"v":1,"gaps":2000000000}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := decode(text, text)
		if err != nil {
			return
		}
		if _, err := p.encode(); err != nil && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
	})
}
