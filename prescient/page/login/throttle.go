package login

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"prescient/prescient/internal/bound"
)

// limit is how often something may be tried: burst at once, and one more every so often.
type limit struct {
	burst int
	every time.Duration
}

// How often one may try to sign in: from an address, from all networks of a site of IPv6, to an account by any browser that is not known to it, and by one
// that is.
var (
	byAddress = limit{20, 3 * time.Second}
	bySite    = limit{60, time.Second}
	byAccount = limit{10, 30 * time.Second}
	byBrowser = limit{10, 30 * time.Second}
)

// cells is how many limiters there are of a kind. What is counted shares one where it falls upon the same: so no number of names and addresses takes more
// memory, or makes others be forgotten.
const cells = 1 << 12

// throttle slows down who tries passwords.
type throttle struct {
	seed maphash.Seed

	mu    sync.Mutex
	kinds map[limitKind]*[cells]*rate.Limiter
}

type limitKind int

const (
	ofAddress limitKind = iota
	ofSite
	ofAccount
	ofNobody // a name that is nobody's: however many of these are tried, an account shares nothing with them
	ofBrowser
)

func newThrottle() *throttle {
	return &throttle{seed: maphash.MakeSeed(), kinds: map[limitKind]*[cells]*rate.Limiter{ofAddress: {}, ofSite: {}, ofAccount: {}, ofNobody: {}, ofBrowser: {}}}
}

// wait is how long somebody has to wait before trying; 0 for not at all, and then the try counts.
func (t *throttle) wait(now time.Time, kind limitKind, key string) time.Duration {
	l := map[limitKind]limit{ofAddress: byAddress, ofSite: bySite, ofAccount: byAccount, ofNobody: byAccount, ofBrowser: byBrowser}[kind]
	t.mu.Lock()
	defer t.mu.Unlock()
	cell := &t.kinds[kind][maphash.String(t.seed, key)%cells]
	if *cell == nil {
		*cell = rate.NewLimiter(rate.Every(l.every), l.burst)
	}
	r := (*cell).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// waitAt is how long somebody at an address has to wait.
func (t *throttle) waitAt(now time.Time, address string) time.Duration {
	if wait := t.wait(now, ofAddress, bound.Network(address).String()); wait > 0 {
		return wait
	}
	return t.wait(now, ofSite, bound.Site(address).String())
}

// A browser by which somebody has signed in to an account shows that by a cookie: random bits, and their HMAC by what is kept of the account's password. So
// it is good for that account, until the password is changed, and nothing has to be kept of it.
const knownBytes = 16

// knownTime is how long a browser is known.
const knownTime = 365 * 24 * time.Hour

func newKnown(hash string) string {
	random := make([]byte, knownBytes)
	_, _ = rand.Read(random) // it never fails
	b64 := base64.RawURLEncoding
	return b64.EncodeToString(random) + "." + b64.EncodeToString(knownSum(hash, random))
}

func knownSum(hash string, random []byte) []byte {
	mac := hmac.New(sha256.New, []byte(hash))
	_, _ = mac.Write(append([]byte("known"), random...)) // it never fails
	return mac.Sum(nil)
}

// isKnown says whether a cookie shows that somebody has signed in to the account by this browser. Of nobody's account hash is empty.
func isKnown(cookie, hash string) bool {
	random, sum, _ := strings.Cut(cookie, ".")
	b64 := base64.RawURLEncoding.Strict()
	r, ofRandom := b64.DecodeString(random)
	s, ofSum := b64.DecodeString(sum)
	return hash != "" && ofRandom == nil && ofSum == nil && len(r) == knownBytes && hmac.Equal(s, knownSum(hash, r))
}
