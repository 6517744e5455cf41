package door_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
	text "prescient/sql"
)

func TestMain(m *testing.M) { servertest.Main(m) }

type testRig struct {
	*served.Rig
	door *door.Door
}

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := &testRig{Rig: served.New(t, d, 15*time.Minute)}
		r.door = r.open("")
		test(t, r)
	})
}

func (r *testRig) open(role ops.Role) *door.Door {
	r.T.Helper()
	d, err := door.Open(r.T.Context(), r.As("serve-door", time.Time{}), door.Options{Prefix: "p_", Dialect: r.Setting, Open: role})
	r.Must(err)
	return d
}

// make makes a token.
func (r *testRig) make(role ops.Role) ops.MadeToken {
	r.T.Helper()
	made, err := ops.CreateToken.Do(r.T.Context(), r.Ops, served.By(ops.Admin), ops.NewToken{Name: "ci", Role: role})
	r.Must(err)
	return made
}

// refused fails unless a secret is refused, and says why.
func (r *testRig) refused(secret, says string) {
	r.T.Helper()
	by, err := r.door.Caller(r.T.Context(), secret)
	if !errors.Is(err, ops.ErrUnauthorized) || !strings.Contains(err.Error(), says) || by != (ops.Caller{}) {
		r.T.Errorf("%+v, %v; want %s", by, err, says)
	}
	if err != nil && secret != "" && strings.Contains(err.Error(), secret) {
		r.T.Errorf("the error shows what was sent: %v", err)
	}
}

func TestATokenIsKnownUntilItExpiresOrIsRevoked(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		if has, err := r.door.HasToken(t.Context()); has || err != nil {
			t.Errorf("%t, %v", has, err)
		}
		made := r.make(ops.Operator)
		if has, err := r.door.HasToken(t.Context()); !has || err != nil {
			t.Errorf("%t, %v", has, err)
		}
		by, err := r.door.Caller(t.Context(), made.Secret)
		if err != nil || by != (ops.Caller{Name: "ci", Role: ops.Operator, Token: made.Number}) {
			t.Errorf("%+v, %v", by, err)
		}
		another := r.make(ops.Operator)
		r.refused("", "Bearer")
		r.refused("operator", "Bearer")
		r.refused(made.Secret+"A", "Bearer")
		r.refused("pst_"+strings.Repeat("A", 43), "not known")
		_, err = ops.RevokeToken.Do(t.Context(), r.Ops, served.By(ops.Admin), ops.Revoking{Number: made.Number})
		r.Must(err)
		r.refused(made.Secret, "revoked") // at once
		if has, err := r.door.HasToken(t.Context()); !has || err != nil {
			t.Errorf("%t, %v", has, err)
		}
		r.Exec("UPDATE p_api_token SET expires_at = UTC_TIMESTAMP(6)")
		r.refused(another.Secret, "expired")
		if has, err := r.door.HasToken(t.Context()); has || err != nil {
			t.Errorf("%t, %v", has, err)
		}
	})
}

func TestAnOldTokenIsGoodBesideItsNewOneForTheOverlapAlone(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		made := r.make(ops.Viewer)
		overlap := int64(1_000)
		next, err := ops.RotateToken.Do(t.Context(), r.Ops, served.By(ops.Admin), ops.Rotating{Number: made.Number, OverlapMS: &overlap})
		r.Must(err)
		if by, err := r.door.Caller(t.Context(), next.Secret); err != nil || by.Role != ops.Viewer || by.Token != next.Number {
			t.Errorf("%+v, %v", by, err)
		}
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			if _, err := r.door.Caller(t.Context(), made.Secret); err != nil {
				r.refused(made.Secret, "expired")
				break
			}
			if time.Since(began) > 20*time.Second {
				t.Fatal("the old token is still good")
			}
		}
	})
}

