package password

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
)

const good = "correct horse battery"

func TestAPasswordIsKnownByItsHashAlone(t *testing.T) {
	h := NewHasher()
	one, err := h.Hash(t.Context(), good)
	if err != nil || !strings.HasPrefix(one, "$argon2id$v=19$m=47104,t=2,p=1$") || len(one) > 255 || strings.Contains(one, good) {
		t.Fatal(one, err)
	}
	other, err := h.Hash(t.Context(), good)
	if err != nil || other == one {
		t.Errorf("no salt of its own: %s, %v", other, err)
	}
	for tried, want := range map[string]bool{good: true, good + " ": false, "": false, strings.Repeat("x", 1<<20): false, strings.ToUpper(good): false} {
		if is, err := h.Is(t.Context(), tried, one); is != want || err != nil {
			t.Errorf("%.40q: %t, %v", tried, is, err)
		}
	}
	// Of nobody there is no password, also not the one of what is compared with.
	for _, tried := range []string{"", good, one} {
		if is, err := h.Is(t.Context(), tried, ""); is || err != nil {
			t.Errorf("%.40q is nobody's: %t, %v", tried, is, err)
		}
	}
}

func TestAHashThatSomebodyElseWroteIsHeldToBounds(t *testing.T) {
	salt, sum := strings.Repeat("A", 22), strings.Repeat("A", 43)
	for _, bad := range []string{"x", "$argon2id", "$argon2i$v=19$m=65536,t=3,p=1$" + salt + "$" + sum, "$argon2id$v=18$m=65536,t=3,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=4194304,t=3,p=1$" + salt + "$" + sum, "$argon2id$v=19$m=65536,t=1000,p=1$" + salt + "$" + sum, "$argon2id$v=19$m=65536,t=0,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=65536,t=3,p=0$" + salt + "$" + sum, "$argon2id$v=19$m=65536,t=3,p=1$" + salt + "$", "$argon2id$v=19$m=65536,t=3,p=1$$" + sum,
		"$argon2id$v=19$m=65536,t=3,p=1$" + salt + "$" + strings.Repeat("A", 400), "$argon2id$v=19$m=65536,t=3,p=1,x$" + salt + "$" + sum, "$argon2id$v=19$m=-1,t=3,p=1$" + salt + "$" + sum, "$argon2id$v=19$m=65536,t=3,p=1$!$!"} {
		if is, err := NewHasher().Is(t.Context(), good, bad); is || err == nil {
			t.Errorf("%.80s: %t, %v", bad, is, err)
		}
	}
}

func TestWhatIsNoPasswordIsRefusedAndNotShown(t *testing.T) {
	for _, bad := range []string{"", "abc7", strings.Repeat("é", 11), strings.Repeat("x", 257), "\xff" + good, good + "\n", "a\x00" + good, "Christopher7", "aaaaaaaaaaaaaaaa"} {
		err := Check("christopher", bad)
		if !errors.Is(err, prescient.ErrInvalid) || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
	for _, fine := range []string{good, strings.Repeat("é", 11) + "x", "    four words    ", "<script>alert(1)</script>", "' OR 1=1 -- ", "ada loves long ones"} {
		if err := Check("ada", fine); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}

func TestTwoHashesAreMadeAtATimeAndOthersWait(t *testing.T) {
	h := NewHasher()
	h.places <- struct{}{}
	h.places <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := h.Hash(ctx, good); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := h.Hash(t.Context(), good); err != nil {
			t.Error(err)
		}
	})
	<-h.places
	waiting.Wait()
}

func BenchmarkAHash(b *testing.B) {
	h := NewHasher()
	for b.Loop() {
		if _, err := h.Hash(b.Context(), good); err != nil {
			b.Fatal(err)
		}
	}
}
