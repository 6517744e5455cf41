package value

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestWhatAPageIsServedByIsRead(t *testing.T) {
	var base string
	var networks []netip.Prefix
	var roles map[string]string
	parsers := map[string]Parser{"base": BaseURL(&base), "networks": Networks(&networks), "roles": Assigned(&roles, "viewer", "admin")}
	for _, c := range []struct{ what, text, want string }{
		{"base", "https://ops.example.org/a", "https://ops.example.org/a"}, {"base", "http://[::1]:8080", "http://[::1]:8080"},
		{"networks", "10.0.0.7, 10.1.2.3/16,::1,2001:db8::/32", "[10.0.0.7/32 10.1.0.0/16 ::1/128 2001:db8::/32]"},
		{"roles", "sre=admin, /staff/all = viewer,*=viewer,a=b=admin", "map[*:viewer /staff/all:viewer a=b:admin sre:admin]"},
	} {
		if err := parsers[c.what](c.text); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if got := map[string]string{"base": base, "networks": fmt.Sprint(networks), "roles": fmt.Sprint(roles)}[c.what]; got != c.want {
			t.Errorf("%s: %s", c.text, got)
		}
	}
	for what, all := range map[string][]string{
		"base":     {"ops.example.org", "/a", "ftp://a", "https://", "https://u:topsecret@a", "https://a?topsecret", "https://a#topsecret", "https://a#", "https://a?", "https://a\n"},
		"networks": {"a", "10.0.0.7/33", "10.0.0.7,", "fe80::1%eth0", "u:topsecret@tcp(h:1)/d"},
		"roles":    {"sre", "sre=root", "=admin", "sre=admin,sre=viewer", "sre=admin,", "u:topsecret@tcp(h:1)/d"},
	} {
		for _, text := range all {
			if err := parsers[what](text); err == nil || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("%s: %q: %v", what, text, err)
			}
		}
	}
}
