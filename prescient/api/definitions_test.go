package api_test

import (
	"maps"
	"strings"
	"testing"
)

// What asks for definitions and switches is among the requests.
var _ = with(map[string]request{
	"pauses.list":       {},
	"pauses.set":        {body: `{"job_execs":["ship"],"reason":"why"}`},
	"pauses.lift":       {body: `{"job_execs":["ship"]}`},
	"events.backlog":    {},
	"events.set_aside":  {query: "?topic=t"},
	"events.resend":     {body: `{"numbers":["1"]}`},
	"events.drop":       {body: `{"numbers":["1"]}`},
	"events.matching":   {query: "?topic=t"},
	"events.resend_all": {body: `{"topic":"t","id":"a"}`},
	"events.drop_all":   {body: `{"all":true,"after":"7"}`},
	"audit.list":        {query: "?kind=check"},
	"notify.list":       {},
	"notify.again":      {body: "{}"},
	"agents.list":       {},
	"agents.pools":      {},
	"agents.drain":      {body: `{"name":"host-7"}`, code: 404},
	"agents.undrain":    {body: `{"name":"host-7"}`, code: 404},
	"runs.long":         {},

	"schedules.list":       {query: "?owner=user/7"},
	"schedules.get":        {query: "?id=a", code: 404},
	"schedules.runs":       {query: "?id=a", code: 404},
	"schedules.versions":   {query: "?id=a", code: 404},
	"schedules.version":    {query: "?id=a&version=1", code: 404},
	"schedules.back":       {body: `{"id":"b","version":"1","seen":"2"}`, code: 404},
	"schedules.preview":    {query: "?crontab=0,30+*+*+*+*&crontab=@daily&zone=Europe/Berlin"},
	"schedules.create":     {body: `{"id":"a/1","crontabs":["@daily"],"job_exec":"digest","payload":"x"}`},
	"schedules.update":     {body: `{"id":"b","crontabs":["@daily"],"job_exec":"digest"}`, code: 404},
	"schedules.delete":     {body: `{"ids":["b"]}`},
	"schedules.pause":      {body: `{"id":"b"}`, code: 404},
	"schedules.resume":     {body: `{"id":"b"}`, code: 404},
	"schedules.pause_all":  {body: `{"search":"b"}`},
	"schedules.resume_all": {body: `{"names":["b"]}`},
	"jobs.pause_all":       {body: `{"search":"b"}`},
	"jobs.resume_all":      {body: `{"names":["b"]}`},
	"schedules.run_now":    {body: `{"id":"b"}`, code: 404},
	"schedules.plan_anew":  {body: `{"id":"b"}`, code: 404},

	"jobs.list":     {},
	"jobs.get":      {query: "?name=a", code: 404},
	"jobs.versions": {query: "?name=a"},
	"jobs.runs":     {query: "?name=a&steps=true&output=true"},
	"jobs.create":   {body: `{"name":"nightly","crontabs":["@daily"],"steps":[{"name":"one","job_exec":"ship","arguments":{"a":[1]}}]}`},
	"jobs.back":     {body: `{"name":"b","version":"1"}`, code: 404},
	"jobs.update":   {body: `{"name":"a","crontabs":["@daily"],"steps":[{"name":"one","job_exec":"ship"}],"version":"7"}`, code: 404},
	"jobs.delete":   {body: `{"names":["b"]}`},
	"jobs.pause":    {body: `{"name":"b"}`, code: 404},
	"jobs.resume":   {body: `{"name":"b"}`, code: 404},
	"jobs.run_now":  {body: `{"name":"b"}`, code: 404},
	"steps.list":    {},
	"steps.get":     {query: "?name=a", code: 404},
	"steps.put":     {body: `{"name":"one","job_exec":"ship"}`},
	"steps.delete":  {body: `{"name":"b"}`, code: 404},

	"rules.list":     {query: "?search=b"},
	"rules.get":      {query: "?name=b", code: 404},
	"rules.versions": {query: "?name=b&before=7"},
	"rules.preview":  {query: "?name=b&delay_ms=3600000"},
	"rules.try":      {query: "?occasion=nobody.knows&delay_ms=3600000", code: 404},
	"rules.set":      {body: `{"name":"remind","occasion":"order.placed","job_exec":"ship","delay_ms":3600000,"ends":["order.shipped"],"payload":{"a":[1]}}`},
	"rules.pause":    {body: `{"name":"b","end":true}`, code: 404},
	"rules.resume":   {body: `{"name":"b"}`, code: 404},
	"rules.delete":   {body: `{"name":"b"}`, code: 404},
	"rules.report":   {body: `{"occasion":"nobody.knows","entity":"order/42","data":{"a":1}}`},
})

// with adds requests, as each file that has some does.
func with(more map[string]request) map[string]request {
	maps.Copy(requests, more)
	return requests
}

func TestDefinitionsByRequests(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.want(r.ask("operator", "/schedules/create", `{"id":"digest/7","crontabs":["30 12 * * *"],"zone":"Europe/Berlin","job_exec":"digest","payload":"user 7","owner":"user/7"}`), 200, `{"created":true}`)
		r.want(r.ask("operator", "/schedules/get?id=digest/7", ""), 200, `"payload":"user 7"`, `"next":"2026-11-20T11:30:00Z"`, `"version":"1"`)
		viewed := r.ask("viewer", "/schedules/get?id=digest/7", "")
		r.want(viewed, 200, `"owner":"user/7"`)
		r.lacks(viewed, "payload")
		r.want(r.ask("viewer", "/schedules/preview?crontab=0,30+12+*+*+*&count=2&from=2026-11-20T10:00:00Z", ""), 200, `"2026-11-20T12:00:00Z"`, `"2026-11-20T12:30:00Z"`)
		r.want(r.ask("operator", "/schedules/create", `{"id":"b","crontabs":["never"],"job_exec":"digest"}`), 422, "ErrInvalid")
		r.want(r.ask("operator", "/schedules/create", `{"id":"b","crontabs":["@daily"],"job_exec":"digest","colour":1}`), 422, "colour")
		r.want(r.ask("operator", "/schedules/create", `{"id":"digest/7","crontabs":["@daily"],"job_exec":"digest"}`), 409, "ErrExists")
		r.want(r.ask("operator", "/jobs/create", `{"name":"nightly","crontabs":["0 3 * * *"],"steps":[{"name":"one","job_exec":"ship","arguments":{"a":[1]}}]}`), 200)
		r.want(r.ask("operator", "/jobs/get?name=nightly", ""), 200, `"arguments":{"a":[1]}`)
		r.lacks(r.ask("viewer", "/jobs/get?name=nightly", ""), "arguments")
		r.want(r.ask("operator", "/schedules/delete", `{"ids":["job/nightly"]}`), 409, "ErrOfJob")
		r.want(r.ask("operator", "/jobs/update", `{"name":"nightly","crontabs":["0 4 * * *"],"steps":[{"name":"one","job_exec":"ship"}],"version":"9"}`), 409, "ErrStale")
		r.want(r.ask("viewer", "/audit/list?id=digest/7", ""), 200, `"command":"schedules.create"`)
		r.lacks(r.ask("viewer", "/audit/list?id=digest/7", ""), "crontab")
		r.want(r.ask("operator", "/audit/list?id=digest/7", ""), 200, "30 12 * * *")
	})
}

// lacks fails where a body has a text.
func (r *testRig) lacks(got reply, text string) {
	r.T.Helper()
	if got.Code != 200 || strings.Contains(got.Body, text) {
		r.T.Errorf("%d %s: has %s", got.Code, got.Body, text)
	}
}
