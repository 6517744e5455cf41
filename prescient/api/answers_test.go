package api_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"prescient/prescient/api"
)

// asked adds good requests of operations.
func askedOfAnswers() bool {
	for id, query := range map[string]string{
		"slots.clock": "", "slots.load": "?limit=10", "slots.ledger": "?slot=2026-11-20T13:00:00Z", "forecast.get": "?brief=true", "stats.execs": "?job_exec=ship", "stats.percentiles": "",
		"stats.days": "?job_exec=ship", "stats.slower": "", "execs.list": "?limit=2", "execs.advise": "?job_exec=ship&late_ms=60000&other_cancels=true", "doctor.examine": "?only=overdue,paused", "attest.run": "?ends=10", "status.look": "", "blocking.look": "?all=true", "checks.life": "?entity=order/1",
		"checks.export_pending": "?entity=order", "checks.export_ended": "?format=csv", "metrics": "",
	} {
		one := requests[id]
		one.query = query
		if id == "forecast.get" {
			one.code = 404
		}
		requests[id] = one
	}
	return true
}

var _ = askedOfAnswers()

// What is asked may be wrong, and is told so: nothing that a caller writes is a mistake in a statement.
func TestWhateverIsAskedIsNoInternalError(t *testing.T) {
	worst := []string{"", "'", `"\`, "%", "😀", "\xff\xfe", "a\x00b", strings.Repeat("x", 5000), "order/'", "order/😀", "18446744073709551615", "-1", "0",
		"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00",
		"0000-01-01 00:00:00/00112233445566778899AABBCCDDEEFF", "0000-01-01 00:00:00.000000/00112233445566778899AABBCCDDEEFF/42",
		"9999-12-31 23:59:59.999999/FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF/18446744073709551615"}
	var description struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name     string
				In       string
				Required bool
			}
		}
	}
	if err := json.Unmarshal(api.Description(), &description); err != nil {
		t.Fatal(err)
	}
	good := map[string]string{"entity": "order/7", "job_exec": "ship", "id": "digest/7", "name": "nightly", "number": "1", "crontab": "0 9 * * *"}
	eachServer(t, func(t *testing.T, r *testRig) {
		for path, methods := range description.Paths {
			if path == api.Base+"/health" {
				continue
			}
			for _, param := range methods["get"].Parameters {
				for _, value := range worst {
					query := url.Values{param.Name: {value}}
					for _, other := range methods["get"].Parameters {
						if other.Required && other.Name != param.Name {
							query.Set(other.Name, good[other.Name])
						}
					}
					got := r.ask("admin", strings.TrimPrefix(path, api.Base)+"?"+query.Encode(), "")
					if got.Code >= 500 || strings.Contains(got.Body, `{"problem"`) {
						t.Errorf("%s?%s=%.60q: %d %.300s", path, param.Name, value, got.Code, got.Body)
					}
				}
			}
		}
		for query, says := range map[string]string{"entity=%zz": "cannot be read", "entity=order/3;x": "cannot be read", "entity=order/3&entity=order/4": "2 times", "slot=0001-01-01T00:00:00Z": "no time"} {
			r.want(r.ask("viewer", "/checks/pending?"+query, ""), 422, says)
		}
		for _, body := range []string{`{"entity":"order/3","Entity":"order/4"}`, `{"entity":"order/3","entity":"order/4"}`, "{\"entity\":\"order/\xff\"}"} {
			r.want(r.ask("operator", "/checks/cancel", body), 400, "body")
		}
	})
}
