package people

import (
	"context"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// usersSeen is what the template gets.
type usersSeen struct {
	ops.Clock
	Users                  []ops.User
	Sessions               []ops.WebSession
	NextUsers, NextSession []string // the queries of the next pages
}

// shown is how many users a page has, and how many sessions.
const shown = 100

func showUsers(ctx context.Context, a front.Asked) (front.Shown, error) {
	const after, afterSession = "after", "after_session"
	var is usersSeen
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	users, err := ops.ListUsers.Do(ctx, a.Ops, a.By, ops.Paging{After: a.Text(after), Limit: shown})
	if err != nil {
		return front.Shown{}, err
	}
	sessions, err := ops.ListSessions.Do(ctx, a.Ops, a.By, ops.Paging{After: a.Text(afterSession), Limit: shown})
	if err != nil {
		return front.Shown{}, err
	}
	is.Users, is.Sessions = users.Rows, sessions.Rows
	if users.Next != "" {
		is.NextUsers = a.With(after, users.Next)
	}
	if sessions.Next != "" {
		is.NextSession = a.With(afterSession, sessions.Next)
	}
	return front.Shown{Data: is}, nil
}
