package login

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
	"prescient/prescient/page/internal/look"
)

// OIDC is a provider of OpenID Connect. It stands in package door, so that who hands it on, as package cmd does, compiles nothing of it.
type OIDC = door.OIDC

const (
	// providerWithin bounds what the provider is asked, and providerAgain is how long it is not asked again after it failed.
	providerWithin, providerAgain = 10 * time.Second, 5 * time.Second
	// wayTime is how long somebody may be away at the provider.
	wayTime = 10 * time.Minute
)

// provider has people sign in by OIDC.
type provider struct {
	o        OIDC
	callback string // absolute
	client   *http.Client

	mu     sync.Mutex
	config *oauth2.Config
	verify *oidc.IDTokenVerifier
	failed error
	at     time.Time // of the failure
}

func newProvider(o OIDC, site *look.Site, base string) (*provider, error) {
	if o.Issuer == "" {
		return nil, nil
	}
	u, err := url.Parse(o.Issuer)
	switch {
	case base == "":
		return nil, fmt.Errorf("%w: the provider of OpenID Connect has to send people back: give the base URL of the page", prescient.ErrInvalid)
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !ofThisMachine(u.Hostname())):
		return nil, fmt.Errorf("%w: issuer %.200q: the https URL of a provider of OpenID Connect is wanted", prescient.ErrInvalid, o.Issuer)
	case o.ClientID == "":
		return nil, fmt.Errorf("%w: there is no client ID for the provider of OpenID Connect", prescient.ErrInvalid)
	case len(o.Roles) == 0:
		return nil, fmt.Errorf("%w: nobody of the provider of OpenID Connect has a role: say which values of the claim have which, or * for everybody", prescient.ErrInvalid)
	}
	for _, value := range slices.Sorted(maps.Keys(o.Roles)) {
		if _, err := ops.ParseRole(string(o.Roles[value])); err != nil {
			return nil, fmt.Errorf("of %.100q: %w", value, err)
		}
	}
	o.NameClaim, o.RoleClaim = cmp.Or(o.NameClaim, "email"), cmp.Or(o.RoleClaim, "groups")
	return &provider{o: o, callback: site.URL(pathCallback), client: &http.Client{Timeout: providerWithin, Transport: short{http.DefaultTransport}}}, nil
}

// mostAnswered is how much of an answer of the provider is read.
const mostAnswered = 1 << 20

// short has answers end that are longer.
type short struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, mostAnswered), answer.Body}
	}
	return answer, err
}

func ofThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// get reads what the provider says of itself, once.
func (p *provider) get(ctx context.Context, now time.Time) (*oauth2.Config, *oidc.IDTokenVerifier, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.config != nil {
		return p.config, p.verify, nil
	}
	if p.failed != nil && now.Sub(p.at) < providerAgain {
		return nil, nil, p.failed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), providerWithin) // for all who wait
	defer cancel()
	is, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.o.Issuer)
	if err != nil {
		p.failed, p.at = fmt.Errorf("asking the provider what it is: %w", err), now
		return nil, nil, p.failed
	}
	p.config = &oauth2.Config{ClientID: p.o.ClientID, ClientSecret: p.o.Secret, Endpoint: is.Endpoint(), RedirectURL: p.callback, Scopes: []string{oidc.ScopeOpenID, "profile", "email"}}
	p.verify = is.VerifierContext(oidc.ClientContext(context.Background(), p.client), &oidc.Config{ClientID: p.o.ClientID})
	return p.config, p.verify, nil
}

