package books_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
	text "prescient/sql"
)

// The statements take the counts in the order of fields: the columns that they name have to be in the same.
func TestCountsStandInTheOrderOfTheStatements(t *testing.T) {
	var names []string
	kind := reflect.TypeFor[books.Counts]()
	for i := range kind.NumField() {
		names = append(names, kind.Field(i).Tag.Get("json"))
	}
	statements, err := text.Load("")
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"slotrun/fence", "slotrun/correct"} {
		var columns []string
		for _, match := range regexp.MustCompile(`(\w+)\s*=\s*(\w+) [-+] \?`).FindAllStringSubmatch(statements.Get(statement), -1) {
			if match[1] != match[2] {
				t.Errorf("%s adds to %s what %s was", statement, match[1], match[2])
			}
			columns = append(columns, match[1])
		}
		if strings.Join(columns, " ") != strings.Join(names, " ") {
			t.Errorf("%s takes %s; the counts are %s", statement, columns, names)
		}
	}
	var c books.Counts
	for i, field := range c.Fields() {
		*field = i + 1
	}
	value := reflect.ValueOf(c)
	if len(c.Fields()) != kind.NumField() {
		t.Fatalf("%d fields of %d", len(c.Fields()), kind.NumField())
	}
	for i, arg := range c.Args() {
		if value.Field(i).Int() != int64(i+1) || arg != i+1 {
			t.Errorf("field %s stands elsewhere", kind.Field(i).Name)
		}
	}
}

func TestEveryVerdictIsCountedOnce(t *testing.T) {
	kinds := map[prescient.Cause]string{prescient.CauseCalled: "moved", prescient.CauseUnregistered: "put_off", prescient.CauseAbandoned: "put_off", prescient.CausePaused: "put_off"}
	for kind, want := range kinds {
		var c books.Counts
		c.Count(prescient.Verdict{}, kind, 2)
		if got := counted(t, c); got != want+"=2" {
			t.Errorf("a move of kind %d: %s; want %s", kind, got, want)
		}
	}
	for _, outcome := range prescient.Outcomes() {
		want := string(outcome) + "=2"
		if outcome.ByApp() {
			want = "" // by the app, not by a slot run
		}
		var c books.Counts
		c.Count(prescient.Verdict{Outcome: outcome}, prescient.CauseCalled, 2)
		if got := counted(t, c); got != want {
			t.Errorf("%s: %s; want %s", outcome, got, want)
		}
	}
}

// counted returns the counts that are not zero, as name=n.
func counted(t *testing.T, c books.Counts) string {
	t.Helper()
	var list []string
	value := reflect.ValueOf(c)
	for i := range value.NumField() {
		if n := value.Field(i).Int(); n != 0 {
			list = append(list, value.Type().Field(i).Tag.Get("json")+"="+string(rune('0'+n)))
		}
	}
	return strings.Join(list, " ")
}

func TestRowsAreEndsAndMovesButNotWhatWasDropped(t *testing.T) {
	c := books.Counts{Moved: 1, PutOff: 2, Done: 4, MaxChecks: 8, PastReturn: 16, BeyondHorizon: 32, Failed: 64, TimedOut: 128, Crashed: 256, Expired: 512, Missed: 1024,
		TooSoon: 2048, Overlapped: 4096, Quota: 8192, Dropped: 16384}
	if got := c.Ended(); got != 16384-1-1-2 {
		t.Errorf("%d ended", got)
	}
	if got := c.Rows(); got != 16383 {
		t.Errorf("%d rows", got)
	}
}

func TestFiguresOfBucketsAddUp(t *testing.T) {
	one := books.Figures{Slot: rig.At("13:15"), Buckets: 1, Takeovers: 1, Counts: books.Counts{Done: 3, Moved: 1}, Lateness: time.Second,
		OverSLA: 1, Retries: 2, LeasesLost: 1, Locked: 3, Held: 1, Took: time.Minute}
	sum := books.Figures{Slot: rig.At("13:15")}
	sum.Add(one)
	one.Lateness = time.Millisecond
	sum.Add(one)
	want := books.Figures{Slot: rig.At("13:15"), Buckets: 2, Takeovers: 2, Counts: books.Counts{Done: 6, Moved: 2}, Lateness: time.Second,
		OverSLA: 2, Retries: 4, LeasesLost: 2, Locked: 6, Held: 2}
	if !reflect.DeepEqual(sum, want) {
		t.Errorf("sum: %+v; want %+v", sum, want)
	}
}

func TestFiguresInTheLogNameOnlyWhatHappened(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(&out)
	log.Info().EmbedObject(books.Figures{Slot: rig.At("13:15"), Buckets: 1, Counts: books.Counts{Done: 3, Dropped: 1}, Lateness: time.Second, Took: 2 * time.Second}).Msg("slot run")
	want := `{"level":"info","slot":"2026-11-20T13:15:00Z","rows":3,"done":3,"dropped":1,"buckets":1,"lateness_ms":1000,"took_ms":2000,"message":"slot run"}`
	if got := strings.TrimSpace(out.String()); got != want {
		t.Errorf("logged %s; want %s", got, want)
	}
	// Each figure has a name there.
	var all books.Figures
	value := reflect.ValueOf(&all).Elem()
	fill := func(v reflect.Value) {
		for i := range v.NumField() {
			if v.Field(i).Kind() == reflect.Int {
				v.Field(i).SetInt(7)
			}
		}
	}
	fill(value)
	fill(value.FieldByName("Counts"))
	out.Reset()
	log.Info().EmbedObject(all).Send()
	var logged, plain map[string]any
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(json.Unmarshal(out.Bytes(), &logged), json.Unmarshal(data, &plain)); err != nil {
		t.Fatal(err)
	}
	for name := range plain {
		if short := strings.Replace(name, "_ns", "_ms", 1); logged[short] == nil {
			t.Errorf("%s is not in the log line: %s", short, out.String())
		}
	}
}
