package api_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"prescient/prescient/api"
)

// What asks for bulk runs is among the requests.
var _ = with(map[string]request{
	"bulk.preview": {body: `{"deed":"cancel","filter":{"job_exec":"ship"}}`},
	"bulk.start":   {body: `{"number":"99999","token":"x"}`, code: 404},
	"bulk.stop":    {body: `{"number":"99999"}`, code: 404},
	"bulk.get":     {query: "?number=99999", code: 404},
	"bulk.list":    {},
})

func TestABulkCancelByRequests(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.URL = r.serve(api.Options{Ops: r.Ops, Rate: 1e6}) // at the running clock: what is inserted is before the preview
		due := time.Now().Add(2 * time.Hour).UTC().Format(time.RFC3339)
		r.want(r.ask("operator", "/checks/insert", fmt.Sprintf(`{"checks":[{"entity":"order/1","job_exec":"ship","due_at":%[1]q},{"entity":"order/2","job_exec":"ship","due_at":%[1]q}]}`, due)), 200)
		got := r.ask("operator", "/bulk/preview", `{"deed":"cancel","filter":{"job_exec":"ship"}}`, "Prescient-Reason", "twice")
		r.want(got, 200, `"count":2`, `"exact":true`)
		var preview struct{ Number, Token string }
		r.Must(json.Unmarshal([]byte(got.Body), &preview))
		start := fmt.Sprintf(`{"number":%q,"token":%q}`, preview.Number, preview.Token)
		r.want(r.ask("viewer", "/bulk/start", start), 403)
		r.want(r.ask("operator", "/bulk/start", start, "Idempotency-Key", "k"), 200, `"started_at"`)
		r.want(r.ask("operator", "/bulk/start", start, "Idempotency-Key", "k"), 200, `"started_at"`)
		r.want(r.ask("operator", "/bulk/start", start), 409, "ErrToken")
		r.Must(r.Ops.WorkBulk(t.Context(), "w"))
		r.want(r.ask("viewer", "/bulk/get?number="+preview.Number, ""), 200, `"done":2`, `"why":"twice"`, `"person":"operator"`)
		r.want(r.ask("viewer", "/bulk/list?limit=1", ""), 200, `"next":""`)
		r.want(r.ask("viewer", "/checks/ended?outcome=cancelled", ""), 200, `"order"`)
		r.want(r.ask("operator", "/bulk/preview", `{"deed":"cancel","filter":{}}`), 422, "everything")
		r.want(r.ask("operator", "/bulk/preview", `{"deed":"destroy","filter":{"job_exec":"ship"}}`), 422, "deed")
	})
}