func TestARequestBringsItsTokenInOneHeader(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		made := r.make(ops.Viewer)
		for header, name := range map[string]string{"Bearer " + made.Secret: "ci", "bearer  " + made.Secret: "ci", made.Secret: "", "Basic " + made.Secret: "", "": "", "Bearer": ""} {
			for _, role := range []ops.Role{"", ops.Operator} {
				request := httptest.NewRequest("GET", "/?token="+made.Secret, nil)
				request.RemoteAddr = "10.0.0.7:4711"
				if header != "" {
					request.Header.Set("Authorization", header)
				}
				request.Header.Set("X-Forwarded-For", "198.51.100.1") // which nobody who is no proxy may say
				d, want := r.door, ops.Caller{Name: name, Role: ops.Viewer, Token: made.Number, Host: "10.0.0.7"}
				if role != "" {
					d = r.open(role)
				}
				by, err := d.Authenticate(request)
				switch {
				case name != "" && (err != nil || by != want):
					t.Errorf("%q: %+v, %v", header, by, err)
				case header == "" && role != "" && (err != nil || by.Role != role || by.Token != 0):
					t.Errorf("open: %+v, %v", by, err)
				case name == "" && (header != "" || role == "") && !errors.Is(err, ops.ErrUnauthorized): // a bad token is refused also where none is needed
					t.Errorf("%q: %+v, %v", header, by, err)
				}
			}
		}
		if _, err := door.Open(t.Context(), r.As("serve-door", time.Time{}), door.Options{Prefix: "p_", Dialect: r.Setting, Open: "root"}); err == nil {
			t.Error("opened for a role that is none")
		}
	})
}

func TestTheLastUseIsNotedOnceAMinuteAndHoldsNobodyUp(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		made := r.make(ops.Viewer)
		use := func(d *door.Door) {
			t.Helper()
			took := rig.Quickest(func() {
				if _, err := d.Caller(t.Context(), made.Secret); err != nil {
					t.Error(err)
				}
			})
			if took > 900*time.Millisecond { // a wait for a lock is 1 s at least
				t.Errorf("it took %s", took)
			}
		}
		noted := func(want int) {
			t.Helper()
			if n := r.Count("SELECT COUNT(*) FROM p_api_token WHERE last_used_at > UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE"); n != want {
				t.Errorf("noted %d times; want %d", n, want)
			}
		}
		tx, err := r.As("owner", time.Time{}).BeginTxx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.ExecContext(t.Context(), "UPDATE p_api_token SET name = 'x'")
		r.Must(err)
		use(r.door)
		r.Must(tx.Rollback())
		noted(0)
		use(r.door) // it does not try again within a minute
		noted(0)
		r.Eventually("another process notes it", func() bool {
			use(r.open(""))
			return r.Count("SELECT COUNT(*) FROM p_api_token WHERE last_used_at > UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE") == 1
		})
		r.Exec("UPDATE p_api_token SET last_used_at = last_used_at - INTERVAL 30 SECOND")
		before := r.Count("SELECT SECOND(last_used_at) FROM p_api_token")
		use(r.open(""))
		if after := r.Count("SELECT SECOND(last_used_at) FROM p_api_token"); after != before {
			t.Errorf("noted again within a minute: %d, then %d", before, after)
		}
	})
}

func TestOldIdempotencyKeysAreForgottenButForThoseThatAreLocked(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		insert := func(from, to int, age string) {
			var rows []string
			for i := from; i < to; i++ {
				rows = append(rows, fmt.Sprintf("(%d, CONCAT('k', CHAR(39 + %d %% 80), %[2]d), 'x', REPEAT('x', 32), UTC_TIMESTAMP(6) - INTERVAL %s)", i%3, i, age))
			}
			r.Exec("INSERT INTO p_api_key (token, idempotency_key, operation, body, at) VALUES " + strings.Join(rows, ","))
		}
		insert(0, 2500, "25 HOUR")
		insert(2500, 2503, "23 HOUR")
		tx, err := r.As("owner", time.Time{}).BeginTxx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.ExecContext(t.Context(), "UPDATE p_api_key SET operation = 'y' WHERE token = 1 AND idempotency_key = CONCAT('k', CHAR(39 + 7 % 80), 7)")
		r.Must(err)
		n, err := r.door.Forget(t.Context())
		if r.Dialect == text.Plain {
			if err == nil {
				t.Errorf("forgot %d beside a locked one", n)
			}
		} else if n != 2499 || err != nil {
			t.Errorf("forgot %d, %v", n, err)
		}
		r.Must(tx.Rollback())
		if _, err = r.door.Forget(t.Context()); err != nil {
			t.Error(err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_api_key"); n != 3 {
			t.Errorf("%d are left", n)
		}
	})
}

