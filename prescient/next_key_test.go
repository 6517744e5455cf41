package prescient

import (
	"testing"
)

func TestTheNextKeyIsOneMore(t *testing.T) {
	for _, test := range []struct{ from, want Key }{
		{Key{}, Key{15: 1}},
		{Key{15: 0xfe}, Key{15: 0xff}},
		{Key{15: 0xff}, Key{14: 1}},
		{Key{0: 1, 14: 0xff, 15: 0xff}, Key{0: 1, 13: 1}},
		{Key{7: 0xff, 8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff, 12: 0xff, 13: 0xff, 14: 0xff, 15: 0xff}, Key{6: 1}},
	} {
		before := test.from
		if got, ok := test.from.Next(); !ok || got != test.want || test.from != before {
			t.Errorf("after %s comes %s, %v; want %s", before, got, ok, test.want)
		}
	}
	last := Key{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	if after, ok := last.Next(); ok {
		t.Errorf("after the last key comes %s", after)
	}
}
