package evidence

import "testing"

func TestTheBucketsOfAShardDivideItsOwnKeys(t *testing.T) {
	const quarter = 1 << 62
	for _, tt := range []struct {
		shard  string
		place  uint64
		bucket int // of 4; -1 for none
	}{
		{"-", 0, 0}, {"-", quarter, 1}, {"-", 1<<64 - 1, 3},
		{"-80", 0, 0}, {"-80", quarter - 1, 1}, {"-80", quarter, 2}, {"-80", 2*quarter - 1, 3}, {"-80", 2 * quarter, -1},
		{"80-", 2 * quarter, 0}, {"80-", 3 * quarter, 2}, {"80-", 1<<64 - 1, 3}, {"80-", quarter, -1},
		{"40-80", quarter, 0}, {"40-80", 2*quarter - 1, 3}, {"40-80", 0, -1},
	} {
		keys, err := KeysOf(tt.shard)
		if got := keys.Bucket(tt.place, 4); err != nil || got != tt.bucket || keys.Have(tt.place) != (tt.bucket >= 0) {
			t.Errorf("%x is in bucket %d of %s, %v; want %d", tt.place, got, tt.shard, err, tt.bucket)
		}
	}
	for _, name := range []string{"", "80", "x-80"} {
		if _, err := KeysOf(name); err == nil {
			t.Errorf("%q is a range", name)
		}
	}
}
