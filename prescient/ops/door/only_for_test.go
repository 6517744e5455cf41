package door_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"prescient/prescient/ops/door"
)

// At an address that others reach, they may do so by any number of it; by names only by those that it has for itself.
func TestNamesThatWhatIsOpenIsTakenFor(t *testing.T) {
	for _, test := range []struct {
		address string
		local   bool
		host    string
		taken   bool
	}{
		{"127.0.0.1:8080", true, "127.0.0.1:8080", true}, {"127.0.0.1:8080", true, "10.0.0.7", false}, {"127.0.0.1:8080", true, "intra.example", false},
		{"0.0.0.0:8080", false, "10.0.0.7:8080", true}, {"0.0.0.0:8080", false, "[2001:db8::1]:8080", true}, {"0.0.0.0:8080", false, "localhost", true},
		{"0.0.0.0:8080", false, "evil.example", false}, {"0.0.0.0:8080", false, "", false}, {":8080", false, "10.0.0.7", true}, {":8080", false, "", false},
		{"Intra.example:8080", false, "intra.example:8080", true}, {"intra.example:8080", false, "INTRA.example.", true}, {"intra.example:8080", false, "other.example", false},
		{"intra.example:8080", false, "10.0.0.7.nip.io", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = test.host
		to := httptest.NewRecorder()
		door.OnlyFor(test.address, test.local, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(to, r)
		if (to.Code == http.StatusOK) != test.taken || !test.taken && to.Code != http.StatusMisdirectedRequest {
			t.Errorf("%s for %q: %d", test.address, test.host, to.Code)
		}
	}
}
