package ops

import (
	"fmt"
	"slices"

	"prescient/prescient"
)

// Role is what a caller may do. Each may do what those before it may.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"
	Operator Role = "operator"
	Admin    Role = "admin"
)

// Roles are all of them, the least first.
var Roles = []Role{Viewer, Operator, Admin}

// ParseRole reads the name of a role. The error wraps prescient.ErrInvalid.
func ParseRole(name string) (Role, error) {
	if !slices.Contains(Roles, Role(name)) {
		return "", fmt.Errorf("%w: role %.40q: viewer, operator and admin are allowed", prescient.ErrInvalid, name)
	}
	return Role(name), nil
}

// May says whether the role may do what another is needed for. A role that is none may do nothing.
func (r Role) May(needed Role) bool {
	is := slices.Index(Roles, r)
	return is >= 0 && is >= slices.Index(Roles, needed)
}
