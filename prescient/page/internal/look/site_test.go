package look

import (
	"errors"
	"testing"

	"prescient/prescient"
)

func TestABaseURLIsOneThatReadsTheSameToAll(t *testing.T) {
	for base, prefix := range map[string]string{"": "", "https://ops.example.org": "", "https://ops.example.org/": "", "http://localhost:8080/a/b/": "/a/b", "https://h/v1.2_x-~": "/v1.2_x-~"} {
		s, err := New(Options{BaseURL: base})
		if err != nil || s.Prefix() != prefix {
			t.Errorf("%q: %v, %+v", base, err, s)
		}
	}
	for _, base := range []string{"ops.example.org", "/prescient", "ftp://h/", "https:///x", "https://h/x?y=1", "https://h/#x", "https://u:p@h/", "https://h/a//b", "https://h/a/../b", "https://h/a%2fb",
		"https://h/ä", "https://h/a;b", "https://h/%"} {
		if _, err := New(Options{BaseURL: base}); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := New(Options{Colour: "mauve"}); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
}

func TestLinksAreBelowTheBase(t *testing.T) {
	s, err := New(Options{BaseURL: "https://h:8443/p"})
	if err != nil {
		t.Fatal(err)
	}
	if usual, err := New(Options{BaseURL: "https://Ops.Example.org:443/P"}); err != nil || usual.URL("/") != "https://ops.example.org/P/" {
		t.Errorf("%+v, %v", usual, err)
	}
	for got, want := range map[string]string{
		s.Path("/"): "/p/",
		s.Path("/find", "entity", "order/4 2&x", "a", ""): "/p/find?entity=order%2F4+2%26x",
		s.URL("/login", "next", "/p/slots?day=1"):         "https://h:8443/p/login?next=%2Fp%2Fslots%3Fday%3D1",
	} {
		if got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

func TestARedirectStaysBelowTheBase(t *testing.T) {
	for prefix, targets := range map[string]map[string]bool{
		"/p": {"/p/": true, "/p/slots?a=b&c=//evil.example": true, "/p": false, "/": false, "/other": false, "/p/../x": false, "/p//evil.example": false, "/p2/": false},
		"":   {"/": true, "/slots?day=2026-11-20": true, "//evil.example": false, "/\\evil.example": false, "https://evil.example/": false, "javascript:alert(1)": false, "": false, "slots": false, "/%2F/evil.example": false, "/\t/evil.example": false, "///evil.example": false, "/a\r\nSet-Cookie: x=y": false},
	} {
		s, err := New(Options{BaseURL: "https://h" + prefix})
		if err != nil {
			t.Fatal(err)
		}
		for target, good := range targets {
			want := prefix + "/"
			if good {
				want = target
			}
			if got := s.Local(target); got != want {
				t.Errorf("%q: %q; want %q", target, got, want)
			}
		}
	}
}
