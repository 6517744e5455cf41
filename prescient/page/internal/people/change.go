package people

import (
	"context"
	"crypto/rand"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

type (
	asks func(ctx context.Context, a front.Asked) (front.Shown, error)
	does func(ctx context.Context, d front.Doing) (front.Done, error)
)

// userSeen is what the templates of the deeds get.
type userSeen struct {
	ops.User
	Wanted ops.Role   // that which is chosen
	Roles  []ops.Role // which there are
}

func askAdd(_ context.Context, a front.Asked) (front.Shown, error) {
	is := userSeen{Wanted: ops.Role(a.Text(roleName)), Roles: ops.Roles}
	is.Name = a.Text(nameName)
	return front.Shown{Data: is}, nil
}

func askOne(ctx context.Context, a front.Asked) (front.Shown, error) {
	u, err := ops.GetUser.Do(ctx, a.Ops, a.By, ops.UserAsked{Name: a.Text(nameName)})
	is := userSeen{User: u, Wanted: ops.Role(a.Text(roleName)), Roles: ops.Roles}
	if is.Wanted == "" {
		is.Wanted = u.Role
	}
	return front.Shown{Data: is}, err
}

// askName asks about somebody who may be of a provider, of whom there is nothing but sessions.
func askName(_ context.Context, a front.Asked) (front.Shown, error) {
	name := a.Text(nameName)
	return front.Shown{Data: userSeen{User: ops.User{Name: name}}}, prescient.ValidLabel(nameName, name, 128)
}

// told is a password that is told once.
type told struct{ Name, Password string }

// passwordOf makes a password, and has it kept. There is no idempotency key: the answer is kept nowhere.
func passwordOf(d front.Doing, keep func(by ops.Caller, is told) error) (front.Done, error) {
	is, by := told{d.Text(nameName), rand.Text()}, d.By
	by.Key = ""
	if err := keep(by, is); err != nil {
		return front.Done{}, err
	}
	return front.Done{Once: is, Count: 1}, nil
}

func add(ctx context.Context, d front.Doing) (front.Done, error) {
	return passwordOf(d, func(by ops.Caller, is told) error {
		_, err := ops.AddUser.Do(ctx, d.Ops, by, ops.NewUser{Name: is.Name, Role: ops.Role(d.Text(roleName)), Password: is.Password})
		return err
	})
}

func newPassword(ctx context.Context, d front.Doing) (front.Done, error) {
	return passwordOf(d, func(by ops.Caller, is told) error {
		_, err := ops.SetUserPassword.Do(ctx, d.Ops, by, ops.NewPassword{OfUser: of(d), Password: is.Password})
		return err
	})
}

func of(d front.Doing) ops.OfUser { return ops.OfUser{Name: d.Text(nameName)} }

// then is what is shown once something was done.
func then(count int, err error) (front.Done, error) {
	return front.Done{Path: "/users", Count: count}, err
}

func setRole(ctx context.Context, d front.Doing) (front.Done, error) {
	_, err := ops.SetUserRole.Do(ctx, d.Ops, d.By, ops.NewRole{OfUser: of(d), Role: ops.Role(d.Text(roleName))})
	return then(1, err)
}

func disable(ctx context.Context, d front.Doing) (front.Done, error) {
	_, err := ops.DisableUser.Do(ctx, d.Ops, d.By, of(d))
	return then(1, err)
}

func enable(ctx context.Context, d front.Doing) (front.Done, error) {
	_, err := ops.EnableUser.Do(ctx, d.Ops, d.By, of(d))
	return then(1, err)
}

func endSessions(ctx context.Context, d front.Doing) (front.Done, error) {
	n, err := ops.EndSessions.Do(ctx, d.Ops, d.By, of(d))
	return then(n.Count, err)
}
