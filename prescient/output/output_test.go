package output_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"prescient/prescient/output"
)

func TestOutputGoesToTheWriterOfTheContext(t *testing.T) {
	tail := output.NewTail(100)
	fmt.Fprint(output.Of(output.With(context.Background(), tail)), "hello")
	if text, dropped := tail.Text(); text != "hello" || dropped != 0 {
		t.Errorf("%q, %d", text, dropped)
	}
	if output.Of(context.Background()) != io.Discard {
		t.Error("without a writer it goes somewhere")
	}
}

func TestATailKeepsTheEnd(t *testing.T) {
	for _, test := range []struct {
		most    int
		writes  []string
		want    string
		dropped int64
	}{
		{5, nil, "", 0},
		{5, []string{"12345"}, "12345", 0},
		{5, []string{"123", "45", "678"}, "45678", 3},
		{5, []string{"1234567890"}, "67890", 5},
		{5, []string{"12", "1234567890"}, "67890", 7},
		{8, []string{"one\n", "two\n", "three\n"}, "three\n", 8},
		{6, []string{"1\n2\n3\nlast"}, "last", 6},
		{4, []string{"123\n456\n"}, "456\n", 4},
		{3, []string{"aäb\xff"}, "�b�", 2},
		{0, []string{"12", "3"}, "", 3},
		{-1, []string{"12"}, "", 2},
	} {
		tail := output.NewTail(test.most)
		for _, text := range test.writes {
			if n, err := io.WriteString(tail, text); n != len(text) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		for range 2 { // to ask changes nothing
			if text, dropped := tail.Text(); text != test.want || dropped != test.dropped {
				t.Errorf("%d of %q: %q, %d dropped; want %q, %d", test.most, test.writes, text, dropped, test.want, test.dropped)
			}
		}
	}
}

func TestATailIsWrittenToByManyAtOnce(t *testing.T) {
	tail := output.NewTail(1000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				fmt.Fprint(tail, "0123456789")
			}
		})
	}
	all.Wait()
	if text, dropped := tail.Text(); text != strings.Repeat("0123456789", 100) || dropped != 79_000 {
		t.Errorf("%q, %d", text, dropped)
	}
}
