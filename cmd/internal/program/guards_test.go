package program

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"prescient/config"
	"prescient/prescient"
)

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

// Each guard of the library, but Endless, which is no matter of a configuration, is a key, and what that is set to is heeded.
func TestEachGuardOfTheConfigurationIsFoundAtTheWorker(t *testing.T) {
	var ofAll, ofOne prescient.Guards
	var all, one strings.Builder
	for i := range reflect.TypeFor[prescient.Guards]().NumField() {
		field := reflect.TypeFor[prescient.Guards]().Field(i)
		if field.Name == "Endless" {
			continue
		}
		key := strings.ToLower(capital.ReplaceAllString(field.Name, "${1}_$2"))
		for _, given := range []struct {
			want   *prescient.Guards
			file   *strings.Builder
			number int
		}{{&ofAll, &all, 41 + i}, {&ofOne, &one, 61 + i}} {
			place, unit := reflect.ValueOf(given.want).Elem().Field(i), ""
			switch field.Type {
			case reflect.TypeFor[int]():
				place.SetInt(int64(given.number))
			case reflect.TypeFor[time.Duration]():
				place.SetInt(int64(given.number) * int64(time.Second))
				unit = "s"
			default:
				t.Fatalf("%s is a %s: this test has no value for it", field.Name, field.Type)
			}
			fmt.Fprintf(given.file, ", %s: %d%s", key, given.number, unit)
		}
	}
	file := filepath.Join(t.TempDir(), "prescient.yaml")
	text := fmt.Sprintf("guards: {%s}\njobs: {http: [{exec: a, url: 'http://h'%s}]}\n", strings.TrimPrefix(all.String(), ", "), one.String())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{File: file, Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{Config: c, Registry: prescient.NewRegistry()}
	if err := s.registerHTTP(c.Jobs.HTTP[0], nil); err != nil {
		t.Fatal(err)
	}
	atWorker := s.workerOptions()
	if atWorker.Guards != ofAll {
		t.Errorf("the worker has %+v, want %+v", atWorker.Guards, ofAll)
	}
	if got := s.Registry.GuardsOf("a", atWorker.Guards); got != ofOne {
		t.Errorf("the job_exec has %+v, want %+v", got, ofOne)
	}
}
