package look

import (
	"reflect"
	"testing"
)

func TestChangesAreTheFieldsThatAreNotTheSame(t *testing.T) {
	before, after := []Field{{Name: "a", Text: "1"}, {Name: "b", Text: "2"}, {Name: "gone", Text: "3"}}, []Field{{Name: "a", Text: "1"}, {Name: "b", Text: "4"}, {Name: "new", Text: "5"}}
	want := []Change{{"b", "2", "4"}, {"new", "", "5"}, {"gone", "3", ""}}
	if got := Changes(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v; want %+v", got, want)
	}
}
