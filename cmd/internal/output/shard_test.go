package output_test

import (
	"io"
	"strings"
	"testing"

	"prescient/cmd/internal/output"
)

// However what is printed is cut into pieces, each object has the shard, and is what it was otherwise.
func TestEachObjectOfAShardNamesIt(t *testing.T) {
	const printed = "{\"a\":{\"b\":\"{\"},\"c\":[{}]}\n{}\n[1]\n{\"shard\":2}\n"
	const want = "{\"shard\":\"-80\",\"a\":{\"b\":\"{\"},\"c\":[{}]}\n{\"shard\":\"-80\"}\n[1]\n{\"shard\":\"-80\",\"shard\":2}\n"
	for size := 1; size <= len(printed); size++ {
		var got strings.Builder
		to, err := output.OnShard(&got, "-80")
		if err != nil {
			t.Fatal(err)
		}
		for from := 0; from < len(printed); from += size {
			piece := printed[from:min(from+size, len(printed))]
			if n, err := io.WriteString(to, piece); n != len(piece) || err != nil {
				t.Fatalf("%d of %d were written, %v", n, len(piece), err)
			}
		}
		if got.String() != want {
			t.Errorf("in pieces of %d: %q; want %q", size, got.String(), want)
		}
	}
}
