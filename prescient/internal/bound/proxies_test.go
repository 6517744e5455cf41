package bound

import (
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestAProxyIsBelievedWhereItIsOurs(t *testing.T) {
	ours := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fe80::/10")}
	for _, test := range []struct {
		remote, forwarded, want string
		proxies                 Proxies
	}{
		{"192.0.2.7:1", "198.51.100.1", "192.0.2.7", ours}, {"10.0.0.7:1", "198.51.100.1", "198.51.100.1", ours}, {"10.0.0.7:1", "198.51.100.1", "10.0.0.7", nil},
		{"10.0.0.7:1", "1.1.1.1, 198.51.100.1, 10.2.3.4", "198.51.100.1", ours}, {"10.0.0.7:1", "", "10.0.0.7", ours}, {"10.0.0.7:1", "<script>", "10.0.0.7", ours},
		{"[::1]:1", "2001:db8::1", "2001:db8::1", ours}, {"[::ffff:10.0.0.7]:1", "198.51.100.1", "198.51.100.1", ours}, {"@", "198.51.100.1", "@", ours}, {"10.0.0.7:1", "10.0.0.9", "10.0.0.9", ours},
		{"[fe80::7%eth0]:1", "198.51.100.1", "198.51.100.1", ours}, {"[fe80::7%eth0]:1", "198.51.100.1", "fe80::7%eth0", nil},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = test.remote
		for _, header := range []string{"Forwarded", "X-Real-Ip", "X-Forwarded-Host", "X-Client-Ip"} { // which nobody reads
			r.Header.Set(header, "for=203.0.113.9")
		}
		if test.forwarded != "" {
			r.Header.Set("X-Forwarded-For", test.forwarded)
		}
		if got := test.proxies.Address(r); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
