package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
	"prescient/prescient/page"
)

// Serve makes the page, for people who sign in: what the command serve has beside the API. Errors are those of New and of page.New.
func Serve(ctx context.Context, s door.Serving) (http.Handler, error) {
	p := s.Page
	l, err := New(ctx, p.DB, Options{Prefix: p.Prefix, Dialect: p.Dialect, BaseURL: p.BaseURL, Place: p.Place, Colour: p.Colour, Proxies: s.Proxies, Idle: p.Idle, Lifetime: p.Lifetime, OIDC: p.OIDC, Log: s.Log})
	if err != nil {
		return nil, err
	}
	pages, err := page.New(s.Ops, page.Options{BaseURL: p.BaseURL, Place: p.Place, Colour: p.Colour, Proxies: s.Proxies, Login: Path, Account: pathPassword, Logout: pathLogout, Users: true, Rate: s.Rate, Counts: s.Counts, Log: s.Log,
		Who: func(r *http.Request) (page.User, error) {
			name, role, err := l.Who(r)
			if errors.Is(err, ops.ErrUnauthorized) && p.Open != "" {
				return page.User{Name: "not signed in", Role: p.Open, Anyone: true}, nil
			}
			if errors.Is(err, ops.ErrUnauthorized) {
				err = fmt.Errorf("%w: %w", page.ErrNobody, err)
			}
			return page.User{Name: name, Role: role}, err
		}})
	if err != nil {
		return nil, err
	}
	return l.Handler(pages), nil
}