// way is what a browser keeps while somebody is at the provider.
type way struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"t"`
}

func (l *Login) wayCookie(value string, lasts time.Duration) *http.Cookie {
	name := strings.TrimSuffix(l.known, "-known") + "-way"
	return l.cookie(name, value, l.site.Path(Path), lasts)
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// toProvider sends somebody to the provider.
func (l *Login) toProvider(w http.ResponseWriter, r *http.Request) {
	config, _, err := l.provider.get(r.Context(), l.now())
	if err != nil {
		l.away(w, r, err)
		return
	}
	k := way{random(), random(), oauth2.GenerateVerifier(), l.site.Local(r.URL.Query().Get("next"))}
	if len(k.Next) > 1000 { // a cookie has no place for it
		k.Next = l.site.Path("/")
	}
	text, err := json.Marshal(k)
	if err != nil {
		l.failed(w, r, err)
		return
	}
	http.SetCookie(w, l.wayCookie(base64.RawURLEncoding.EncodeToString(text), wayTime))
	http.Redirect(w, r, config.AuthCodeURL(k.State, oidc.Nonce(k.Nonce), oauth2.S256ChallengeOption(k.Verifier)), http.StatusSeeOther)
}

// errRefused is what is wrong with who came from the provider; the page shows it.
type errRefused struct{ text string }

func (e errRefused) Error() string { return e.text }

// fromProvider takes somebody who comes from the provider.
func (l *Login) fromProvider(w http.ResponseWriter, r *http.Request) {
	host := l.site.Address(r)
	if wait := l.throttle.waitAt(l.now(), host); wait > 0 {
		l.slow(w, r, wait)
		return
	}
	k := l.wayOf(r)
	http.SetCookie(w, l.wayCookie("", 0)) // it is good once
	ctx, cancel := context.WithTimeout(r.Context(), 2*providerWithin)
	defer cancel()
	name, role, err := l.given(ctx, r.URL.Query(), k)
	var refused errRefused
	switch {
	case errors.As(err, &refused):
		l.log.Warn().Err(err).Str("from", host).Msg("somebody could not sign in by the provider")
		l.site.Wrong(w, r, look.Trouble{Status: http.StatusForbidden, Title: "Not signed in", Text: refused.text, Do: "Begin again at " + l.site.Path(Path) + ", or ask an admin."})
		return
	case err != nil:
		l.away(w, r, err)
		return
	}
	is, err := l.begin(w, r, beginning{person: name, host: host, role: role})
	switch {
	case err != nil:
		l.failed(w, r, err)
	case !is:
		l.log.Warn().Str("from", host).Str("person", name).Msg("somebody could not sign in by the provider: the name has a password")
		l.site.Wrong(w, r, look.Trouble{Status: http.StatusForbidden, Title: "Not signed in", Text: "There is a user of this name with a password, which is the only way in by that name.", Do: "Sign in by the password, or ask an admin."})
	default:
		http.Redirect(w, r, k.Next, http.StatusSeeOther)
	}
}

// away answers that the provider does not do what it should.
func (l *Login) away(w http.ResponseWriter, r *http.Request, err error) {
	l.log.Error().Err(err).Msg("the provider of OpenID Connect failed")
	l.site.Wrong(w, r, look.Trouble{Status: http.StatusBadGateway, Title: "Single sign-on is away", Text: "The provider does not answer as it should.", Do: "The log of the server says why. Users with a password sign in by that."})
}

// wayOf is what the browser kept; the zero value where there is none.
func (l *Login) wayOf(r *http.Request) (k way) {
	cookie, err := r.Cookie(l.wayCookie("", 0).Name)
	if err != nil {
		return way{}
	}
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || json.Unmarshal(text, &k) != nil {
		return way{}
	}
	k.Next = l.site.Local(k.Next) // whoever can set cookies cannot send people elsewhere
	return k
}

// given says who came from the provider, and the role. The error is an errRefused where that is not good; else the provider failed.
func (l *Login) given(ctx context.Context, answer url.Values, k way) (string, ops.Role, error) {
	if k.State == "" || subtle.ConstantTimeCompare([]byte(k.State), []byte(answer.Get("state"))) != 1 {
		return "", "", errRefused{"This answer of the provider is not for a sign-in that was begun in this browser in the last 10 minutes."}
	}
	if says := answer.Get("error"); says != "" {
		return "", "", errRefused{fmt.Sprintf("The provider says no: %.100s.", says)}
	}
	if issuer := answer.Get("iss"); issuer != "" && issuer != l.provider.o.Issuer {
		return "", "", errRefused{"This answer is of another provider."}
	}
	config, verify, err := l.provider.get(ctx, l.now())
	if err != nil {
		return "", "", err
	}
	tokens, err := config.Exchange(oidc.ClientContext(ctx, l.provider.client), answer.Get("code"), oauth2.VerifierOption(k.Verifier))
	if err != nil {
		return "", "", fmt.Errorf("asking the provider who it is: %w", err)
	}
	raw, is := tokens.Extra("id_token").(string)
	if !is {
		return "", "", errors.New("the provider gave no ID token")
	}
	token, err := verify.Verify(ctx, raw)
	if err != nil {
		return "", "", fmt.Errorf("the ID token of the provider: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(k.Nonce)) != 1 {
		return "", "", errRefused{"This answer of the provider was given for another sign-in."}
	}
	claims := make(map[string]any)
	if err := token.Claims(&claims); err != nil {
		return "", "", fmt.Errorf("the claims of the ID token: %w", err)
	}
	if by, is := claims["azp"].(string); is && by != l.provider.o.ClientID || !is && len(token.Audience) > 1 {
		return "", "", errRefused{"This answer of the provider was given for another program."}
	}
	return who(l.provider.o, claims)
}

// who reads claims.
func who(o OIDC, claims map[string]any) (string, ops.Role, error) {
	name, _ := claims[o.NameClaim].(string)
	if errors.Join(prescient.ValidLabel("name", name, 128), prescient.ValidSeen("name", name)) != nil {
		return "", "", errRefused{fmt.Sprintf("The provider gives no name that can be taken: the claim %s is no text of 1 to 128 characters that can be seen.", o.NameClaim)}
	}
	if verified, is := claims["email_verified"]; o.NameClaim == "email" && is && !yes(verified) || o.RoleClaim == "email" && !yes(verified) {
		return "", "", errRefused{"The provider has not verified the e-mail address."}
	}
	best := o.Roles["*"]
	for _, value := range texts(claimAt(claims, o.RoleClaim)) {
		if role := o.Roles[value]; value != "*" && role.May(ops.Viewer) && (best == "" || role.May(best)) {
			best = role
		}
	}
	if best == "" {
		return "", "", errRefused{fmt.Sprintf("%.128s has no role here: no value of the claim %s has one.", name, o.RoleClaim)}
	}
	return name, best, nil
}

// yes says whether a claim says so, as a truth or, of some providers, as a text.
func yes(claim any) bool { return claim == true || claim == "true" }

// claimAt is a claim, or what is in one where dots lead.
func claimAt(claims map[string]any, path string) any {
	if value, is := claims[path]; is {
		return value
	}
	first, rest, deeper := strings.Cut(path, ".")
	inner, is := claims[first].(map[string]any)
	if !deeper || !is {
		return nil
	}
	return claimAt(inner, rest)
}

func texts(value any) (all []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, v := range value {
			if text, is := v.(string); is && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}
