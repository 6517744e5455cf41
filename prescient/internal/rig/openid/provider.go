package openid

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
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
)

// ClientID and Secret are those with which it knows who asks.
const ClientID, Secret = "prescient", "topsecret"

// Provider is one of OpenID Connect, in which everybody who comes is the same person.
type Provider struct {
	*httptest.Server
	key *rsa.PrivateKey

	Mu sync.Mutex
	// Claims are those of the person, which Spoil changes where there is one.
	Claims map[string]any
	Spoil  func(claims map[string]any)
	// Signed is another key to sign by, where there is one.
	Signed *rsa.PrivateKey
	// Asked is how often somebody has asked what it is.
	Asked int
	codes map[string]url.Values // what was asked for, by the code that was given
}

// NewProvider starts one, which ends with the test.
func NewProvider(t *testing.T) *Provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{key: key, Claims: map[string]any{"email": "olga@example.org", "email_verified": true, "groups": []string{"staff", "sre"}}, codes: make(map[string]url.Values)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.Mu.Lock()
		p.Asked++
		p.Mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "one", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		if asked.Get("client_id") != ClientID || asked.Get("code_challenge_method") != "S256" || asked.Get("nonce") == "" || asked.Get("response_type") != "code" || !strings.Contains(asked.Get("scope"), "openid") {
			http.Error(w, "what is that: "+r.URL.RawQuery, http.StatusBadRequest)
			return
		}
		p.Mu.Lock()
		code := fmt.Sprint("code", len(p.codes))
		p.codes[code] = asked
		p.Mu.Unlock()
		http.Redirect(w, r, asked.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {asked.Get("state")}, "iss": {p.URL}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	asked, is := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !is || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) || id != ClientID || secret != Secret || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "sub": "4711", "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(), "nonce": asked.Get("nonce")}
	maps.Copy(claims, p.Claims)
	if p.Spoil != nil {
		p.Spoil(claims)
	}
	key := p.key
	if p.Signed != nil {
		key = p.Signed
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
