package browser_test

import (
	"testing"

	"prescient/prescient/internal/rig/openid"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/page/login"
)

// Who comes without a session goes to the provider by a button, and comes back to what was asked for: the browser sends what it was given, by all the rules
// of cookies and policies.
func TestSomebodySignsInByAProvider(t *testing.T) {
	c := start(t)
	t.Parallel()
	p := openid.NewProvider(t)
	s := serveBy(t, servertest.Kinds(t)[0].New(t), now, login.OIDC{Issuer: p.URL, ClientID: openid.ClientID, Secret: openid.Secret, Roles: map[string]ops.Role{"sre": ops.Operator}})
	b := c.tab(s.base)
	b.visit("/pending?job_exec=ship")
	b.until("document.querySelector('#password')")
	b.press("Sign in by single sign-on")
	b.wants("olga@example.org", "operator", "None was found.")
	b.until("location.pathname === '/ops/pending' && location.search === '?job_exec=ship'")
	if n := s.Count("SELECT COUNT(*) FROM p_web_session"); n != 1 {
		t.Errorf("%d sessions", n)
	}
	b.press("Log out")
	b.until("document.querySelector('#password')")
	if n := s.Count("SELECT COUNT(*) FROM p_web_session"); n != 0 {
		t.Errorf("%d sessions of somebody who has signed out", n)
	}
	b.quiet("single sign-on")
}
