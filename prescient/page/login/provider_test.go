package login_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"prescient/prescient"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/page/login"
)

// provider is one of OpenID Connect, in which everybody who comes is the same person.
type provider struct {
	*httptest.Server
	key *rsa.PrivateKey

	mu     sync.Mutex
	claims map[string]any // of the person
	spoil  func(claims map[string]any)
	signed *rsa.PrivateKey       // by another key, where there is one
	codes  map[string]url.Values // what was asked for, by the code that was given
	asked  int
}

func newProvider(t *testing.T) *provider {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key, claims: map[string]any{"email": "olga@example.org", "email_verified": true, "groups": []string{"staff", "sre"}}, codes: make(map[string]url.Values)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		p.asked++
		p.mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "one", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		if asked.Get("client_id") != "prescient" || asked.Get("code_challenge_method") != "S256" || asked.Get("nonce") == "" || asked.Get("response_type") != "code" || !strings.Contains(asked.Get("scope"), "openid") {
			http.Error(w, "what is that: "+r.URL.RawQuery, http.StatusBadRequest)
			return
		}
		p.mu.Lock()
		code := fmt.Sprint("code", len(p.codes))
		p.codes[code] = asked
		p.mu.Unlock()
		http.Redirect(w, r, asked.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {asked.Get("state")}, "iss": {p.URL}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, is := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !is || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) || id != "prescient" || secret != "topsecret" || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	claims := map[string]any{"iss": p.URL, "aud": "prescient", "sub": "4711", "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(), "nonce": asked.Get("nonce")}
	maps.Copy(claims, p.claims)
	if p.spoil != nil {
		p.spoil(claims)
	}
	key := p.key
	if p.signed != nil {
		key = p.signed
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "one"}}, nil)
	if err == nil {
		var text string
		if text, err = jwt.Signed(signer).Claims(claims).Serialize(); err == nil {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": text})
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (p *provider) options() login.OIDC {
	return login.OIDC{Issuer: p.URL, ClientID: "prescient", Secret: "topsecret", Roles: map[string]ops.Role{"sre": ops.Operator, "staff": ops.Viewer}}
}

func eachProvider(t *testing.T, test func(t *testing.T, r *testRig, p *provider)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		p := newProvider(t)
		test(t, newRig(t, served.New(t, d, 15*time.Minute), login.Options{OIDC: p.options()}), p)
	})
}

// way goes to the provider and back, as far as change lets it.
func (b *browser) way(change func(callback *url.URL)) answer {
	b.T.Helper()
	got := b.ask("/login/provider?next=/ops/slots")
	b.wants(got, 303)
	got = b.ask(got.Headers.Get("Location"))
	b.wants(got, 302)
	callback, err := url.Parse(got.Headers.Get("Location"))
	b.Must(err)
	if change != nil {
		change(callback)
	}
	return b.ask(callback.String())
}