func TestSessionsThatAreOverAreForgotten(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		var rows []string
		for i := range 1203 {
			rows = append(rows, fmt.Sprintf("(UNHEX(SHA2('%d', 256)), 'ada', 'viewer', 'h', '{}', UTC_TIMESTAMP(6) - INTERVAL 13 HOUR, UTC_TIMESTAMP(6) + INTERVAL %d MINUTE)", i, map[bool]int{true: 1, false: -1}[i < 3]))
		}
		r.Exec("INSERT INTO p_web_session (hash, person, role, host, data, created_at, ends_at) VALUES " + strings.Join(rows, ","))
		if n, err := r.door.Forget(t.Context()); n != 1200 || err != nil {
			t.Errorf("forgot %d, %v", n, err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_web_session WHERE ends_at > UTC_TIMESTAMP(6)"); n != 3 {
			t.Errorf("%d are left", n)
		}
	})
}

func TestWhoIsDisabledIsNobodyWhoSignsIn(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, step := range []struct {
			sql  string
			want bool
		}{{"DO 1", false}, {"INSERT INTO p_web_user (name, role, password, created_at, changed_at) VALUES ('ada', 'viewer', '$argon2id$v=19$m=1', '2026-11-20', '2026-11-20')", true},
			{"UPDATE p_web_user SET disabled_at = '2026-11-20'", false}} {
			r.Exec(step.sql)
			if has, err := r.door.HasUser(t.Context()); has != step.want || err != nil {
				t.Errorf("%s: %t, %v", step.sql, has, err)
			}
		}
	})
}

func TestACallersAddressIsTheOneThatTheProxyNames(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		made := r.make(ops.Viewer)
		d, err := door.Open(t.Context(), r.As("serve-door", time.Time{}), door.Options{Prefix: "p_", Dialect: r.Setting, Open: ops.Viewer, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32")}})
		r.Must(err)
		for remote, want := range map[string]string{"10.0.0.7:1": "198.51.100.1", "10.0.0.8:1": "10.0.0.8"} {
			for _, header := range []string{"Bearer " + made.Secret, ""} {
				request := httptest.NewRequest("GET", "/", nil)
				request.RemoteAddr = remote
				request.Header.Set("X-Forwarded-For", "192.0.2.1, 198.51.100.1")
				if header != "" {
					request.Header.Set("Authorization", header)
				}
				if by, err := d.Authenticate(request); err != nil || by.Host != want {
					t.Errorf("%s, %.6q: %+v, %v", remote, header, by, err)
				}
			}
		}
	})
}

func TestWhatAnAccountLacksForItsRoleIsNamed(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, role := range []string{"serve-viewer", "serve-operator", "serve-admin", "serve-door"} {
			lacking, err := door.Lacking(t.Context(), r.As(role, time.Time{}), "p_", r.Setting, role)
			r.Must(err)
			if len(lacking) > 0 {
				t.Errorf("%s lacks %q", role, lacking)
			}
		}
		lacking, err := door.Lacking(t.Context(), r.As("serve-viewer", time.Time{}), "p_", r.Setting, "serve-operator")
		r.Must(err)
		for _, want := range []string{"DELETE on p_future_job", "INSERT on p_audit_log", "SELECT on p_future_job", "UPDATE on p_future_job"} {
			if !slices.Contains(lacking, want) {
				t.Errorf("%q: without %s", lacking, want)
			}
		}
		if slices.Contains(lacking, "SELECT on p_slot_run") {
			t.Errorf("%q", lacking)
		}
	})
}
