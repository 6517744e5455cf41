package login_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig/openid"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/page/login"
)

func optionsOf(p *openid.Provider) login.OIDC {
	return login.OIDC{Issuer: p.URL, ClientID: openid.ClientID, Secret: openid.Secret, Roles: map[string]ops.Role{"sre": ops.Operator, "staff": ops.Viewer}}
}

func eachProvider(t *testing.T, test func(t *testing.T, r *testRig, p *openid.Provider)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		p := openid.NewProvider(t)
		test(t, newRig(t, served.New(t, d, 15*time.Minute), login.Options{OIDC: optionsOf(p)}), p)
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
	eachProvider(t, func(t *testing.T, r *testRig, p *openid.Provider) {
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
		if p.Asked != 1 {
			t.Errorf("the provider was asked %d times what it is", p.Asked)
		}
	})
}

func TestWhatTheProviderDidNotSayForThisBrowserIsRefused(t *testing.T) {
	eachProvider(t, func(t *testing.T, r *testRig, p *openid.Provider) {
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
			p.Mu.Lock()
			p.Spoil, p.Signed = c.spoil, c.signed
			p.Mu.Unlock()
			b := r.browser()
			got := b.way(c.change)
			if got.Code != c.code || strings.Contains(got.Body, "<script>") && !strings.Contains(got.Body, "<script src") || strings.Contains(got.Body, "evil.example") {
				t.Errorf("%s: %d %s", name, got.Code, got.Body)
			}
			b.is("")
			r.pass(time.Minute) // for the address
		}
		p.Mu.Lock()
		p.Spoil, p.Signed = nil, nil
		p.Mu.Unlock()
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
	eachProvider(t, func(t *testing.T, r *testRig, p *openid.Provider) {
		r.add("ada", ops.Viewer)
		p.Close()
		b := r.browser()
		r.wants(b.ask("/login/provider"), 502, "Single sign-on is away")
		r.wants(b.signIn("ada", password), 303)
		b.is("ada is viewer")
	})
}

func TestAProviderIsRefusedThatCannotWork(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
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
