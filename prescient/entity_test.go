package prescient

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestAnEntityIsAnIdentifierAndAKey(t *testing.T) {
	for _, test := range []struct {
		text string
		want Entity // the zero value where it is refused
		says string
	}{
		{text: "order/42", want: Entity{Name: "order", Key: "42"}},
		{text: "a/b/c", want: Entity{Name: "a", Key: "b/c"}},
		{text: "Ab_1.x-9/ ", want: Entity{Name: "Ab_1.x-9", Key: " "}},
		{text: "order/größe 😀\x00'\\\"", want: Entity{Name: "order", Key: "größe 😀\x00'\\\""}},
		{text: strings.Repeat("n", 64) + "/" + strings.Repeat("😀", 128), want: Entity{Name: strings.Repeat("n", 64), Key: strings.Repeat("😀", 128)}},
		{text: "order", says: "want name/key, as in order/42"},
		{text: "", says: "want name/key"},
		{text: "/42", says: "entity name is empty"},
		{text: "order/", says: `entity key of "order" is empty`},
		{text: "ord er/42", says: `entity name "ord er": only letters, digits and _ . - are allowed`},
		{text: "größe/42", says: "only letters"},
		{text: "a\x00b/42", says: "only letters"},
		{text: strings.Repeat("n", 65) + "/42", says: "has 65 bytes; at most 64 are allowed"},
		{text: "order/" + strings.Repeat("k", 129), says: "has 129 characters; at most 128 are allowed"},
		{text: "order/\xff", says: `entity key "\xff" is not valid UTF-8`},
	} {
		got, err := ParseEntity(test.text)
		switch {
		case test.says == "":
			if err != nil || got != test.want || got.String() != test.text {
				t.Errorf("ParseEntity(%q) = %+v, %v", test.text, got, err)
			}
		case !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.says):
			t.Errorf("ParseEntity(%q): %v; want ErrInvalid with %q", test.text, err, test.says)
		}
	}
}

func TestErrorsQuoteLittleOfWhatIsTooLong(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 1e6), "order/" + strings.Repeat("x", 1e6), "order/" + strings.Repeat("x", 1e6) + "\xff", strings.Repeat("x", 1e6) + "/1"} {
		if _, err := ParseEntity(text); err == nil || len(err.Error()) > 300 {
			t.Errorf("the error for %.20q… (%d bytes): %.300v", text, len(text), err)
		}
	}
}

// The bytes are a contract with the column's default and with other languages; they were computed with sha256sum.
func TestTheKeyIsTheSameEverywhere(t *testing.T) {
	for _, test := range []struct {
		entity    Entity
		exec, tag string
		want      string
	}{
		{Entity{Name: "order", Key: "42"}, "unshipped", "", "48FA1CD54BD6E241831F025BA3087BEE"},
		{Entity{Name: "order", Key: "42"}, "unshipped", "größe 😀", "48FA1CD54BD6E241831F025BB53B63A2"},
		{Entity{Name: "a", Key: "b\x00c"}, "x", "y", "8BADDE10C760E9B702DEFB4BCE3890A8"},
	} {
		if got := KeyOf(test.entity, test.exec, test.tag).String(); got != test.want {
			t.Errorf("KeyOf(%v, %q, %q) = %s; want %s", test.entity, test.exec, test.tag, got, test.want)
		}
	}
}

func TestKeysOfDifferentJobsDiffer(t *testing.T) {
	seen := make(map[Key]string)
	for _, e := range []Entity{{Name: "order", Key: "1"}, {Name: "order", Key: "1 "}, {Name: "Order", Key: "1"}, {Name: "order", Key: "A"}, {Name: "order", Key: "a"}, {Name: "ord", Key: "er1"}} {
		for _, exec := range []string{"x", "X", "xy"} {
			for _, tag := range []string{"", "y", "Y", " "} {
				text := e.String() + "|" + exec + "|" + tag
				k := KeyOf(e, exec, tag)
				if other, dup := seen[k]; dup {
					t.Errorf("%s and %s have the same key", text, other)
				}
				seen[k] = text
			}
		}
	}
	if job := (FutureJob{EntityName: "order", EntityKey: "1", JobExec: "x", Tag: "y"}); job.Key() != KeyOf(job.Entity(), "x", "y") {
		t.Error("a row has another key than its names")
	}
}

func TestAllKeysOfAnEntityAreInItsRange(t *testing.T) {
	e := Entity{Name: "order", Key: "42"}
	first, last := e.KeyRange()
	for _, exec := range []string{"", "a", "unshipped"} {
		for _, tag := range []string{"", "a", "b"} {
			if k := KeyOf(e, exec, tag); bytes.Compare(k[:], first[:]) < 0 || bytes.Compare(k[:], last[:]) > 0 {
				t.Errorf("%s is not between %s and %s", k, first, last)
			}
		}
	}
	if k := KeyOf(Entity{Name: "order", Key: "43"}, "a", ""); bytes.Compare(k[:], first[:]) >= 0 && bytes.Compare(k[:], last[:]) <= 0 {
		t.Errorf("another entity's key %s is between %s and %s", k, first, last)
	}
	if after, ok := last.Next(); !ok || bytes.Compare(after[:12], first[:12]) <= 0 {
		t.Errorf("the range ends at %s, which is not the end of the entity", last)
	}
}
