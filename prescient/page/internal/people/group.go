package people

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
)

//go:embed templates/*.html
var templates embed.FS

// The values of addresses and forms.
const (
	nameName, roleName = "name", "role"
)

// Group has the view and the deeds.
func Group() front.Group {
	deed := func(path, title, button, template string, ask asks, do does, said string) front.Deed {
		return front.Deed{Path: path, Title: title, Button: button, Role: ops.Admin, Of: []string{nameName}, Template: template, Ask: ask, Do: do, Said: func(int) string { return said }}
	}
	add := front.Deed{Path: "/users/add", Title: "Let somebody sign in", Button: "Add the user", Role: ops.Admin, Template: "user-add", Ask: askAdd, Do: add, Told: "user-told",
		Said: func(int) string { return "The user was added." }}
	password := deed("/users/password", "Give a user a new password", "Give a new password", "user-password", askOne, newPassword, "The user has another password.")
	password.Told = "user-told"
	end := deed("/users/end", "End the sessions of somebody", "End the sessions", "user-end", askName, endSessions, "")
	end.Said = func(n int) string {
		return look.Counted(int64(n), "session is", "sessions are") + " over within 10 seconds."
	}
	return front.Group{
		Templates: templates,
		Views:     []front.View{{Path: "/users", Title: "Users", Nav: "Users", Role: ops.Admin, Template: "users", Show: showUsers}},
		Deeds: []front.Deed{add, password, end,
			deed("/users/role", "Give a user another role", "Give the role", "user-role", askOne, setRole, "The user has that role."),
			deed("/users/disable", "Let a user sign in no more", "Disable the user", "user-disable", askOne, disable, "The user signs in no more."),
			deed("/users/enable", "Let a user sign in again", "Enable the user", "user-enable", askOne, enable, "The user signs in again."),
		},
	}
}
