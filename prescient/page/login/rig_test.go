package login_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/page/login"
)

func TestMain(m *testing.M) { servertest.Main(m) }

const password = "correct horse battery"

// testRig is a page behind a login, by TLS.
type testRig struct {
	*served.Rig
	login *login.Login
	base  string // without a slash at its end
	moved atomic.Int64
	tls   *http.Transport
}

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		test(t, newRig(t, served.New(t, d, 15*time.Minute), login.Options{}))
	})
}

// eachFlavour is eachServer on one server of each flavour, for what browsers send and are answered.
func eachFlavour(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		test(t, newRig(t, served.New(t, d, 15*time.Minute), login.Options{}))
	})
}

// newRig serves a page below /ops that says who looks at it.
func newRig(t *testing.T, s *served.Rig, o login.Options) *testRig {
	t.Helper()
	r := &testRig{Rig: s}
	var handler http.Handler
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { handler.ServeHTTP(w, q) }))
	r.base = "https://" + server.Listener.Addr().String() + "/ops"
	o.Prefix, o.Dialect, o.BaseURL, o.Place = "p_", r.Setting, r.base, "here"
	var err error
	r.login, err = login.New(t.Context(), r.As("serve-door", time.Time{}), o)
	r.Must(err)
	began := time.Now()
	r.login.SetNow(func() time.Time { return began.Add(time.Duration(r.moved.Load())) })
	handler = r.login.Handler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		name, role, err := r.login.Who(q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, "%s is %s", name, role)
	}))
	server.StartTLS()
	t.Cleanup(server.Close)
	r.tls = server.Client().Transport.(*http.Transport)
	return r
}

// pass moves the login's clock, which else stands still; not the database's.
func (r *testRig) pass(d time.Duration) { r.moved.Add(int64(d)) }

// cheap is what is kept of the password, at a cost that lets tests try it often.
var cheap = fmt.Sprintf("$argon2id$v=19$m=8,t=1,p=1$%s$%s", base64.RawStdEncoding.EncodeToString([]byte("the salt")),
	base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(password), []byte("the salt"), 1, 8, 1, 32)))

func (r *testRig) add(name string, role ops.Role) {
	r.T.Helper()
	_, err := r.Root.ExecContext(r.T.Context(), "INSERT INTO p_web_user (name, role, password, created_at, changed_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", name, string(role), cheap)
	r.Must(err)
}

// browser is one that follows no redirect.
type browser struct {
	*testRig
	*http.Client
	headers http.Header
}

func (r *testRig) browser() *browser {
	jar, err := cookiejar.New(nil)
	r.Must(err)
	return &browser{r, &http.Client{Transport: r.tls, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, make(http.Header)}
}

// answer is one.
type answer struct {
	Code    int
	Body    string
	Headers http.Header
}

// ask sends a request; a form makes it a POST.
func (b *browser) ask(path string, form ...string) answer {
	b.T.Helper()
	method, body := http.MethodGet, ""
	if len(form) > 0 {
		values := make(url.Values)
		for i := 0; i+1 < len(form); i += 2 {
			values.Add(form[i], form[i+1])
		}
		method, body = http.MethodPost, values.Encode()
	}
	to := path
	if strings.HasPrefix(path, "/") {
		to = b.base + path
	}
	q, err := http.NewRequestWithContext(b.T.Context(), method, to, strings.NewReader(body))
	b.Must(err)
	for name, values := range b.headers {
		q.Header[name] = values
	}
	if body != "" {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.Do(q)
	b.Must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	b.Must(err)
	return answer{response.StatusCode, string(text), response.Header}
}

func (b *browser) signIn(name, password string) answer {
	b.T.Helper()
	return b.ask("/login", "name", name, "password", password, "next", "/ops/slots")
}

// is fails unless the page says that.
func (b *browser) is(want string) {
	b.T.Helper()
	if got := b.ask("/slots"); got.Body != want && (want != "" || got.Code != http.StatusUnauthorized) {
		b.T.Errorf("%d %s; want %q", got.Code, got.Body, want)
	}
}

// wants fails unless an answer is so.
func (r *testRig) wants(got answer, code int, says ...string) {
	r.T.Helper()
	if got.Code != code {
		r.T.Errorf("%d %s; want %d", got.Code, got.Body, code)
	}
	for _, text := range says {
		if !strings.Contains(got.Body, text) && !strings.Contains(got.Headers.Get("Location"), text) {
			r.T.Errorf("%s does not say %q", got.Body, text)
		}
	}
}
