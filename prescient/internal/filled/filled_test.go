package filled

import (
	"encoding/json"
	"testing"
	"time"
)

func TestListsAreNeverNull(t *testing.T) {
	type row struct {
		Tags    []string
		Payload json.RawMessage
	}
	answer := struct {
		Rows  []row
		None  []int
		More  map[string]int
		At    *time.Time
		First *row
		Long  []string `json:",omitempty"`
	}{Rows: make([]row, 1), First: &row{}}
	Lists(&answer)
	got, err := json.Marshal(answer)
	if want := `{"Rows":[{"Tags":[],"Payload":null}],"None":[],"More":{},"At":null,"First":{"Tags":[],"Payload":null}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