func TestSomebodyWhomTheProviderNamesSignsIn(t *testing.T) {
	eachProvider(t, func(t *testing.T, r *testRig, p *provider) {
		b := r.browser()
		r.wants(b.ask("/login"), 200, "single sign-on", "/ops/login/provider")
		got := b.way(nil)
		r.wants(got, 303, "/ops/slots")
		b.is("olga@example.org is operator")
		r.wants(b.ask("/password"), 200, "single sign-on")
		r.wants(b.ask("/password", "old", "x", "new", password, "again", password), 422)
		if n := r.Count("SELECT COUNT(*) FROM p_web_session WHERE person = 'olga@example.org' AND role = 'operator'"); n != 1 {
			t.Errorf("%d sessions", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_web_user"); n != 0 {
			t.Errorf("%d users", n)
		}
		_, err := ops.EndSessions.Do(t.Context(), r.Ops, served.By(ops.Admin), ops.OfUser{Name: "olga@example.org"})
		r.Must(err)
		r.pass(login.Remembered)
		b.is("")
		r.wants(b.way(nil), 303)
		b.is("olga@example.org is operator")
		// A user of the name has it from then on.
		r.add("olga@example.org", ops.Viewer)
		r.pass(login.Remembered)
		b.is("")
		r.wants(b.way(nil), 403, "with a password")
		b.is("")
		if p.asked != 1 {
			t.Errorf("the provider was asked %d times what it is", p.asked)
		}
	})
}

func TestWhatTheProviderDidNotSayForThisBrowserIsRefused(t *testing.T) {
	eachProvider(t, func(t *testing.T, r *testRig, p *provider) {
		set := func(name, value string) func(*url.URL) {
			return func(u *url.URL) {
				q := u.Query()
				q.Set(name, value)
				u.RawQuery = q.Encode()
			}
		}
		other, err := rsa.GenerateKey(rand.Reader, 2048)
		r.Must(err)
		for name, c := range map[string]struct {
			change func(*url.URL)
			spoil  func(claims map[string]any)
			signed *rsa.PrivateKey
			code   int
		}{
			"another state":    {change: set("state", "x"), code: 403},
			"no state":         {change: set("state", ""), code: 403},
			"another issuer":   {change: set("iss", "https://evil.example"), code: 403},
			"an error":         {change: set("error", "access_denied<script>"), code: 403},
			"another code":     {change: set("code", "x"), code: 502},
			"another nonce":    {spoil: func(c map[string]any) { c["nonce"] = "x" }, code: 403},
			"another key":      {signed: other, code: 502},
			"another audience": {spoil: func(c map[string]any) { c["aud"] = "x" }, code: 502},
			"of another":       {spoil: func(c map[string]any) { c["iss"] = "https://evil.example" }, code: 502},
			"expired":          {spoil: func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }, code: 502},
			"no role":          {spoil: func(c map[string]any) { c["groups"] = []string{"guests"} }, code: 403},
			"no name":          {spoil: func(c map[string]any) { delete(c, "email") }, code: 403},
			"a hidden name":    {spoil: func(c map[string]any) { c["email"] = "ol\u200bga@example.org" }, code: 403},
			"not verified":     {spoil: func(c map[string]any) { c["email_verified"] = false }, code: 403},
		} {
			p.mu.Lock()
			p.spoil, p.signed = c.spoil, c.signed
			p.mu.Unlock()
			b := r.browser()
			got := b.way(c.change)
			if got.Code != c.code || strings.Contains(got.Body, "<script>") && !strings.Contains(got.Body, "<script src") || strings.Contains(got.Body, "evil.example") {
				t.Errorf("%s: %d %s", name, got.Code, got.Body)
			}
			b.is("")
			r.pass(time.Minute) // for the address
		}
		p.mu.Lock()
		p.spoil, p.signed = nil, nil
		p.mu.Unlock()
		// An answer is for the browser that asked, and good once.
		var callback string
		victim, eve := r.browser(), r.browser()
		r.wants(eve.way(func(u *url.URL) { callback, u.RawQuery = u.String(), "" }), 403)
		r.wants(victim.ask(callback), 403, "not for a sign-in that was begun in this browser")
		victim.is("")
		r.wants(victim.way(func(u *url.URL) { callback = u.String() }), 303)
		r.wants(victim.ask("/logout", "x", "y"), 303)
		r.wants(victim.ask(callback), 403)
		victim.is("")
		if n := r.Count("SELECT COUNT(*) FROM p_web_session"); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestWhileTheProviderIsAwayUsersSignInAllTheSame(t *testing.T) {
	eachProvider(t, func(t *testing.T, r *testRig, p *provider) {
		r.add("ada", ops.Viewer)
		p.Close()
		b := r.browser()
		r.wants(b.ask("/login/provider"), 502, "Single sign-on is away")
		r.wants(b.signIn("ada", password), 303)
		b.is("ada is viewer")
	})
}

func TestAProviderIsRefusedThatCannotWork(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		good := login.OIDC{Issuer: "https://id.example.org", ClientID: "a", Roles: map[string]ops.Role{"*": ops.Viewer}}
		for name, c := range map[string]struct {
			base   string
			change func(o *login.OIDC)
			want   bool
		}{
			"good":          {"https://ops.example.org", func(*login.OIDC) {}, true},
			"no base":       {"", func(*login.OIDC) {}, false},
			"no TLS":        {"https://ops.example.org", func(o *login.OIDC) { o.Issuer = "http://id.example.org" }, false},
			"no URL":        {"https://ops.example.org", func(o *login.OIDC) { o.Issuer = "id.example.org" }, false},
			"no client":     {"https://ops.example.org", func(o *login.OIDC) { o.ClientID = "" }, false},
			"no roles":      {"https://ops.example.org", func(o *login.OIDC) { o.Roles = nil }, false},
			"no such role":  {"https://ops.example.org", func(o *login.OIDC) { o.Roles = map[string]ops.Role{"a": "root"} }, false},
			"with a secret": {"https://ops.example.org", func(o *login.OIDC) { o.Issuer = "https://a:b@id.example.org" }, false},
		} {
			o := good
			c.change(&o)
			_, err := login.New(t.Context(), r.As("serve-door", time.Time{}), login.Options{Prefix: "p_", Dialect: r.Setting, BaseURL: c.base, OIDC: o})
			if c.want != (err == nil) || err != nil && !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestTheHighestRoleOfAClaimCounts(t *testing.T) {
	roles := map[string]ops.Role{"sre": ops.Operator, "staff": ops.Viewer, "boss": ops.Admin}
	for _, c := range []struct {
		claims string
		claim  string
		all    ops.Role
		want   ops.Role
	}{
		{`{"groups":["staff","boss","sre"]}`, "groups", "", ops.Admin},
		{`{"groups":["x","staff"]}`, "groups", "", ops.Viewer},
		{`{"groups":"sre"}`, "groups", "", ops.Operator},
		{`{"groups":"sre staff"}`, "groups", "", ""},
		{`{"groups":["*"]}`, "groups", "", ""},
		{`{"groups":["*"]}`, "groups", ops.Viewer, ops.Viewer},
		{`{}`, "groups", ops.Viewer, ops.Viewer},
		{`{"groups":["sre"]}`, "groups", ops.Viewer, ops.Operator},
		{`{"groups":["staff"]}`, "groups", ops.Operator, ops.Operator},
		{`{"groups":[{"a":1},3,null,"boss"]}`, "groups", "", ops.Admin},
		{`{"groups":{"boss":true}}`, "groups", "", ""},
		{`{"realm_access":{"roles":["sre"]}}`, "realm_access.roles", "", ops.Operator},
		{`{"realm_access.roles":["boss"],"realm_access":{"roles":["sre"]}}`, "realm_access.roles", "", ops.Admin},
		{`{"realm_access":"sre"}`, "realm_access.roles", "", ""},
	} {
		claims := map[string]any{}
		if err := json.Unmarshal([]byte(c.claims), &claims); err != nil {
			t.Fatal(err)
		}
		claims["sub"] = "olga"
		o := login.OIDC{NameClaim: "sub", RoleClaim: c.claim, Roles: maps.Clone(roles)}
		if c.all != "" {
			o.Roles["*"] = c.all
		}
		name, role, err := login.Claimed(o, claims)
		if role != c.want || (err == nil) != (c.want != "") || err == nil && name != "olga" {
			t.Errorf("%s: %s, %s, %v; want %s", c.claims, name, role, err, c.want)
		}
	}
}
