package ops_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

func TestATokenIsMadeRotatedListedAndRevoked(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Admin)
		by.Reason = "somebody new"
		made, err := ops.CreateToken.Do(t.Context(), r.Ops, by, ops.NewToken{Name: "ci", Role: ops.Operator, ExpiresMS: time.Hour.Milliseconds()})
		r.Must(err)
		if made.Number == 0 || !strings.HasPrefix(made.Secret, "pst_") || made.State != "live" || made.Name != "ci" || made.Role != ops.Operator || made.ExpiresAt.Sub(made.CreatedAt) != time.Hour {
			t.Errorf("%+v", made)
		}
		overlap := int64(60_000)
		next, err := ops.RotateToken.Do(t.Context(), r.Ops, by, ops.Rotating{Number: made.Number, OverlapMS: &overlap})
		r.Must(err)
		if next.Number <= made.Number || next.Secret == made.Secret || next.Name != "ci" || next.Role != ops.Operator || next.ExpiresAt.Sub(next.CreatedAt) != ops.DefaultTokenTime {
			t.Errorf("%+v", next)
		}
		list := func(after string, limit int) ops.Page[ops.Token] {
			page, err := ops.ListTokens.Do(t.Context(), r.Ops, by, ops.Paging{After: after, Limit: limit})
			r.Must(err)
			return page
		}
		page := list("", 1)
		if len(page.Rows) != 1 || page.Next == "" || page.Rows[0].Number != made.Number || page.Rows[0].ExpiresAt.Sub(next.CreatedAt).Abs() > time.Minute {
			t.Errorf("%+v", page)
		}
		if page = list(page.Next, 1); len(page.Rows) != 1 || page.Next != "" || page.Rows[0] != next.Token {
			t.Errorf("%+v", page)
		}
		// A longer overlap gives nothing that the token did not have.
		overlap = ops.MaxOverlap.Milliseconds()
		_, err = ops.RotateToken.Do(t.Context(), r.Ops, by, ops.Rotating{Number: made.Number, OverlapMS: &overlap})
		r.Must(err)
		if again := list("", 1).Rows[0]; again.ExpiresAt.Sub(next.CreatedAt).Abs() > time.Minute {
			t.Errorf("%+v", again)
		}
		for range 2 {
			gone, err := ops.RevokeToken.Do(t.Context(), r.Ops, by, ops.Revoking{Number: next.Number})
			r.Must(err)
			if gone.State != "revoked" || gone.RevokedAt == nil {
				t.Errorf("%+v", gone)
			}
		}
		if _, err := ops.RotateToken.Do(t.Context(), r.Ops, by, ops.Rotating{Number: next.Number}); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), "revoked") {
			t.Error(err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_api_token WHERE hash LIKE '%pst%' OR name LIKE '%pst%'"); n != 0 {
			t.Error("a secret is kept")
		}
		log, err := audit.Open(t.Context(), r.Pool(time.Time{}), audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		entries, err := log.List(t.Context(), r.Pool(time.Time{}), audit.Filter{Kind: audit.Token, Limit: 100})
		r.Must(err)
		verbs := make(map[string]int)
		for _, e := range entries {
			verbs[e.Verb+" by "+e.Command]++
			if e.Person != "admin" || e.Reason != "somebody new" {
				t.Errorf("%+v", e)
			}
		}
		text, err := json.Marshal(entries)
		r.Must(err)
		if len(verbs) != 4 || verbs["create by tokens.create"] != 1 || verbs["create by tokens.rotate"] != 2 || verbs["rotate by tokens.rotate"] != 2 || verbs["revoke by tokens.revoke"] != 1 {
			t.Errorf("%v", verbs)
		}
		if strings.Contains(string(text), "pst_") || !strings.Contains(string(text), `"in_place_of":`) {
			t.Errorf("%s", text)
		}
	})
}

func TestWhatIsNoTokenIsNotMade(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		admin := served.By(ops.Admin)
		for _, bad := range []ops.NewToken{{Role: ops.Viewer}, {Name: "a\u200b", Role: ops.Viewer}, {Name: strings.Repeat("x", 129), Role: ops.Viewer}, {Name: "a"}, {Name: "a", Role: "root"},
			{Name: "a", Role: ops.Viewer, ExpiresMS: 999}, {Name: "a", Role: ops.Viewer, ExpiresMS: -1}, {Name: "a", Role: ops.Viewer, ExpiresMS: ops.MaxTokenTime.Milliseconds() + 1}} {
			if _, err := ops.CreateToken.Do(t.Context(), r.Ops, admin, bad); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		long := ops.MaxOverlap.Milliseconds() + 1
		if _, err := ops.RotateToken.Do(t.Context(), r.Ops, admin, ops.Rotating{Number: 1, OverlapMS: &long}); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
		if _, err := ops.RotateToken.Do(t.Context(), r.Ops, admin, ops.Rotating{Number: 1}); !errors.Is(err, ops.ErrNoToken) {
			t.Error(err)
		}
		if _, err := ops.RevokeToken.Do(t.Context(), r.Ops, admin, ops.Revoking{Number: 1}); !errors.Is(err, ops.ErrNoToken) {
			t.Error(err)
		}
		if _, err := ops.ListTokens.Do(t.Context(), r.Ops, admin, ops.Paging{After: "x", Limit: 1}); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
		for _, role := range []ops.Role{ops.Viewer, ops.Operator} {
			if _, err := ops.CreateToken.Do(t.Context(), r.Ops, served.By(role), ops.NewToken{Name: "a", Role: ops.Viewer}); !errors.Is(err, ops.ErrForbidden) {
				t.Error(err)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_api_token"); n != 0 {
			t.Errorf("%d tokens", n)
		}
	})
}

// The answers of idempotency keys are kept for a day, and secrets nowhere.
func TestWhatAnswersASecretTakesNoIdempotencyKey(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Admin)
		by.Key = "k"
		if _, err := ops.CreateToken.Do(t.Context(), r.Ops, by, ops.NewToken{Name: "a", Role: ops.Viewer}); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), "idempotency key") {
			t.Error(err)
		}
		if _, err := ops.RotateToken.Do(t.Context(), r.Ops, by, ops.Rotating{Number: 1}); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_api_token") + r.Count("SELECT COUNT(*) FROM p_api_key"); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

func TestATokenThatEndsAtOnceIsRotatedOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Admin)
		made, err := ops.CreateToken.Do(t.Context(), r.Ops, by, ops.NewToken{Name: "ci", Role: ops.Operator})
		r.Must(err)
		held, err := r.Pool(time.Time{}).BeginTxx(t.Context(), nil)
		r.Must(err)
		defer held.Rollback()
		_, err = held.ExecContext(t.Context(), "SELECT number FROM p_api_token WHERE number = ? FOR UPDATE", made.Number)
		r.Must(err)
		errs := make(chan error, 4)
		for range cap(errs) {
			go func() {
				_, err := ops.RotateToken.Do(t.Context(), r.Ops, by, ops.Rotating{Number: made.Number, OverlapMS: new(int64)})
				errs <- err
			}()
		}
		time.Sleep(300 * time.Millisecond) // all of them wait, and began before the token ends
		r.Must(held.Commit())
		did := 0
		for range cap(errs) {
			switch err := <-errs; {
			case err == nil:
				did++
			case !errors.Is(err, prescient.ErrInvalid):
				t.Error(err)
			}
		}
		if did != 1 {
			t.Errorf("it was rotated %d times", did)
		}
	})
}
